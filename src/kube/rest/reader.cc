#include "kube/rest/reader.h"

#include <algorithm>

#include "base/text.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/schema/base64.h"

namespace drover::kube {
namespace {

// Where a list goes on: the version that the first page was of, and the last object of the page before.
struct Page {
  std::uint64_t version = 0;
  std::optional<ObjectName> after;
};

std::string token_of(const Page& page) {
  return to_base64(
      print(Object{{"v", std::to_string(page.version)}, {"ns", page.after->space}, {"n", page.after->name}}));
}

Outcome<Page> page_of(std::string_view token) {
  if (token.empty()) return Page{};
  const auto broken = [] { return bad_request("invalid continue token: it isn't one of ours"); };
  const auto text_of = from_base64(token);
  if (!text_of) return broken();
  const auto value = parse(*text_of, {.bytes = 4096, .depth = 4});
  if (!value || !value->is_object()) return broken();
  const auto version = parse_uint(text(member(*value, "v")));
  const Value* name = member(*value, "n");
  if (!version || name == nullptr) return broken();
  return Page{.version = *version,
              .after = ObjectName{.space = std::string(text(member(*value, "ns"))), .name = std::string(text(name))}};
}

// The version that the reader wants to be at least as new as; 0 and none are any.
Outcome<std::uint64_t> version_of(const Ask& ask) {
  const std::string_view said = query(ask.target, "resourceVersion");
  if (said.empty()) return std::uint64_t{0};
  const auto version = parse_uint(said);
  if (!version) return bad_request("invalid resource version \"" + printable(said) + "\"");
  return *version;
}

}  // namespace

void Reader::get(const Ask& ask, const wire::Responder& responder) const {
  const EntryPtr entry = context_.store.get(store_table(ask.resource()), ask.object());
  if (!entry) return answer_failure(responder, not_found(ask.resource(), ask.route.name));
  answer_object(context_, ask, responder, *entry, 200, {});
}

void Reader::list(const Ask& ask, const wire::Responder& responder) const {
  auto filter = filter_of(ask.route, ask.target);
  if (!filter) return answer_failure(responder, filter.error());
  const auto version = version_of(ask);
  if (!version) return answer_failure(responder, version.error());
  const std::string table = store_table(ask.resource());
  const std::uint64_t current = context_.store.version(table);
  if (*version > current) return answer_failure(responder, version_too_large(*version, current));
  auto page = page_of(query(ask.target, "continue"));
  if (!page) return answer_failure(responder, page.error());
  const auto limit =
      static_cast<std::size_t>(std::max<std::int64_t>(0, query_number(ask.target, "limit").value_or(0)));
  const auto listing = context_.store.list(table, filter->space, page->after, limit,
                                           [&](const Entry& entry) { return filter->wants(entry); });
  ListParts parts{.version = page->after ? page->version : listing.version};
  if (listing.more) {
    parts.next = token_of({.version = parts.version, .after = listing.entries.back()->name});
  }
  const Include include = include_of(query(ask.target, "includeObject"));
  wire::Answer answer{.content_type = "application/json"};
  answer.body =
      wire::bytes(render_list(ask.resource(), listing.entries, parts, ask.form, include, context_.now()) + "\n");
  responder.answer(std::move(answer));
}

void Reader::watch(const Ask& ask, const wire::Responder& responder) const {
  auto filter = filter_of(ask.route, ask.target);
  if (!filter) return answer_failure(responder, filter.error());
  // A watch on one object by its address is one on the collection, narrowed.
  WatchAsk watch{.resource = &ask.resource(),
                 .filter = std::move(*filter),
                 .form = ask.form,
                 .include = include_of(query(ask.target, "includeObject"))};
  if (!ask.route.name.empty()) {
    auto one = FieldSelector::parse("metadata.name=" + ask.route.name);
    if (!one) return answer_failure(responder, bad_request(one.error().message));
    watch.filter.fields = std::move(*one);
  }
  auto version = version_of(ask);
  if (!version) return answer_failure(responder, version.error());
  const bool initial = query_flag(ask.target, "sendInitialEvents");
  if (*version != 0 && !initial) watch.version = *version;
  const std::uint64_t current = context_.store.version(store_table(ask.resource()));
  if (*version > current) return answer_failure(responder, version_too_large(*version, current));
  watch.bookmarks = query_flag(ask.target, "allowWatchBookmarks");
  watch.end_of_start = initial && watch.bookmarks;
  watch.timeout =
      seconds(std::clamp<std::int64_t>(query_number(ask.target, "timeoutSeconds").value_or(0), 0, 86'400));
  watches_.begin(std::move(watch), responder);
}

}  // namespace drover::kube
