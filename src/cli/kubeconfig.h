// drover kubeconfig: a certificate of one's own for the Kubernetes door, in the file that kubectl reads.
#pragma once

#include <string>

#include "native/membership.h"

namespace drover::cli {

struct KubeconfigOptions {
  std::string state;
  std::string space;  // "": one's own, or `default` for administrators
};
int kubeconfig(const KubeconfigOptions& options);

[[nodiscard]] std::string kubeconfig_text(const native::UserAnswer& credentials, const std::string& space);

}  // namespace drover::cli
