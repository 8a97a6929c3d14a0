#include "kube/rest/metadata_fill.h"

#include <algorithm>

#include "kube/object/times.h"
#include "os/random.h"

namespace drover::kube {
namespace {

// Without vowels and look-alikes, so that no words come about.
constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr std::size_t kGenerated = 5;
constexpr std::size_t kMostPrefix = 63 - kGenerated;

Object& metadata_of(Value& object) { return make_object(object.as_object(), "metadata"); }

}  // namespace

std::string generated_name(std::string_view prefix) {
  std::string name(prefix.substr(0, kMostPrefix));
  for (const char byte : random_bytes(kGenerated)) {
    name += kLetters[static_cast<std::uint8_t>(byte) % kLetters.size()];
  }
  return name;
}

std::string new_uid() {
  std::string bytes = random_bytes(16);
  bytes[6] = static_cast<char>((static_cast<std::uint8_t>(bytes[6]) & 0x0F) | 0x40);  // RFC 4122, version 4
  bytes[8] = static_cast<char>((static_cast<std::uint8_t>(bytes[8]) & 0x3F) | 0x80);
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kHex[static_cast<std::uint8_t>(bytes[i]) >> 4U];
    text += kHex[static_cast<std::uint8_t>(bytes[i]) & 0x0FU];
  }
  return text;
}

void fill_new(Value& object, const Ask& ask, Instant now) {
  Object& metadata = metadata_of(object);
  for (const char* mine : {"resourceVersion", "uid", "creationTimestamp", "deletionTimestamp", "selfLink",
                           "deletionGracePeriodSeconds", "managedFields", "generation"}) {
    metadata.erase(mine);
  }
  const Value* name = metadata.if_contains("name");
  const std::string prefix(text(metadata.if_contains("generateName")));
  if (text(name).empty() && !prefix.empty()) metadata["name"] = generated_name(prefix);
  if (ask.route.space) metadata["namespace"] = *ask.route.space;
  metadata["uid"] = new_uid();
  metadata["creationTimestamp"] = time_text(now);
}

void fill_change(Value& object, const Value& was) {
  Object& metadata = metadata_of(object);
  for (const char* kept : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                           "deletionGracePeriodSeconds", "generateName", "generation"}) {
    const Value* old = at(was, std::string("metadata.") + kept);
    if (old != nullptr)
      metadata[kept] = *old;
    else
      metadata.erase(kept);
  }
  metadata.erase("managedFields");
  metadata.erase("selfLink");
}

void mark_deleted(Value& object, Instant now, std::int64_t grace_seconds) {
  Object& metadata = metadata_of(object);
  metadata["deletionTimestamp"] = time_text(now + seconds(grace_seconds));
  metadata["deletionGracePeriodSeconds"] = grace_seconds;
}

bool same_but_for_version(const Value& a, const Value& b) {
  const auto plain = [](const Value& value) {
    Value copy = value;
    metadata_of(copy).erase("resourceVersion");
    return copy;
  };
  return same(plain(a), plain(b));
}

}  // namespace drover::kube
