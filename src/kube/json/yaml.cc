#include "kube/json/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "kube/protobuf/utf8.h"

namespace drover::kube {
namespace {

constexpr std::size_t kMostDuplicates = 64;

std::string at_line(const YAML::Mark& mark, std::string_view what) {
  return "line " + std::to_string(std::max(0, mark.line) + 1) + ": " + std::string(what);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

// With the base that its beginning says; nothing when it isn't all digits.
std::optional<Value> whole_number(std::string_view text) {
  const bool minus = text.starts_with('-');
  std::string_view digits = text.substr(minus || text.starts_with('+') ? 1 : 0);
  int base = 10;
  struct Prefix {
    std::string_view text;
    int base;
  };
  constexpr std::array kPrefixes{Prefix{"0x", 16}, Prefix{"0b", 2}, Prefix{"0o", 8},
                                 Prefix{"0", 8}};
  for (const auto& [prefix, of] : kPrefixes) {
    if (digits.size() <= prefix.size() || !digits.starts_with(prefix)) continue;
    digits.remove_prefix(prefix.size());
    base = of;
    break;
  }
  std::uint64_t amount = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), amount, base);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63U;
  if (!minus) return amount < kMost ? Value(static_cast<std::int64_t>(amount)) : Value(amount);
  if (amount > kMost) return std::nullopt;
  return Value(static_cast<std::int64_t>(~amount + 1));
}

std::optional<Value> fraction(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
  if (digits.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return std::nullopt;
  double amount = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() ||
      !std::isfinite(amount))
    return std::nullopt;
  return Value(amount);
}

// A word without quotes.
Value plain(const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return nullptr;
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}))
    return false;
  if (auto number = whole_number(text)) return *std::move(number);
  if (auto number = fraction(text)) return *std::move(number);
  return Value(text);
}

// Thrown through the parser, which knows no other way to stop.
struct Stop : std::runtime_error {
  Stop(Errc why, const std::string& what) : std::runtime_error(what), code(why) {}
  Errc code;
};

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::size_t depth) : most_(depth) {}
  Parsed take() { return std::move(parsed_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    put(mark, anchor, nullptr);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { no_anchors(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (!is_utf8(text)) throw Stop(Errc::invalid, at_line(mark, "invalid UTF-8"));
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().key) {
      if (anchor != 0) no_anchors(mark);
      open_.back().key = text;
      return;
    }
    put(mark, anchor, tag == "?" ? plain(text) : Value(text));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, Array{});
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, Object{});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    std::optional<std::string> key;  // of an object: its next value is for
  };

  [[noreturn]] static void no_anchors(const YAML::Mark& mark) {
    throw Stop(Errc::invalid, at_line(mark, "anchors and aliases are not served"));
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    if (anchor != 0) no_anchors(mark);
    if (!open_.empty() && open_.back().value.is_object() && !open_.back().key)
      throw Stop(Errc::invalid, at_line(mark, "a key is no text"));
    if (open_.size() >= most_) throw Stop(Errc::exhausted, at_line(mark, "exceeded max depth"));
    open_.push_back({.value = std::move(value), .key = std::nullopt});
  }
  void close() {
    Value done = std::move(open_.back().value);
    open_.pop_back();
    put(YAML::Mark::null_mark(), 0, std::move(done));
  }
  void put(const YAML::Mark& mark, YAML::anchor_t anchor, Value value) {
    if (anchor != 0) no_anchors(mark);
    if (open_.empty()) {
      parsed_.value = std::move(value);
      return;
    }
    Open& around = open_.back();
    if (around.value.is_array()) {
      around.value.get_array().push_back(std::move(value));
      return;
    }
    if (!around.key) throw Stop(Errc::invalid, at_line(mark, "a key is no text"));
    Object& object = around.value.get_object();
    if (object.contains(*around.key) && parsed_.duplicates.size() < kMostDuplicates)
      parsed_.duplicates.push_back(path_to(*around.key));
    object[*around.key] = std::move(value);
    around.key.reset();
  }
  // "spec.containers[0].image"
  [[nodiscard]] std::string path_to(const std::string& key) const {
    std::string path;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Open& one = open_[i];
      if (one.value.is_array())
        path += "[" + std::to_string(one.value.get_array().size()) + "]";
      else
        path += (path.empty() ? "" : ".") + *one.key;
    }
    return path + (path.empty() ? "" : ".") + key;
  }

  const std::size_t most_;
  std::vector<Open> open_;
  Parsed parsed_;
};

}  // namespace

Result<Parsed> parse_yaml(const std::string& text, ParseLimits limits) {
  if (text.size() > limits.bytes)
    return Error{Errc::exhausted, "limit is " + std::to_string(limits.bytes)};
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Builder builder(limits.depth);
    if (!parser.HandleNextDocument(builder)) return Error{Errc::invalid, "it is empty"};
    Builder second(limits.depth);
    if (parser.HandleNextDocument(second))
      return Error{Errc::invalid, "only one document may stand in it"};
    return builder.take();
  } catch (const Stop& stop) {
    return Error{stop.code, stop.what()};
  } catch (const YAML::Exception& broken) {
    return Error{Errc::invalid, at_line(broken.mark, printable(broken.msg))};
  }
}

}  // namespace drover::kube
