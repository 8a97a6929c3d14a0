#include "slurm/render/json.h"

#include <cstdio>

#include "slurm/script/signal.h"

namespace drover::slurm {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

void JsonObject::name(std::string_view name) {
  if (text_.size() > 1) text_ += ", ";
  text_ += quoted(name);
  text_ += ": ";
}

JsonObject& JsonObject::raw(std::string_view name, std::string_view value) {
  this->name(name);
  text_ += value;
  return *this;
}

JsonObject& JsonObject::text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }

JsonObject& JsonObject::number(std::string_view name, std::int64_t value) { return raw(name, std::to_string(value)); }

JsonObject& JsonObject::flag(std::string_view name, bool value) { return raw(name, value ? "true" : "false"); }

JsonObject& JsonObject::words(std::string_view name, const std::vector<std::string>& values) {
  return raw(name, json_words(values));
}

JsonObject& JsonObject::maybe(std::string_view name, std::optional<std::int64_t> value, bool infinite) {
  return raw(name, JsonObject()
                       .flag("set", value.has_value())
                       .flag("infinite", infinite)
                       .number("number", value.value_or(0))
                       .end());
}

std::string JsonObject::end() { return std::move(text_) + "}"; }

std::string json_list(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) {
    if (text.size() > 1) text += ", ";
    text += item;
  }
  return text + "]";
}

std::string json_words(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(quoted(text));
  return json_list(items);
}

std::string json_exit(const ExitStatus& exit) {
  const bool signalled = exit.signal != 0;
  const std::string_view word = signalled ? "SIGNALED" : exit.code != 0 ? "ERROR" : "SUCCESS";
  return JsonObject()
      .words("status", {std::string(word)})
      .maybe("return_code", signalled ? std::nullopt : std::optional<std::int64_t>(exit.code))
      .raw("signal", JsonObject()
                         .maybe("id", signalled ? std::optional<std::int64_t>(exit.signal) : std::nullopt)
                         .text("name", signalled ? signal_name(exit.signal) : "")
                         .end())
      .end();
}

std::string json_answer(std::string_view name, const std::vector<std::string>& items,
                        std::optional<std::int64_t> updated) {
  std::string text = "{\n  " + quoted(name) + ": [";
  for (const std::string& item : items) {
    text += &item == items.data() ? "\n    " : ",\n    ";
    text += item;
  }
  text += items.empty() ? "],\n" : "\n  ],\n";
  if (updated) {
    text +=
        "  \"last_update\": {\"set\": true, \"infinite\": false, \"number\": " + std::to_string(*updated) + "},\n";
  }
  text +=
      "  \"meta\": {\"plugin\": {\"data_parser\": \"data_parser/v0.0.44\"},\n"
      "    \"slurm\": {\"version\": {\"major\": \"26\", \"minor\": \"05\", \"micro\": \"3\"}, "
      "\"release\": "
      "\"26.05.3\"}},\n";
  return text + "  \"errors\": [],\n  \"warnings\": []\n}\n";
}

}  // namespace drover::slurm
