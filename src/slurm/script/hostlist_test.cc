#include "slurm/script/hostlist.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace drover::slurm {
namespace {

std::string expanded(std::string_view text) {
  const auto hosts = expand_hostlist(text);
  return hosts ? join(hosts.value(), " ") : "error";
}

TEST(Hostlist, Expands) {
  const std::pair<const char*, const char*> cases[] = {{"n[1-3,7],x[01-02]-gpu", "n1 n2 n3 n7 x01-gpu x02-gpu"},
                                                       {"n1", "n1"},
                                                       {"", ""},
                                                       {"a,b,a", "a b a"},
                                                       {"n[08-11]", "n08 n09 n10 n11"},
                                                       {"n[9-10]", "n9 n10"},
                                                       {"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
                                                       {"r[1,3]-[a]", "error"},
                                                       {"[1-2]", "1 2"},
                                                       {"n[3-1]", "error"},
                                                       {"n[", "error"},
                                                       {"n]", "error"},
                                                       {"n[]", "error"},
                                                       {"n[1", "error"},
                                                       {"n[[1]]", "error"},
                                                       {"a,,b", "error"},
                                                       {",", "error"},
                                                       {"a b", "error"},
                                                       {"n[1,]", "error"},
                                                       {"n[-1]", "error"},
                                                       {"n[1-2-3]", "error"}};
  for (const auto& [text, expected] : cases) EXPECT_EQ(expanded(text), expected) << text;
}

TEST(Hostlist, ExpansionIsBounded) {
  EXPECT_TRUE(expand_hostlist("n[1-65536]"));
  for (const char* bad : {"n[1-65537]", "n[1-999999999999999999]", "a[1-300]b[1-300]c[1-300]",
                          "n[1-40000],m[1-40000]", "n[1-99999999999999999999]", "n[0-18446744073709551615]"}) {
    const auto hosts = expand_hostlist(bad);
    ASSERT_FALSE(hosts) << bad;
  }
}

std::string compressed(std::string_view text) { return compress_hostlist(expand_hostlist(text).value()); }
std::string sorted(std::string_view text) { return compress_sorted(expand_hostlist(text).value()); }

TEST(Hostlist, Compresses) {  // C76
  EXPECT_EQ(compressed("n1,n2,n3,n7"), "n[1-3,7]");
  EXPECT_EQ(compressed("a1,a2,a3"), "a[1-3]");
  EXPECT_EQ(compressed("n10,n2,n1"), "n[10,2,1]");
  EXPECT_EQ(compressed("n08,n09,n10,n11"), "n[08-11]");
  EXPECT_EQ(compressed("n9,n10"), "n[9-10]");
  EXPECT_EQ(compressed("n9,n010"), "n[9,010]");
  EXPECT_EQ(compressed("n1,x1,n2"), "n1,x1,n2");
  EXPECT_EQ(compressed("login,n1,gpu"), "login,n1,gpu");
  EXPECT_EQ(compressed("r1n1,r1n2,r2n1"), "r1n[1-2],r2n1");
  EXPECT_EQ(compressed("n1"), "n1");
  EXPECT_EQ(compressed(""), "");
  EXPECT_EQ(compressed("n,n1,n2"), "n,n[1-2]");
}

TEST(Hostlist, Sorts) {
  EXPECT_EQ(sorted("n10,n2,n1"), "n[1-2,10]");
  EXPECT_EQ(sorted("b1,a2,a1,a2"), "a[1-2],b1");
  EXPECT_EQ(sorted("n[08-11],n9"), "n[08,9,09-11]");
}

TEST(Hostlist, CompressingAndExpandingGivesTheSameHosts) {
  for (const char* text : {"n[001-100,200]", "a1,b,c[3-9]", "r[1-3]n[01-12]", "x9,x10,x11,x099"}) {
    EXPECT_EQ(expanded(compressed(text)), expanded(text));
  }
}

}  // namespace
}  // namespace drover::slurm
