// Reads: one object, lists in pages, watches.
#pragma once

#include "kube/rest/ask.h"
#include "kube/rest/watch.h"

namespace drover::kube {

class Reader {
 public:
  Reader(const Context& context, Watches& watches) : context_(context), watches_(watches) {}
  void get(const Ask& ask, const wire::Responder& responder) const;
  void list(const Ask& ask, const wire::Responder& responder) const;
  void watch(const Ask& ask, const wire::Responder& responder) const;

 private:
  const Context& context_;
  Watches& watches_;
};

}  // namespace drover::kube
