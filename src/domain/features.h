// The feature expression of a request, asked of each node: "a100&nvlink", "intel|amd", "(a|b)&c".
// "[rack1|rack2]": every node of the job has the same one of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover {

class Features {
 public:
  // "" holds for every node. Errors name the column, counted from 1. Counts ("a*2") are refused.
  [[nodiscard]] static Result<Features> parse(std::string_view text);

  // How many ways there are to choose from the brackets; 1 without any. All nodes of a job are
  // chosen for one and the same way.
  [[nodiscard]] std::size_t ways() const { return ways_; }
  [[nodiscard]] bool holds(const std::vector<std::string>& features, std::size_t way) const;

 private:
  friend class FeatureParser;
  enum class Kind : std::uint8_t { both, either, choice, word };
  struct Term {
    Kind kind = Kind::word;
    std::vector<std::size_t> parts;  // places in terms_
    std::size_t stride = 1;          // of a choice: part = way / stride % parts
    std::string word;
  };
  [[nodiscard]] bool holds(std::size_t place, const std::vector<std::string>& features, std::size_t way) const;

  std::vector<Term> terms_;  // the last one is the root
  std::size_t ways_ = 1;
};

}  // namespace drover
