#include <gtest/gtest.h>

#include <array>
#include <map>

#include "kube/json/parse.h"
#include "kube/select/field_selector.h"
#include "kube/select/label_selector.h"
#include "kube/select/names.h"

namespace drover::kube {
namespace {

std::string refusal(std::string_view selector) {
  const auto parsed = LabelSelector::parse(selector);
  return parsed ? "none: " + parsed->text() : parsed.error().message;
}

TEST(LabelSelectors, MatchLabels) {
  struct Case {
    const char* selector;
    const char* labels;
    bool holds;
  };
  for (const Case& c : {
           Case{"", "{}", true},
           Case{"a=b", R"({"a":"b"})", true},
           Case{"a==b", R"({"a":"c"})", false},
           Case{"a=b", "{}", false},
           Case{"a!=b", "{}", true},
           Case{"a!=b", R"({"a":"b"})", false},
           Case{"app in (train,x),!nosuch", R"({"app":"train"})", true},
           Case{"app in (train,x),!app", R"({"app":"train"})", false},
           Case{"a notin (x, y)", R"({"a":"y"})", false},
           Case{"a notin (x,y)", "{}", true},
           Case{" a , b ", R"({"a":"","b":"1"})", true},
           Case{"a,b", R"({"a":"1"})", false},
           Case{"a=", R"({"a":""})", true},
           Case{"a in (,x)", R"({"a":""})", true},
           Case{"a in (x,)", R"({"a":""})", true},
           Case{"in in (in,notin)", R"({"in":"in"})", true},
           Case{"n>3", R"({"n":"4"})", true},
           Case{"n>3", R"({"n":"3"})", false},
           Case{"n<3", R"({"n":"x"})", false},
           Case{"n<3", "{}", false},
           Case{"example.com/k=v", R"({"example.com/k":"v"})", true},
       }) {
    const auto selector = LabelSelector::parse(c.selector);
    ASSERT_TRUE(selector) << c.selector << ": " << selector.error().message;
    const Value labels = *parse(c.labels);
    EXPECT_EQ(selector->matches(labels.if_object()), c.holds) << c.selector << " on " << c.labels;
  }
  EXPECT_TRUE(LabelSelector::parse("!a")->matches(nullptr));
}

TEST(LabelSelectors, AreRefusedInTheServersWords) {
  EXPECT_EQ(refusal("a===b"), "unable to parse requirement: found '=', expected: identifier");
  EXPECT_EQ(refusal("a=b,"), "found '', expected: identifier after ','");
  EXPECT_EQ(refusal("=b"), "found '=', expected: !, identifier, or 'end of string'");
  EXPECT_EQ(refusal("a b"),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(refusal("a=b c"), "found 'c', expected: ',' or 'end of string'");
  EXPECT_EQ(refusal("a in b"), "unable to parse requirement: found 'b', expected: '('");
  EXPECT_EQ(refusal("a in (b"), "unable to parse requirement: found '', expected: ',' or ')'");
  EXPECT_EQ(refusal("a in ()"),
            "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, "
            "values set "
            "can't be empty");
  EXPECT_EQ(refusal("a>b"),
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' "
            "operators, the value "
            "must be an integer");
  EXPECT_EQ(refusal("-a").substr(0, 72),
            "unable to parse requirement: key: Invalid value: \"-a\": name part must co");
  EXPECT_EQ(refusal("a=b$").substr(0, 67),
            "unable to parse requirement: values[0][a]: Invalid value: \"b$\": a v");
  EXPECT_EQ(refusal("a==b,c in (y,x),d notin (z),!e,f"), "none: a=b,c in (x,y),d!=z,!e,f");
}

TEST(LabelSelectors, AreReadFromObjects) {
  const auto selector = LabelSelector::from(*parse(
      R"({"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"In","values":["y","x"]},
          {"key":"d","operator":"Exists"},{"key":"e","operator":"DoesNotExist"},
          {"key":"f","operator":"NotIn","values":["z"]}]})"));
  ASSERT_TRUE(selector) << selector.error().message;
  EXPECT_EQ(selector->text(), "a=b,c in (x,y),d,!e,f!=z");
  EXPECT_TRUE(LabelSelector::from(*parse("{}"))->everything());
  EXPECT_EQ(LabelSelector::from(
                *parse(R"({"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]})"))
                .error()
                .message,
            "\"Gt\" is not a valid label selector operator");
  const auto more = requirement_from(*parse(R"({"key":"n","operator":"Gt","values":["10"]})"),
                                     Expressions::nodes);
  ASSERT_TRUE(more);
  EXPECT_TRUE(more->holds("11"));
  EXPECT_FALSE(more->holds("9"));
  EXPECT_FALSE(more->holds(std::nullopt));
}

TEST(FieldSelectors, MatchFields) {
  const std::map<std::string, std::string, std::less<>> fields{{"spec.nodeName", "n1"},
                                                               {"status.phase", "Running"}};
  const auto value_of = [&](std::string_view field) {
    const auto it = fields.find(field);
    return it == fields.end() ? std::string{} : it->second;
  };
  const auto holds = [&](std::string_view text) {
    return FieldSelector::parse(text)->matches(value_of);
  };
  EXPECT_TRUE(holds(""));
  EXPECT_TRUE(holds("spec.nodeName=n1,status.phase!=Succeeded,status.phase!=Failed"));
  EXPECT_TRUE(holds("spec.nodeName==n1"));
  EXPECT_FALSE(holds("spec.nodeName=n2"));
  EXPECT_FALSE(holds("status.phase!=Running"));
  EXPECT_TRUE(holds("metadata.name="));
  const auto escaped = FieldSelector::parse(R"(a=b\,c\=\\)");
  ASSERT_TRUE(escaped);
  EXPECT_EQ(escaped->exact("a"), "b,c=\\");
  EXPECT_EQ(escaped->exact("b"), std::nullopt);
}

TEST(FieldSelectors, AreRefusedInTheServersWords) {
  EXPECT_EQ(FieldSelector::parse("a").error().message,
            "invalid selector: 'a'; can't understand 'a'");
  EXPECT_EQ(FieldSelector::parse("a=b\\c").error().message,
            "invalid field selector: invalid escape sequence: \\c");
  EXPECT_FALSE(FieldSelector::parse("a=b=c"));
  constexpr std::array<std::string_view, 1> kSupported{"metadata.name"};
  EXPECT_TRUE(FieldSelector::parse("metadata.name=a")->check(kSupported));
  EXPECT_EQ(FieldSelector::parse("spec.nosuch=1")->check(kSupported).error().message,
            "field label not supported: spec.nosuch");
}

TEST(Names, AreCheckedInTheServersWords) {
  EXPECT_EQ(
      dns1123_subdomain("Bad_Name"),
      (Complaints{
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' "
          "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
          "regex used for validation is "
          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}));
  EXPECT_EQ(
      dns1123_label("a.b").front(),
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must "
      "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
      "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  EXPECT_EQ(dns1123_label(std::string(64, 'a')),
            (Complaints{"must be no more than 63 characters"}));
  for (const char* good : {"a", "a-b.c-d", "1.2", "x1"})
    EXPECT_TRUE(dns1123_subdomain(good).empty()) << good;
  for (const char* bad : {"", "-a", "a-", "a..b", "a.-b", "A", "a_b", "."}) {
    EXPECT_FALSE(dns1123_subdomain(bad).empty()) << bad;
  }
  EXPECT_FALSE(dns1035_label("1a").empty());
  for (const char* good : {"a", "A.b_c-d", "example.com/a", "1"})
    EXPECT_TRUE(qualified_name(good).empty()) << good;
  for (const char* bad : {"", "/a", "a/", "a/b/c", "Example.com/a", "a b", "-a"}) {
    EXPECT_FALSE(qualified_name(bad).empty()) << bad;
  }
  EXPECT_EQ(qualified_name("/a").front(), "prefix part must be non-empty");
  EXPECT_TRUE(label_value("").empty());
  EXPECT_FALSE(label_value("a/b").empty());
  EXPECT_TRUE(env_var_name("MY_ENV.x-1").empty());
  EXPECT_FALSE(env_var_name("1A").empty());
  EXPECT_EQ(config_key(".."), (Complaints{"must not be '..'"}));
  EXPECT_TRUE(config_key("ca.crt").empty());
  EXPECT_EQ(path_segment("a/b"), (Complaints{"may not contain '/'"}));
}

}  // namespace
}  // namespace drover::kube
