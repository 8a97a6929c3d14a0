// What every log refuses, and the words for it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "store/chain.h"

namespace drover::store {

[[nodiscard]] inline Status check_read(std::uint64_t from, std::uint64_t first) {
  if (from >= first) return Done{};
  return Error{Errc::not_found, "records before " + std::to_string(first) + " are cut away, " + std::to_string(from) +
                                    " was asked for"};
}

// `covered`: the position of the older of two snapshots, 0 when there aren't two.
[[nodiscard]] inline Status check_trim(std::uint64_t below, std::uint64_t covered) {
  if (below <= covered + 1) return Done{};
  return Error{Errc::conflict, "cannot cut below " + std::to_string(below) + ": the older snapshot covers only " +
                                   std::to_string(covered)};
}

[[nodiscard]] inline Error behind(const std::string& name, std::uint64_t own, std::uint64_t seen) {
  return {Errc::conflict, name + " ends at position " + std::to_string(own) + ", but position " + std::to_string(seen) +
                              " was seen: its tail is missing or damaged, or an older copy was restored"};
}
[[nodiscard]] inline Error other_story(const std::string& name, std::uint64_t position) {
  return {Errc::conflict, name + " holds another record at position " + std::to_string(position) +
                              " than the one that was seen: it is a copy that went its own way"};
}
[[nodiscard]] inline Error no_such_record(std::uint64_t position) {
  return {Errc::not_found, "the log holds no record " + std::to_string(position)};
}
[[nodiscard]] inline Error no_such_payload(const Hash& hash) {
  return {Errc::not_found, "the log holds no payload " + hex(hash)};
}
[[nodiscard]] inline Error no_newer_snapshot(std::uint64_t position) {
  return {Errc::conflict, "a snapshot at or after position " + std::to_string(position) + " is there already"};
}

}  // namespace drover::store
