#include <gtest/gtest.h>

#include "kube/json/field_problems.h"
#include "kube/json/parse.h"
#include "kube/json/peek.h"
#include "kube/json/print.h"
#include "kube/json/yaml.h"

namespace drover::kube {
namespace {

std::string round_trip(std::string_view json) {
  const auto value = parse(json);
  return value ? print(*value) : "error: " + value.error().message;
}

TEST(Json, KeepsWhatStandsThere) {
  for (const char* json : {R"({"b":1,"a":[true,null,"x"],"c":{}})", "[]", "9223372036854775807",
                           "18446744073709551615", "-9223372036854775808", "0.1", "1e+21", "1e-7",
                           "123456.789", R"("\u0001\n\\\"")", R"("é")"}) {
    EXPECT_EQ(round_trip(json), json);
  }
}

TEST(Json, PrintsNumbersAsKubernetesDoes) {
  EXPECT_EQ(round_trip("1.0"), "1");
  EXPECT_EQ(round_trip("1E-1"), "0.1");
  EXPECT_EQ(round_trip("2.50"), "2.5");
  EXPECT_EQ(round_trip("1e3"), "1000");
  EXPECT_EQ(round_trip("0.30000000000000004"), "0.30000000000000004");
  EXPECT_EQ(round_trip("1.7976931348623157e308"), "1.7976931348623157e+308");
  EXPECT_EQ(round_trip(R"("\ud83d\ude00")"), "\"\xF0\x9F\x98\x80\"");
}

TEST(Json, SaysWhatIsWrong) {
  EXPECT_EQ(round_trip(R"({"kind":"Pod")"), "error: unexpected end of JSON input");
  EXPECT_EQ(round_trip(""), "error: unexpected end of JSON input");
  EXPECT_EQ(round_trip("{} x"), "error: invalid character 'x' after top-level value");
  EXPECT_EQ(round_trip(R"({"a":})"), "error: invalid character '}' at byte 5");
  EXPECT_EQ(round_trip("// c\n1"), "error: invalid character '/' at byte 0");
  EXPECT_EQ(round_trip("1e999").substr(0, 5), "error");
  EXPECT_EQ(round_trip("\"\xff\"").substr(0, 5), "error");
  EXPECT_EQ(round_trip(std::string(200, '[')), "error: the JSON is nested deeper than 128 levels");
  EXPECT_EQ(parse("[1,2,3]", {.bytes = 4}).error().code, Errc::exhausted);
}

TEST(Json, NamesMembersThatStandTwice) {
  const auto parsed = parse_noting_duplicates(
      R"({"a":1,"metadata":{"name":"x","name":"y"},"a":2,"l":[[],{"k":1,"k":{"q":1,"q":2},"k":3}]})");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->duplicates,
            (std::vector<std::string>{"metadata.name", "a", "l[1].k", "l[1].k.q"}));
  EXPECT_EQ(text_at(parsed->value, "metadata.name"), "y");
  EXPECT_EQ(round_trip(R"({"metadata":{"name":"x","name":"y"}})"),
            "error: duplicate field \"metadata.name\"");
  // The same key written in two ways is one key.
  EXPECT_EQ(round_trip(R"({"a":1,"\u0061":2})"), "error: duplicate field \"a\"");
}

TEST(Json, ReadsWithoutThrowing) {
  const Value value =
      *parse(R"({"metadata":{"labels":{"a.b/c":"d"},"n":3.0,"big":1e300},"l":[1]})");
  EXPECT_EQ(at(value, "metadata.nosuch.deeper"), nullptr);
  EXPECT_EQ(at(value, "l.x"), nullptr);
  EXPECT_EQ(text(member(*at(value, "metadata.labels"), "a.b/c")), "d");
  EXPECT_EQ(text_at(value, "metadata.n"), "");
  EXPECT_EQ(integer_at(value, "metadata.n"), 3);
  EXPECT_EQ(integer_at(value, "metadata.big"), std::nullopt);
  EXPECT_EQ(array_at(value, "l")->size(), 1U);
  EXPECT_EQ(object_at(value, "l"), nullptr);
  EXPECT_EQ(depth_of(value), 3U);
}

TEST(Json, ComparesByMeaning) {
  EXPECT_TRUE(same(*parse(R"({"a":1,"b":[1.0,"x"]})"), *parse(R"({"b":[1,"x"],"a":1})")));
  EXPECT_FALSE(same(*parse(R"({"a":1})"), *parse(R"({"a":"1"})")));
  EXPECT_FALSE(same(*parse(R"({"a":1})"), *parse(R"({"a":1,"b":2})")));
  EXPECT_FALSE(same(*parse("true"), *parse("false")));
  EXPECT_FALSE(same(*parse("[1]"), *parse("[1,1]")));
}

TEST(FieldProblems, AreErrorsWarningsOrNothing) {
  const FieldProblems problems{.unknown = {"spec.containerz"}, .duplicate = {"metadata.name"}};
  EXPECT_EQ(
      check_fields(problems, FieldValidation::strict).error().message,
      R"(strict decoding error: unknown field "spec.containerz", duplicate field "metadata.name")");
  EXPECT_TRUE(check_fields(problems, FieldValidation::warn));
  EXPECT_TRUE(check_fields({}, FieldValidation::strict));
  EXPECT_EQ(warnings(problems, FieldValidation::warn),
            (std::vector<std::string>{R"(299 - "unknown field \"spec.containerz\"")",
                                      R"(299 - "duplicate field \"metadata.name\"")"}));
  EXPECT_TRUE(warnings(problems, FieldValidation::ignore).empty());
  EXPECT_EQ(warning_header("a\r\nb: c"), R"(299 - "a  b: c")");
  EXPECT_EQ(field_validation("Strict"), FieldValidation::strict);
  EXPECT_EQ(field_validation(""), FieldValidation::warn);
  EXPECT_EQ(field_validation("strict"), std::nullopt);
}

TEST(Peek, FindsWhatIsPrinted) {
  const std::string json = print(*parse(
      R"({"a":{"b":"x\"y","list":[{"b":1},"],"],"empty":[],"none":null,"deep":{"a":{"b":"z"}}},)"
      R"("b":"last","n":12,"t":true})"));
  const Peek all(json);
  EXPECT_EQ(all.at("a.b").text(), "x\"y");
  EXPECT_EQ(all.at("a.deep.a.b").text(), "z");
  EXPECT_EQ(all.member("b").text(), "last");
  EXPECT_EQ(all.at("a.list").json(), R"([{"b":1},"],"])");
  EXPECT_EQ(all.member("n").json(), "12");
  EXPECT_EQ(all.member("t").json(), "true");
  EXPECT_EQ(all.member("n").text(), "");
  for (const char* path : {"c", "a.c", "b.c", "a.list.b", "n.x"}) EXPECT_FALSE(all.at(path).given()) << path;
  for (const char* path : {"a.empty", "a.none", "a.gone"}) EXPECT_TRUE(all.at(path).empty()) << path;
  EXPECT_FALSE(all.at("a.list").empty());
  EXPECT_FALSE(Peek("").member("a").given());
}

std::string from_yaml(const std::string& yaml) {
  const auto parsed = parse_yaml(yaml, {.bytes = 1000, .depth = 5});
  return parsed ? print(parsed->value) : "error: " + parsed.error().message;
}

TEST(Yaml, ReadsManifests) {
  EXPECT_EQ(from_yaml("kind: Pod\nspec:\n  list:\n  - a: 1\n    b: \"1\"\n  - [x, {y: null}]\n"),
            R"({"kind":"Pod","spec":{"list":[{"a":1,"b":"1"},["x",{"y":null}]]}})");
  EXPECT_EQ(from_yaml("a: |\n  two\n  lines\nb: >-\n  one\n  line\n"), R"({"a":"two\nlines\n","b":"one line"})");
  EXPECT_EQ(from_yaml("{a: yes, b: Off, c: ~, d: , e: 0644, f: 0x1F, g: -3, h: 1.5, i: 1e3, j: 1.2.3, k: 08x}"),
            R"({"a":true,"b":false,"c":null,"d":null,"e":420,"f":31,"g":-3,"h":1.5,"i":1000,"j":"1.2.3","k":"08x"})");
  EXPECT_EQ(from_yaml("['yes', '012', 18446744073709551615, -9223372036854775808, 99999999999999999999]"),
            R"(["yes","012",18446744073709551615,-9223372036854775808,100000000000000000000])");
}

TEST(Yaml, SaysWhatIsWrong) {
  EXPECT_EQ(from_yaml(""), "error: it is empty");
  EXPECT_EQ(from_yaml("a: 1\n---\nb: 2\n"), "error: only one document may stand in it");
  EXPECT_EQ(from_yaml("a: &x 1\nb: *x\n"), "error: line 1: anchors and aliases are not served");
  EXPECT_EQ(from_yaml("? [a]\n: 1\n"), "error: line 1: a key is no text");
  EXPECT_EQ(from_yaml("[[[[[[1]]]]]]"), "error: line 1: exceeded max depth");
  EXPECT_EQ(from_yaml("a: [1\nb: 2").substr(0, 12), "error: line ");
  EXPECT_EQ(from_yaml("a: \"\xff\"").substr(0, 6), "error:");
  EXPECT_EQ(from_yaml(std::string(1001, ' ')), "error: limit is 1000");
  const auto twice = parse_yaml("a:\n- b: 1\n- b: 1\n  c: {d: 1, d: 2}\n  b: 3\n");
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->duplicates, (std::vector<std::string>{"a[1].c.d", "a[1].b"}));
}

}  // namespace
}  // namespace drover::kube
