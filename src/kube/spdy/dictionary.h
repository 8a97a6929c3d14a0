// What both ends of SPDY/3 know before the first header block: the words that headers are made of.
// Given by the protocol, byte for byte (draft 3 of "SPDY Protocol", 2.6.10.1).
#pragma once

#include <string>

namespace drover::kube {

[[nodiscard]] const std::string& spdy_dictionary();

}  // namespace drover::kube
