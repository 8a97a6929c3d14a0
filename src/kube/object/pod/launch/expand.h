// $(NAME) in commands, arguments and values of variables.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace drover::kube {

// Variables in the order in which they were first set.
class Variables {
 public:
  void set(std::string_view name, std::string value);
  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> lines() const;  // NAME=value

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

// $(NAME) becomes its value, or stays where there is no such variable; $$ is one $; any other $ is
// itself.
[[nodiscard]] std::string expand(std::string_view text, const Variables& variables);

}  // namespace drover::kube
