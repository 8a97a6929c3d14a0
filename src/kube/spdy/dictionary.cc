#include "kube/spdy/dictionary.h"

#include <string_view>

#include "base/text.h"

namespace drover::kube {
namespace {

// Each of these stands there as a header block has it: its length, then itself.
constexpr std::string_view kWords =
    "options head post put delete trace accept accept-charset accept-encoding accept-language "
    "accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language "
    "content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host "
    "if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location "
    "max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer "
    "transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url "
    "public set-cookie "
    "keep-alive origin";

// And these just follow one another.
constexpr std::string_view kTexts =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 "
    "Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, "
    "GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/"
    "plain,"
    "text/"
    "javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq="
    "0.";

std::string made() {
  std::string dictionary;
  for (const std::string_view word : split(kWords, ' ')) {
    dictionary.append({'\0', '\0', '\0', static_cast<char>(word.size())});
    dictionary.append(word == "200_OK" ? "200 OK" : word);
  }
  return dictionary.append(kTexts);
}

}  // namespace

const std::string& spdy_dictionary() {
  static const std::string dictionary = made();
  return dictionary;
}

}  // namespace drover::kube
