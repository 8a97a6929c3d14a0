#include "cli/yaml_value.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include "base/text.h"

namespace drover::cli {
namespace {

Error at(const std::string& file, int line, std::string_view what) {
  return {Errc::invalid, file + ":" + std::to_string(line) + ": " + std::string(what)};
}

// yaml-cpp counts lines from 0, and says -1 when it doesn't know.
int line_of(const YAML::Mark& mark) { return mark.line >= 0 ? mark.line + 1 : 1; }

class Ignore : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { line = line_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
  int line = 0;
};

// Where a second document begins, or what the parser takes for one; 0 when there is none. (LoadAll
// never ends on some texts that go on after their first document.)
int second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Ignore ignore;
  return parser.HandleNextDocument(ignore) && parser.HandleNextDocument(ignore) ? ignore.line : 0;
}

std::string unknown_key(std::string_view key, std::span<const std::string_view> known) {
  const std::string_view meant = nearest_word(key, known);
  std::string text = "unknown key '" + printable(key, 60) + "'; ";
  if (!meant.empty()) return text + "did you mean '" + std::string(meant) + "'?";
  text += "known here:";
  for (const std::string_view word : known) text.append(" ").append(word);
  return text;
}

}  // namespace

YamlValue::YamlValue(YAML::Node node, std::shared_ptr<const std::string> file, int line)
    : node_(std::move(node)), file_(std::move(file)), line_(line) {}

Result<YamlValue> YamlValue::parse(const std::string& text, const std::string& file) {
  try {
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) return Error{Errc::invalid, file + ":1: it is empty"};
    if (const int second = second_document(text); second != 0) {
      return at(file, second, "only one YAML document may stand in it");
    }
    return YamlValue(document, std::make_shared<const std::string>(file), line_of(document.Mark()));
  } catch (const YAML::Exception& broken) {
    return at(file, line_of(broken.mark), "not YAML: " + printable(broken.msg));
  }
}

YamlValue YamlValue::child(const YAML::Node& node, int line) const { return {node, file_, line}; }

Error YamlValue::error(std::string_view what) const { return at(*file_, line_, what); }

Error YamlValue::wanted(std::string_view what) const {
  const std::string_view found = node_.IsMap() ? "a mapping" : node_.IsSequence() ? "a list" : "nothing";
  const std::string shown = node_.IsScalar() ? "'" + printable(node_.Scalar(), 60) + "'" : std::string(found);
  return error(shown + " where " + std::string(what) + " is expected");
}

Result<std::string> YamlValue::text() const {
  if (!node_.IsScalar() || node_.Scalar().empty()) return wanted("a text");
  return node_.Scalar();
}

Result<std::uint32_t> YamlValue::number() const {
  if (!node_.IsScalar()) return wanted("a number");
  const auto value = parse_uint(node_.Scalar());
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return wanted("a whole number");
  return static_cast<std::uint32_t>(*value);
}

Result<bool> YamlValue::flag() const {
  const std::string word = node_.IsScalar() ? lower(node_.Scalar()) : "";
  if (word == "true" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "no" || word == "off") return false;
  return wanted("true or false");
}

Result<std::vector<YamlValue>> YamlValue::items() const {
  if (!node_.IsSequence()) return wanted("a list");
  std::vector<YamlValue> items;
  for (const YAML::Node& item : node_) items.push_back(child(item, line_of(item.Mark())));
  return items;
}

Result<std::vector<std::string>> YamlValue::texts() const {
  std::vector<std::string> texts;
  if (node_.IsScalar()) {
    texts.push_back(TRY(text()));
    return texts;
  }
  if (!node_.IsSequence()) return wanted("a list of texts");
  for (const YamlValue& item : TRY(items())) texts.push_back(TRY(item.text()));
  return texts;
}

Result<std::map<std::string, YamlValue, std::less<>>> YamlValue::entries() const {
  if (!node_.IsMap()) return wanted("a mapping (key: value)");
  std::map<std::string, YamlValue, std::less<>> entries;
  for (const auto& entry : node_) {
    const YAML::Node& key = entry.first;
    const int line = line_of(key.Mark());
    if (!key.IsScalar()) return at(*file_, line, "a key must be a word");
    const auto [first, fresh] = entries.emplace(key.Scalar(), child(entry.second, line));
    if (fresh) continue;
    return at(*file_, line, "key '" + printable(key.Scalar(), 60) + "' stands here twice; the first is in line " +
                                std::to_string(first->second.line()));
  }
  return entries;
}

Result<YamlFields> YamlValue::fields(std::span<const std::string_view> known) const {
  YamlFields fields;
  fields.values_ = TRY(entries());
  for (const auto& [key, value] : fields.values_) {
    if (std::ranges::find(known, key) == known.end()) return value.error(unknown_key(key, known));
  }
  return fields;
}

Result<std::map<std::string, std::string>> YamlValue::pairs() const {
  std::map<std::string, std::string> pairs;
  for (const auto& [key, value] : TRY(entries())) pairs[key] = TRY(value.text());
  return pairs;
}

const YamlValue* YamlFields::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

}  // namespace drover::cli
