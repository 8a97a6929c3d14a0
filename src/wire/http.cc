#include "wire/http.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace drover::wire {

std::string_view find_header(const Headers& headers, std::string_view name) {
  const auto it = std::ranges::find_if(headers, [&](const Header& h) { return iequals(h.name, name); });
  return it == headers.end() ? std::string_view{} : std::string_view(it->value);
}

std::string_view reason_phrase(int status) {
  static constexpr std::array<std::pair<int, std::string_view>, 28> kPhrases{{
      {100, "Continue"}, {101, "Switching Protocols"}, {200, "OK"}, {201, "Created"}, {202, "Accepted"},
      {204, "No Content"}, {304, "Not Modified"}, {400, "Bad Request"}, {401, "Unauthorized"},
      {403, "Forbidden"}, {404, "Not Found"}, {405, "Method Not Allowed"}, {406, "Not Acceptable"},
      {408, "Request Timeout"}, {409, "Conflict"}, {410, "Gone"}, {413, "Payload Too Large"},
      {415, "Unsupported Media Type"}, {422, "Unprocessable Entity"}, {426, "Upgrade Required"},
      {429, "Too Many Requests"}, {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
      {501, "Not Implemented"}, {503, "Service Unavailable"}, {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"}, {507, "Insufficient Storage"},
  }};
  const auto* const it = std::ranges::find(kPhrases, status, &std::pair<int, std::string_view>::first);
  return it == kPhrases.end() ? "Status" : it->second;
}

bool is_clean_header(const Header& header) {
  const auto clean = [](std::string_view text) {
    return std::ranges::none_of(text, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    });
  };
  return !header.name.empty() && header.name.find_first_of(": \t") == std::string::npos && clean(header.name) &&
         clean(header.value);
}

}  // namespace drover::wire
