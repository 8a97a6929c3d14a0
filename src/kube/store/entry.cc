#include "kube/store/entry.h"

#include "base/check.h"
#include "kube/json/parse.h"
#include "kube/json/print.h"

namespace drover::kube {

EntryPtr make_entry(ObjectName name, std::uint64_t version, std::uint64_t made, Value value, std::uint64_t stored) {
  auto entry = std::make_shared<Entry>();
  entry->name = std::move(name);
  entry->version = version;
  entry->made = made;
  entry->stored = stored;
  make_object(value.as_object(), "metadata")["resourceVersion"] = std::to_string(version);
  std::string text;
  print(text, value);
  entry->text = text;  // a copy has no room to spare: it stays for long
  return entry;
}

Value Entry::value() const {
  auto read = parse(text);
  CHECK(read.has_value());  // it was printed here
  return *std::move(read);
}

EntryPtr at_version(const Entry& entry, std::uint64_t version) {
  return make_entry(entry.name, version, entry.made, entry.value(), entry.stored);
}

}  // namespace drover::kube
