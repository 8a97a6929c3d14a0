#include <gtest/gtest.h>

#include "api/service.h"
#include "base/random.h"
#include "domain/input.h"
#include "native/from_json.h"
#include "native/to_json.h"

namespace drover::native {
namespace {

template <class T>
std::string refusal(std::string_view text) {
  const auto value = from_json<T>(text);
  return value ? "taken" : value.error().message;
}

Submit a_submit() {
  Submit submit;
  submit.name = "train \"me\"\n\x01 \xC3\xA4";
  submit.request.min_nodes = 2;
  submit.request.memory = gibibytes(40);
  submit.request.memory_rule = MemoryRule::per_cpu;
  submit.request.gpus_per_node = {{"a100", 2}, {"", 1}};
  submit.limit = Duration(0);
  submit.begin = Instant(Duration(1'700'000'000'123));
  submit.priority = -5;
  submit.spec.words = {~0ULL, 1, 2, 3};
  submit.dependency.terms.push_back({DependencyKind::after_ok, JobId(7), kNoTask, seconds(1)});
  submit.array = ArrayPending{{{0, 9, 3}}, 4, 4, 0, 9, 3, "0-9:3%4"};
  return submit;
}

TEST(Json, AWishComesBackAsItWas) {
  const Command command = a_submit();
  const std::string text = to_json(command);
  EXPECT_EQ(text.substr(0, 20), "{\"submit\":{\"name\":\"t");
  EXPECT_EQ(from_json<Command>(text).value(), command) << text;
  const JobSpec spec{.door = "slurm", .arguments = {"a", ""}, .rlimits = {{"nofile", -1}}, .extra = {{"k", "v"}}};
  EXPECT_EQ(from_json<JobSpec>(to_json(spec)).value(), spec);
}

TEST(Json, NumbersKeepAll64Bits) {
  JobRef ref{JobId(18'446'744'073'709'551'615ULL), {}};
  EXPECT_EQ(to_json(ref), "{\"job\":18446744073709551615,\"tasks\":[]}");
  EXPECT_EQ(from_json<JobRef>(to_json(ref)).value(), ref);
}

TEST(Json, TextThatIsNoUtf8IsReplacedAndAllElseIsEscaped) {
  EXPECT_EQ(to_json(std::string("a\xff\xC3")), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(to_json(std::string("\xED\xA0\x80|\xC0\x80|\xF4\x90\x80\x80").substr(0, 3)),
            "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(to_json(std::string("\0\x1f\"\\/\x7f", 6)), "\"\\u0000\\u001f\\\"\\\\/\\u007f\"");
  EXPECT_EQ(to_json(std::string("\xF0\x9F\x90\x91")), "\"\xF0\x9F\x90\x91\"");
}

TEST(Json, MistakesAreNamedWithTheirPlace) {
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"nam\":\"x\"}}"), "submit: unknown field 'nam'; did you mean 'name'?");
  EXPECT_EQ(refusal<Command>("{\"sumbit\":{}}"), "the whole: unknown kind 'sumbit'; did you mean 'submit'?");
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"request\":{\"min_nodes\":\"2\"}}}"),
            "submit.request.min_nodes: expected a whole number, found a text");
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"request\":{\"min_nodes\":4294967296}}}"),
            "submit.request.min_nodes: the number is out of range");
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"request\":{\"min_nodes\":-1}}}"),
            "submit.request.min_nodes: the number is out of range");
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"request\":{\"min_nodes\":1.5}}}"),
            "submit.request.min_nodes: expected a whole number, found a fraction or a number too large");
  EXPECT_EQ(refusal<Command>("{\"submit\":{\"request\":{\"gpus_per_node\":[{\"count\":1},{\"count\":true}]}}}"),
            "submit.request.gpus_per_node[1].count: expected a whole number, found true or false");
  EXPECT_EQ(refusal<Command>("{\"signal\":{\"target\":\"step\"}}"),
            "signal.target: unknown word 'step'; did you mean 'steps'?");
  EXPECT_EQ(refusal<Command>("{\"submit\":{},\"cancel\":{}}"),
            "the whole: expected an object with one member, the kind, found an object");
  EXPECT_EQ(refusal<JobId>("18446744073709551616"),
            "the whole: expected a whole number, found a fraction or a number too large");
}

TEST(Json, TheGrammarIsStrict) {
  EXPECT_EQ(refusal<Submit>("{\"name\":\"a\",\"name\":\"b\"}"), "JSON: member 'name' stands there twice");
  for (const char* bad : {"", "{", "{}x", "{\"name\":\"a\",}", "// c\n{}", "{'name':1}", "{\"name\":\"\xff\"}",
                          "{\"name\":\"\n\"}", "nan", "01", "[1 2]"}) {
    EXPECT_FALSE(parse_json(bad).has_value()) << bad;
  }
  EXPECT_TRUE(parse_json(std::string(60, '[') + std::string(60, ']')).has_value());
  EXPECT_FALSE(parse_json(std::string(80, '[') + std::string(80, ']')).has_value());
  EXPECT_FALSE(parse_json("[1,2,3]", 3).has_value());
}

TEST(Json, FieldsNarrowAView) {
  api::JobView view;
  view.id = JobId(3);
  view.name = "x";
  std::string text;
  append_json_fields(text, view, api::Fields({1, 5, 14}));
  EXPECT_EQ(text, "{\"id\":3,\"name\":\"x\",\"phase\":\"waiting\"}");
}

TEST(Json, DamagedTextNeverBreaksTheReader) {
  Random random(3);
  const std::string whole = to_json(Command(a_submit()));
  for (int i = 0; i < 20'000; ++i) {
    std::string text = whole;
    for (auto n = 1 + random.below(3); n > 0; --n) {
      text[random.below(text.size())] = static_cast<char>(random.below(2) == 0 ? "{}[]\",:0"[random.below(8)]
                                                                              : static_cast<int>(random.below(256)));
    }
    if (random.chance(1, 3)) text.resize(random.below(text.size()));
    const auto value = from_json<Command>(text);
    if (value) {
      ASSERT_TRUE(from_json<Command>(to_json(*value)).has_value()) << text;
    }
  }
}

}  // namespace
}  // namespace drover::native
