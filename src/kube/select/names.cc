#include "kube/select/names.h"

#include <algorithm>

#include "base/text.h"

namespace drover::kube {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool small(char c) { return c >= 'a' && c <= 'z'; }
bool letter(char c) { return small(c) || (c >= 'A' && c <= 'Z'); }
bool small_alnum(char c) { return small(c) || digit(c); }
bool alnum(char c) { return letter(c) || digit(c); }

// One part of a host name.
bool label_shape(std::string_view name) {
  return !name.empty() && small_alnum(name.front()) && small_alnum(name.back()) &&
         std::ranges::all_of(name, [](char c) { return small_alnum(c) || c == '-'; });
}

bool subdomain_shape(std::string_view name) {
  return !name.empty() && std::ranges::all_of(split(name, '.'), label_shape);
}

bool word_shape(std::string_view name) {
  return !name.empty() && alnum(name.front()) && alnum(name.back()) &&
         std::ranges::all_of(name,
                             [](char c) { return alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string longer_than(std::size_t most) {
  return "must be no more than " + std::to_string(most) + " characters";
}

// `(e.g. 'my-name',  or '123-abc', regex used for validation is '...')`
std::string shape(std::string_view rule, std::string_view pattern,
                  std::initializer_list<std::string_view> examples) {
  std::string line = std::string(rule) + " (";
  bool first = true;
  for (const std::string_view example : examples) {
    line += first ? "e.g. " : " or ";
    line.append("'").append(example).append("', ");
    first = false;
  }
  return line.append("regex used for validation is '").append(pattern).append("')");
}

std::string label_rule() {
  return shape(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character",
      "[a-z0-9]([-a-z0-9]*[a-z0-9])?", {"my-name", "123-abc"});
}

std::string subdomain_rule() {
  return shape(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
      "'.', and must start and end with an alphanumeric character",
      "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", {"example.com"});
}

std::string name_rule() {
  return shape(
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
      "alphanumeric character",
      "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", {"MyName", "my.name", "123-abc"});
}

void dots(Complaints& complaints, std::string_view name) {
  if (name == ".") complaints.emplace_back("must not be '.'");
  if (name == "..") {
    complaints.emplace_back("must not be '..'");
  } else if (name.starts_with("..")) {
    complaints.emplace_back("must not start with '..'");
  }
}

}  // namespace

Complaints dns1123_label(std::string_view name) {
  Complaints complaints;
  if (name.size() > 63) complaints.push_back(longer_than(63));
  if (!label_shape(name)) complaints.push_back(label_rule());
  return complaints;
}

Complaints dns1123_subdomain(std::string_view name) {
  Complaints complaints;
  if (name.size() > 253) complaints.push_back(longer_than(253));
  if (!subdomain_shape(name)) complaints.push_back(subdomain_rule());
  return complaints;
}

Complaints dns1035_label(std::string_view name) {
  Complaints complaints;
  if (name.size() > 63) complaints.push_back(longer_than(63));
  if (!label_shape(name) || !small(name.front())) {
    complaints.push_back(shape(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character",
        "[a-z]([-a-z0-9]*[a-z0-9])?", {"my-name", "abc-123"}));
  }
  return complaints;
}

Complaints qualified_name(std::string_view key) {
  const auto slash = key.find('/');
  const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (name.find('/') != std::string_view::npos) {
    return {"a qualified name " + name_rule() +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  Complaints complaints;
  if (slash == 0) {
    complaints.emplace_back("prefix part must be non-empty");
  } else if (slash != std::string_view::npos) {
    for (const std::string& line : dns1123_subdomain(key.substr(0, slash))) {
      complaints.push_back("prefix part " + line);
    }
  }
  if (name.empty()) complaints.emplace_back("name part must be non-empty");
  if (name.size() > 63) complaints.push_back("name part " + longer_than(63));
  if (!word_shape(name)) complaints.push_back("name part " + name_rule());
  return complaints;
}

Complaints label_value(std::string_view value) {
  Complaints complaints;
  if (value.size() > 63) complaints.push_back(longer_than(63));
  if (!value.empty() && !word_shape(value)) {
    complaints.push_back(shape(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character",
        "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", {"MyValue", "my_value", "12345"}));
  }
  return complaints;
}

Complaints env_var_name(std::string_view name) {
  Complaints complaints;
  const bool good = !name.empty() && !digit(name.front()) && std::ranges::all_of(name, [](char c) {
    return alnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (!good) {
    complaints.push_back(
        shape("a valid environment variable name must consist of alphabetic characters, digits, "
              "'_', '-', "
              "or '.', and must not start with a digit",
              "[-._a-zA-Z][-._a-zA-Z0-9]*", {"my.env-name", "MY_ENV.NAME", "MyEnvName1"}));
  }
  dots(complaints, name);
  return complaints;
}

Complaints config_key(std::string_view key) {
  Complaints complaints;
  if (key.size() > 253) complaints.push_back(longer_than(253));
  const bool good = !key.empty() && std::ranges::all_of(key, [](char c) {
    return alnum(c) || c == '_' || c == '-' || c == '.';
  });
  if (!good) {
    complaints.push_back(
        shape("a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
              "[-._a-zA-Z0-9]+", {"key.name", "KEY_NAME", "key-name"}));
  }
  dots(complaints, key);
  return complaints;
}

Complaints path_segment(std::string_view name) {
  if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
  Complaints complaints;
  for (const char illegal : {'/', '%'}) {
    if (name.find(illegal) != std::string_view::npos) {
      complaints.push_back(std::string("may not contain '") + illegal + "'");
    }
  }
  return complaints;
}

}  // namespace drover::kube
