// Objects in the form that was asked for: as they are, as rows of a table, or their metadata alone.
#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "kube/rest/accept.h"
#include "kube/rest/resource.h"
#include "kube/store/entry.h"

namespace drover::kube {

// Which part of an object stands in a table's rows (?includeObject=).
enum class Include : std::uint8_t { metadata, none, object };
[[nodiscard]] Include include_of(std::string_view text);

[[nodiscard]] std::string render(const Resource& resource, const Entry& entry, Form form, Include include,
                                 Instant now);

struct ListParts {
  std::uint64_t version = 0;
  std::string next;           // the continue token; "" when there is no more
  std::size_t remaining = 0;  // how many more; 0: unknown or none
};
[[nodiscard]] std::string render_list(const Resource& resource, const std::vector<EntryPtr>& entries,
                                      const ListParts& parts, Form form, Include include, Instant now);

// The object of a watch's bookmark.
[[nodiscard]] std::string render_bookmark(const Resource& resource, std::uint64_t version, Form form,
                                          bool end_of_start);

}  // namespace drover::kube
