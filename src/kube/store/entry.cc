#include "kube/store/entry.h"

#include "kube/json/print.h"

namespace drover::kube {

EntryPtr make_entry(ObjectName name, std::uint64_t version, std::uint64_t made, Value value, std::uint64_t stored) {
  auto entry = std::make_shared<Entry>();
  entry->name = std::move(name);
  entry->version = version;
  entry->made = made;
  entry->stored = stored;
  make_object(value.as_object(), "metadata")["resourceVersion"] = std::to_string(version);
  entry->value = std::move(value);
  print(entry->text, entry->value);
  return entry;
}

EntryPtr at_version(const Entry& entry, std::uint64_t version) {
  return make_entry(entry.name, version, entry.made, entry.value, entry.stored);
}

}  // namespace drover::kube
