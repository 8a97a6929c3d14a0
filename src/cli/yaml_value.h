// One value of a YAML file that knows where it stands: every error is one line, "FILE:LINE: what
// is wrong and how to mend it". Strict: unknown and repeated keys are errors.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace drover::cli {

class YamlValue;

// The keys of a mapping, each known and each once.
class YamlFields {
 public:
  // nullptr when the key is absent.
  [[nodiscard]] const YamlValue* find(std::string_view key) const;

 private:
  friend class YamlValue;
  std::map<std::string, YamlValue, std::less<>> values_;
};

class YamlValue {
 public:
  // The one document of `text`; `file` is only used in messages.
  static Result<YamlValue> parse(const std::string& text, const std::string& file);

  [[nodiscard]] bool is_text() const { return node_.IsScalar(); }
  [[nodiscard]] bool is_list() const { return node_.IsSequence(); }
  [[nodiscard]] bool is_mapping() const { return node_.IsMap(); }

  Result<std::string> text() const;       // not empty
  Result<std::uint32_t> number() const;   // 0 to 4294967295
  Result<bool> flag() const;
  Result<std::vector<YamlValue>> items() const;   // a list
  Result<std::vector<std::string>> texts() const; // a list of texts, or one text
  Result<YamlFields> fields(std::span<const std::string_view> known) const;
  // A mapping with keys of the writer's choice.
  Result<std::map<std::string, std::string>> pairs() const;

  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] Error error(std::string_view what) const;

 private:
  YamlValue(YAML::Node node, std::shared_ptr<const std::string> file, int line);
  [[nodiscard]] YamlValue child(const YAML::Node& node, int line) const;
  [[nodiscard]] Error wanted(std::string_view what) const;
  Result<std::map<std::string, YamlValue, std::less<>>> entries() const;

  YAML::Node node_;
  std::shared_ptr<const std::string> file_;
  int line_ = 0;
};

}  // namespace drover::cli
