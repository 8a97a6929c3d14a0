// Writes: create, replace, patch, delete. A write is planned on the object as it is, handed to the cluster
// with the version that it is to replace, and answered once it is durable. When somebody else was quicker,
// a patch (and a replacement that names no version) is planned again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/rest/ask.h"
#include "kube/rest/failure.h"

namespace drover::kube {

// What a request comes to, on the object as it is.
struct Plan {
  std::vector<api::Execute> wishes;  // one after the other; none: nothing changes
  Value object;                      // as it will be, for a dry run and where nothing changes
  int status = 200;
  std::vector<std::string> warnings;
  std::optional<Value> answer;  // in place of the object (the Status of a deletion)
};

class Writer : public std::enable_shared_from_this<Writer> {
 public:
  Writer(const Context& context, Ask ask, wire::Responder responder)
      : context_(context), ask_(std::move(ask)), responder_(std::move(responder)) {}
  // Keeps itself alive until it has answered.
  void run();
  // What the request comes to, without doing it: for objects that aren't kept in the log.
  [[nodiscard]] Outcome<Plan> plan();

 private:
  [[nodiscard]] Outcome<Plan> plan_create();
  [[nodiscard]] Outcome<Plan> plan_update(const EntryPtr& current);
  [[nodiscard]] Outcome<Plan> plan_patch(const EntryPtr& current);
  [[nodiscard]] Outcome<Plan> plan_delete(const EntryPtr& current);
  [[nodiscard]] Outcome<Plan> plan_change(const EntryPtr& current, Value changed, std::vector<std::string> warnings);
  void execute(std::size_t next);
  void finish();

  static constexpr int kTries = 5;

  const Context& context_;
  Ask ask_;
  wire::Responder responder_;
  Plan plan_;
  int tries_ = 0;
};

}  // namespace drover::kube
