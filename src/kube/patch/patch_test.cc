#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"

namespace drover::kube {
namespace {

std::string shown(const Result<Value>& result) {
  return result ? print(*result) : "error: " + result.error().message;
}
std::string patched(std::string_view document, std::string_view patch) {
  return shown(apply_json_patch(*parse(document), *parse(patch)));
}
std::string merged(std::string_view document, std::string_view patch) {
  return shown(apply_merge_patch(*parse(document), *parse(patch)));
}

TEST(JsonPatch, DoesAllOperations) {
  struct Case {
    const char* document;
    const char* patch;
    const char* result;
  };
  for (
      const Case& c : {
          Case{R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
          Case{R"({"a":1})", R"([{"op":"add","path":"/a","value":2}])", R"({"a":2})"},
          Case{R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])", R"({"l":[1,2,3]})"},
          Case{R"({"l":[1]})",
               R"([{"op":"add","path":"/l/-","value":2},{"op":"add","path":"/l/2","value":3}])",
               R"({"l":[1,2,3]})"},
          Case{R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
          Case{R"({"l":[1,2,3]})", R"([{"op":"remove","path":"/l/0"}])", R"({"l":[2,3]})"},
          Case{R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":[]}])",
               R"({"a":{"b":[]}})"},
          Case{R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])",
               R"({"a":{},"c":1})"},
          Case{R"({"l":[1,2,3]})", R"([{"op":"move","from":"/l/0","path":"/l/2"}])",
               R"({"l":[2,3,1]})"},
          Case{R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
               R"({"a":{"b":1},"c":{"b":1}})"},
          Case{R"({"a":1.0})", R"([{"op":"test","path":"/a","value":1}])", R"({"a":1})"},
          Case{R"({"a":1})", R"([{"op":"replace","path":"","value":[1]}])", "[1]"},
          Case{
              R"({"a/b":1,"c~d":2,"":3})",
              R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/c~0d"},{"op":"remove","path":"/"}])",
              "{}"},
          Case{R"({"a":1})", R"([{"op":"add","path":"/n","value":null}])", R"({"a":1,"n":null})"},
          Case{"{}", "[]", "{}"},
      }) {
    EXPECT_EQ(patched(c.document, c.patch), c.result) << c.patch;
  }
}

TEST(JsonPatch, SaysWhatDoesNotFit) {
  struct Case {
    const char* patch;
    Errc code;
    const char* message;
  };
  for (const Case& c : {
           Case{"{}", Errc::invalid, "a JSON patch is a list of operations"},
           Case{R"([{"op":"add"}])", Errc::invalid, "operation 1 has no path"},
           Case{R"([{"op":"add","path":"x","value":1}])", Errc::invalid,
                "operation 1 (add x): the path must start with '/'"},
           Case{R"([{"op":"add","path":"/x"}])", Errc::invalid,
                "operation 1 (add /x): it has no value"},
           Case{R"([{"op":"set","path":"/x","value":1}])", Errc::invalid,
                "operation 1 (set /x): the operation is one of add, remove, replace, move, copy, "
                "test"},
           Case{R"([{"op":"copy","path":"/x"}])", Errc::invalid,
                "operation 1 (copy /x): it has no 'from'"},
           Case{R"([{"op":"remove","path":"/a"},{"op":"replace","path":"/x","value":1}])",
                Errc::conflict, "operation 2 (replace /x): there is no member x"},
           Case{R"([{"op":"test","path":"/a","value":2}])", Errc::conflict,
                "operation 1 (test /a): the test failed"},
           Case{R"([{"op":"add","path":"/l/3","value":1}])", Errc::conflict,
                "operation 1 (add /l/3): the list has no position 3"},
           Case{R"([{"op":"remove","path":"/l/01"}])", Errc::conflict,
                "operation 1 (remove /l/01): 01 is no position in a list"},
           Case{R"([{"op":"remove","path":"/l/-"}])", Errc::conflict,
                "operation 1 (remove /l/-): - is no position in a list"},
           Case{R"([{"op":"add","path":"/a/b","value":1}])", Errc::conflict,
                "operation 1 (add /a/b): there is no member b"},
           Case{R"([{"op":"move","from":"/o","path":"/o/p"}])", Errc::conflict,
                "operation 1 (move /o/p): a value can't be moved into itself"},
           Case{R"([{"op":"remove","path":""}])", Errc::conflict,
                "operation 1 (remove ): the whole object can't be removed"},
           Case{R"([{"op":"add","path":"/~2","value":1}])", Errc::invalid,
                "operation 1 (add /~2): '~' in a path is followed by 0 or 1"},
       }) {
    const auto result = apply_json_patch(*parse(R"({"a":1,"l":[1,2],"o":{}})"), *parse(c.patch));
    ASSERT_FALSE(result) << c.patch;
    EXPECT_EQ(result.error().message, c.message);
    EXPECT_EQ(result.error().code, c.code) << c.patch;
  }
}

TEST(JsonPatch, IsBounded) {
  Array doubling;
  Array nesting;
  for (int i = 0; i < 130; ++i) {
    doubling.push_back(*parse(R"({"op":"copy","from":"/l","path":"/l/-"})"));
    nesting.push_back(*parse(R"({"op":"copy","from":"","path":"/o"})"));
  }
  const Value document = *parse(R"({"l":["x"],"o":{}})");
  EXPECT_EQ(apply_json_patch(document, doubling).error().code, Errc::exhausted);
  EXPECT_EQ(apply_json_patch(document, nesting).error().code, Errc::exhausted);
  const auto many =
      apply_json_patch(document, *parse(R"([{"op":"test","path":"/l"},{}])"), {.operations = 1});
  EXPECT_EQ(many.error().message, "The allowed maximum operations in a JSON patch is 1, got 2");
  EXPECT_EQ(many.error().code, Errc::exhausted);
}

TEST(MergePatch, FollowsTheStandard) {
  struct Case {
    const char* document;
    const char* patch;
    const char* result;
  };
  for (const Case& c : {
           // the cases of RFC 7386, those whose patch is an object
           Case{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
           Case{R"({"a":"b"})", R"({"a":null})", "{}"},
           Case{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
           Case{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
           Case{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
           Case{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
           Case{R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
           Case{"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
           Case{"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
       }) {
    EXPECT_EQ(merged(c.document, c.patch), c.result) << c.patch;
  }
  EXPECT_EQ(merged("{}", "[]"), "error: a merge patch is an object");
}

}  // namespace
}  // namespace drover::kube
