#include "slurm/render/format.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

// Letters a..z stand for themselves, ten times each.
std::string shown(std::string_view format) {
  const Layout layout = parse_letters(
      format,
      [](char c) {
        return c >= 'a' && c <= 'z' ? std::optional<std::size_t>(static_cast<std::size_t>(c)) : std::nullopt;
      },
      "job");
  std::string line = layout.before;
  for (const Column& column : layout.columns)
    append_cell(line, column, std::string(4, static_cast<char>(column.field.value_or('?'))));
  for (const std::string& complaint : layout.complaints) line += "!" + complaint;
  return line;
}

TEST(Letters, HaveWidthsSidesAndFreeText) {
  const std::pair<const char*, const char*> cases[] = {
      {"%i %j", "iiii jjjj"},
      {"%.6i|%6j|", "  iiii|jjjj  |"},
      {"%.2i%2j", "iijj"},
      {"a=%i;%j\x1e%k\x1f", "a=iiii;jjjj\x1ekkkk\x1f"},
      {" %i", " iiii"},
      {"%i%%", "iiii"},
      {"%%i", "iiii"},
      {"{\"id\": %i}", "{\"id\": iiii}"},
      {"%i|%X|", "iiii|%X|!Invalid job format specification: %X|"},
      {"plain", "plain"},
      {"", ""},
      {"%", ""},
      {"%99999999999999999999.", "%99999999999999999999.!Invalid job format specification: %99999999999999999999."}};
  for (const auto& [format, expected] : cases) EXPECT_EQ(shown(format), expected) << format;
}

std::string named(std::string_view format) {
  const auto layout = parse_names(
      format,
      [](std::string_view name) { return name == "no" ? std::nullopt : std::optional<std::size_t>(name.size()); },
      "squeue");
  if (!layout) return layout.error().message;
  std::string line;
  for (const Column& column : layout.value().columns)
    append_cell(line, column, std::string(column.field.value_or(0), 'x'));
  return line;
}

TEST(Names, AreTwentyWideUnlessTheySayOtherwise) {
  EXPECT_EQ(named("abc,de:4"), "xxx                 xx  ");
  EXPECT_EQ(named("abc:.5,de:1"), "  xxxx");
  EXPECT_EQ(named("abc:|,de:;"), "xxx|xx;");
  EXPECT_EQ(named("abc:4-"), "xxx -");
  EXPECT_EQ(named("abc,no"), "squeue: error: Invalid field requested: \"no\"");
}

AccountLayout account(std::string_view format, Separation separation = Separation::columns) {
  return {.columns =
              parse_account_columns(
                  format,
                  [](std::string_view name) { return name == "no" ? std::nullopt : std::optional<std::size_t>(0); },
                  [](std::size_t) { return -6; }, "sacct")
                  .value(),
          .separation = separation};
}

TEST(AccountColumns, AreCutWithAPlus) {  // C85
  EXPECT_EQ(account_line(account("a,b%8,c%-3"), {"abcdefgh", "1", "xyz"}), "abcde+        1 xyz \n");
  EXPECT_EQ(account_rule(account("a,b%3")), "------ --- \n");
  EXPECT_EQ(account_line(account("a,b", Separation::bars), {"abcdefgh", ""}), "abcdefgh|\n");
  EXPECT_EQ(account_line(account("a,b", Separation::bars_closed), {"1", "2"}), "1|2|\n");
  EXPECT_EQ(account_line(account("a%1"), {"abc"}), "+ \n");
}

TEST(AccountColumns, AnUnknownFieldIsNamed) {
  const auto columns = parse_account_columns(
      "no", [](std::string_view) { return std::optional<std::size_t>(); }, [](std::size_t) { return 1; }, "sacct");
  ASSERT_FALSE(columns);
  EXPECT_EQ(columns.error().message, "sacct: error: Invalid field requested: \"no\"");
}

}  // namespace
}  // namespace drover::slurm
