#include "kube/rest/render.h"

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/object/columns/columns.h"

namespace drover::kube {
namespace {

constexpr std::string_view kMetaGroup = "meta.k8s.io/v1";

std::string api_version(const Resource& resource) {
  return resource.group.empty() ? std::string(resource.version)
                                : std::string(resource.group) + "/" + std::string(resource.version);
}

// Of an object, in group meta.k8s.io: no member but its metadata.
Value metadata_of(const Entry& entry) {
  Object object{{"kind", "PartialObjectMetadata"}, {"apiVersion", kMetaGroup}};
  if (auto metadata = parse(entry.look().member("metadata").json())) object["metadata"] = *std::move(metadata);
  return object;
}

void add_row(std::string& out, const Resource& resource, const Entry& entry, Include include, Instant now) {
  out += R"({"cells":)";
  print(out, table_of(resource.kind).row(entry.value(), now));
  if (include == Include::object) out += R"(,"object":)" + entry.text;
  if (include == Include::metadata) {
    out += R"(,"object":)";
    print(out, metadata_of(entry));
  }
  out += '}';
}

void begin_table(std::string& out, const Resource& resource, const std::string& metadata, bool columns) {
  out += R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)" + metadata + R"(,"columnDefinitions":)";
  if (columns)
    print(out, column_definitions(table_of(resource.kind)));
  else
    out += "null";
  out += R"(,"rows":[)";
}

std::string list_metadata(const ListParts& parts) {
  std::string text = R"({"resourceVersion":")" + std::to_string(parts.version) + '"';
  if (!parts.next.empty()) {
    text += R"(,"continue":)";
    print_string(text, parts.next);
    if (parts.remaining > 0) text += R"(,"remainingItemCount":)" + std::to_string(parts.remaining);
  }
  return text + '}';
}

}  // namespace

Include include_of(std::string_view text) {
  if (text == "None") return Include::none;
  return text == "Object" ? Include::object : Include::metadata;
}

std::string render(const Resource& resource, const Entry& entry, Form form, Include include, Instant now) {
  if (form == Form::object) return entry.text;
  if (form == Form::metadata) return print(metadata_of(entry));
  std::string out;
  begin_table(out, resource, R"({"resourceVersion":")" + std::to_string(entry.version) + "\"}", true);
  add_row(out, resource, entry, include, now);
  return out + "]}";
}

std::string render_list(const Resource& resource, const std::vector<EntryPtr>& entries, const ListParts& parts,
                        Form form, Include include, Instant now) {
  std::string out;
  std::size_t size = 256;
  for (const EntryPtr& entry : entries) size += entry->text.size() + 1;
  out.reserve(size);
  const std::string metadata = list_metadata(parts);
  if (form == Form::table) {
    begin_table(out, resource, metadata, true);
  } else if (form == Form::metadata) {
    out += R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)" + metadata +
           R"(,"items":[)";
  } else {
    out += R"({"kind":")" + std::string(resource.kind) + R"(List","apiVersion":")" + api_version(resource) +
           R"(","metadata":)" + metadata + R"(,"items":[)";
  }
  bool first = true;
  for (const EntryPtr& entry : entries) {
    if (!first) out += ',';
    first = false;
    if (form == Form::table)
      add_row(out, resource, *entry, include, now);
    else if (form == Form::metadata)
      print(out, metadata_of(*entry));
    else
      out += entry->text;
  }
  return out + "]}";
}

std::string render_bookmark(const Resource& resource, std::uint64_t version, Form form, bool end_of_start) {
  const std::string notes = end_of_start ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  const std::string metadata =
      R"({"resourceVersion":")" + std::to_string(version) + R"(","creationTimestamp":null)" + notes + '}';
  if (form == Form::table) {
    std::string out;
    begin_table(out, resource, metadata, false);
    return out + "]}";
  }
  if (form == Form::metadata) {
    return R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)" + metadata + '}';
  }
  return R"({"kind":")" + std::string(resource.kind) + R"(","apiVersion":")" + api_version(resource) +
         R"(","metadata":)" + metadata + '}';
}

}  // namespace drover::kube
