// Service accounts at the door: who comes with a token, how one is made, and how a pod gets its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/rest/ask.h"
#include "kube/rest/failure.h"

namespace drover::kube {

// Whoever shows this token, which must be good for one of `audiences`; denied with the reason. Its account must be
// there as it was when the token was made, and so must the pod that it is bound to.
[[nodiscard]] Result<User> user_of_token(const Context& context, std::string_view token,
                                         const std::vector<std::string>& audiences);
// `Bearer TOKEN` of an Authorization header.
[[nodiscard]] Result<User> user_of_header(const Context& context, std::string_view header);

// POST serviceaccounts/NAME/token.
void serve_token_request(const Context& context, const Ask& ask, const wire::Responder& responder);
// The status of a TokenReview.
[[nodiscard]] Value token_status(const Context& context, const Value& spec);

// Writes the volume with the account's token into a new pod that is to have one (docs/kubernetes.md), and mounts it
// where Kubernetes has it.
void mount_account(const Context& context, const std::string& space, Value& pod);
// The token of a pod's own account, for a volume of it.
[[nodiscard]] Result<std::string> token_of_pod(const Context& context, const Value& pod, std::string_view audience,
                                               std::int64_t seconds_asked);

// {username, uid, groups, extra} as reviews have it.
[[nodiscard]] Object user_info(const User& user);

}  // namespace drover::kube
