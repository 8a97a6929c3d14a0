#include "slurm/script/hostlist.h"

#include <algorithm>
#include <optional>

#include "base/name_order.h"
#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr std::size_t kMostDigits = 18;  // a number of a host name fits an int64

std::string padded(std::uint64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

class Expansion {
 public:
  Expansion(std::string_view whole, std::size_t most) : whole_(whole), most_(most) {}

  // One item between top-level commas: prefix[ranges]middle[ranges]suffix.
  Status item(std::string_view text) {
    if (text.empty()) return bad("a name is missing between commas");
    std::vector<std::string> names{""};
    while (!text.empty()) {
      const std::size_t open = text.find_first_of("[]");
      for (std::string& name : names) name += text.substr(0, open);
      if (open == std::string_view::npos) break;
      if (text[open] == ']') return bad("']' without '['");
      const std::size_t close = text.find(']', open);
      if (close == std::string_view::npos) return bad("'[' without ']'");
      TRY(multiply(names, text.substr(open + 1, close - open - 1)));
      text.remove_prefix(close + 1);
    }
    if (hosts_.size() + names.size() > most_) return too_many();
    for (std::string& name : names) {
      if (name.size() > kLongestName) return bad("a host name is longer than 255 characters");
      hosts_.push_back(std::move(name));
    }
    return Done{};
  }

  [[nodiscard]] std::vector<std::string> take() && { return std::move(hosts_); }
  [[nodiscard]] Error bad(std::string_view why) const {
    return {Errc::invalid, "'" + printable(whole_) + "' is not a list of hosts: " + std::string(why)};
  }

 private:
  static constexpr std::size_t kLongestName = 255;

  [[nodiscard]] Error too_many() const { return bad("it names more than " + std::to_string(most_) + " hosts"); }

  Status multiply(std::vector<std::string>& names, std::string_view ranges) {
    std::vector<std::string> numbers;
    if (ranges.empty()) return bad("empty brackets");
    for (const std::string_view range : split(ranges, ',')) {
      const std::size_t dash = range.find('-');
      const std::string_view first = range.substr(0, dash);
      const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
      const auto low = parse_uint(first);
      const auto high = parse_uint(last);
      if (!low || !high || first.size() > kMostDigits || last.size() > kMostDigits)
        return bad("a range must be N or N-M");
      if (*high < *low) return bad("a range runs backwards");
      if (*high - *low >= most_ || numbers.size() + (*high - *low) >= most_) return too_many();
      for (std::uint64_t n = *low; n <= *high; ++n) numbers.push_back(padded(n, first.size()));
    }
    if (names.size() * numbers.size() > most_) return too_many();
    std::vector<std::string> product;
    product.reserve(names.size() * numbers.size());
    for (const std::string& name : names) {
      for (const std::string& number : numbers) product.push_back(name + number);
    }
    names = std::move(product);
    return Done{};
  }

  std::string_view whole_;
  std::size_t most_;
  std::vector<std::string> hosts_;
};

struct Host {
  std::string_view prefix;
  std::string_view digits;  // the number at the end, as written; may be empty
};

Host parts_of(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] >= '0' && name[begin - 1] <= '9' && name.size() - begin < kMostDigits) --begin;
  return {name.substr(0, begin), name.substr(begin)};
}

// A run of hosts with one prefix.
class Group {
 public:
  explicit Group(const Host& host) : prefix_(host.prefix) { add(host); }

  bool add(const Host& host) {
    if (count_ > 0 && (host.digits.empty() || host.prefix != prefix_ || bare_)) return false;
    bare_ = host.digits.empty();
    ++count_;
    if (bare_) return true;
    const std::uint64_t number = parse_uint(host.digits).value_or(0);
    if (count_ > 1 && number == last_ + 1 && host.digits == padded(number, width_)) {
      last_ = number;
      return true;
    }
    if (count_ > 1) close_range();
    first_ = last_ = number;
    width_ = host.digits.size();
    return true;
  }

  [[nodiscard]] std::string text() {
    if (bare_) return std::string(prefix_);
    close_range();
    const bool brackets = ranges_.find_first_of("-,") != std::string::npos;
    return std::string(prefix_) + (brackets ? "[" + ranges_ + "]" : ranges_);
  }

 private:
  void close_range() {
    if (!ranges_.empty()) ranges_ += ',';
    ranges_ += padded(first_, width_);
    if (last_ != first_) ranges_ += "-" + padded(last_, width_);
  }

  std::string_view prefix_;
  bool bare_ = false;
  int count_ = 0;
  std::uint64_t first_ = 0;
  std::uint64_t last_ = 0;
  std::size_t width_ = 0;
  std::string ranges_;
};

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view text, std::size_t most) {
  Expansion expansion(text, most);
  if (text.empty()) return std::vector<std::string>{};
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (depth > 1) return expansion.bad("brackets inside brackets");
    if (static_cast<unsigned char>(c) <= ' ') return expansion.bad("blanks in it");
    if (c != ',' || (depth > 0 && i < text.size())) continue;
    TRY(expansion.item(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return std::move(expansion).take();
}

std::string compress_hostlist(std::span<const std::string> hosts) {
  std::string text;
  std::optional<Group> group;
  for (const std::string& name : hosts) {
    const Host host = parts_of(name);
    if (group && group->add(host)) continue;
    if (group) text += group->text() + ",";
    group.emplace(host);
  }
  return group ? text + group->text() : text;
}

std::string compress_sorted(std::vector<std::string> hosts) {
  std::ranges::sort(hosts, name_less);
  const auto rest = std::ranges::unique(hosts);
  hosts.erase(rest.begin(), rest.end());
  return compress_hostlist(hosts);
}

}  // namespace drover::slurm
