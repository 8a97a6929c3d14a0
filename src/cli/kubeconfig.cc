#include "cli/kubeconfig.h"

#include <cstdio>

#include "cli/place.h"

namespace drover::cli {
namespace {

// RFC 4648, with padding.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      word = word << 8U | (i + j < bytes.size() ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : kLetters[word >> (18 - 6 * j) & 63U];
    }
  }
  return text;
}

Status print(const KubeconfigOptions& options) {
  const Place place = TRY(place_of_running(options.state));
  const auto credentials = TRY(native::user_credentials(place.state()));
  std::fputs(kubeconfig_text(credentials, options.space).c_str(), stdout);
  return Done{};
}

}  // namespace

std::string kubeconfig_text(const native::UserAnswer& c, const std::string& space) {
  const std::string cluster = "drover-" + c.cluster.substr(0, 8);
  const std::string context = c.user + "@" + cluster;
  const std::string chosen = !space.empty() ? space : c.admin ? "default" : c.user;
  return "apiVersion: v1\n"
         "kind: Config\n"
         "clusters:\n"
         "- name: " + cluster + "\n"
         "  cluster:\n"
         "    server: https://" + c.server + "\n"
         "    certificate-authority-data: " + base64(c.authority) + "\n"
         "users:\n"
         "- name: " + c.user + "\n"
         "  user:\n"
         "    client-certificate-data: " + base64(c.certificate) + "\n"
         "    client-key-data: " + base64(c.key) + "\n"
         "contexts:\n"
         "- name: " + context + "\n"
         "  context:\n"
         "    cluster: " + cluster + "\n"
         "    user: " + c.user + "\n"
         "    namespace: " + chosen + "\n"
         "current-context: " + context + "\n";
}

int kubeconfig(const KubeconfigOptions& options) {
  const Status printed = print(options);
  if (printed) return 0;
  std::fprintf(stderr, "drover: %s\n", printed.error().message.c_str());
  return 1;
}

}  // namespace drover::cli
