// sinfo against the bytes of the reference system.
#include <gtest/gtest.h>

#include "doors/fixture.h"
#include "doors/golden.h"
#include "slurm/render/info.h"

namespace drover::slurm {
namespace {

Look look() { return {.times = TimeFormat(utc_zone(), fixture::kNow), .now = Instant(seconds(fixture::kNow))}; }

std::string golden(const std::string& command) {
  static const auto entries = read_golden("commands.txt");
  return entries.at(command).output;
}

std::string info(const Layout& layout, const InfoWanted& wanted = {}, bool header = true) {
  const auto partitions = fixture::partitions();
  const auto nodes = fixture::nodes();
  return info_table(layout, info_rows(layout, wanted, partitions, nodes, look()), look(), header);
}

TEST(SinfoGolden, EveryMode) {
  const std::string heading = look().times.heading() + "\n";
  EXPECT_EQ(info(node_layout(kInfoFormat)), golden("sinfo"));
  EXPECT_EQ(heading + info(node_layout(kInfoLong)), golden("sinfo -l"));
  EXPECT_EQ(info(node_layout(kInfoSummary), {.summary = true}), golden("sinfo -s"));
  EXPECT_EQ(info(node_layout(kInfoNodes), {.by_node = true}), golden("sinfo -N"));
  EXPECT_EQ(heading + info(node_layout(kInfoNodesLong), {.by_node = true}), golden("sinfo -Nl"));
  EXPECT_EQ(info(node_layout(kInfoReasons), {.with_reason = true}), golden("sinfo -R"));
}

TEST(SinfoGolden, EveryLetterAndNamedFields) {
  EXPECT_EQ(info(node_layout("%P %a %l %D %t %N %G %c %m %f %C %O %e"), {.partitions = {"debug"}}, false),
            golden("sinfo -p debug -h -o \"%P %a %l %D %t %N %G %c %m %f %C %O %e\""));
  const auto names = parse_names("NodeList,Gres,GresUsed,CPUsState,Memory,StateLong", node_field_by_name, "sinfo");
  ASSERT_TRUE(names);
  EXPECT_EQ(info(names.value()), golden("sinfo -O NodeList,Gres,GresUsed,CPUsState,Memory,StateLong"));
}

TEST(Sinfo, SizesOfAMixedGroupEndInAPlus) {
  EXPECT_EQ(info(node_layout("%c|%m"), {}, false), "16+|64000+\n");
  EXPECT_EQ(info(node_layout("%c"), {.exact = true}, false), "64\n32\n16\n");
}

TEST(Sinfo, FiltersByStateAndNode) {
  EXPECT_EQ(info(node_layout("%N %t"), {.by_node = true, .states = {"drain"}}, false), "n2 drain\n");
  EXPECT_EQ(info(node_layout("%n"), {.by_node = true, .nodes = {"n3"}}, false), "n3\n");
}

TEST(Sinfo, ALostNodeHasAStar) {
  api::NodeView node = fixture::nodes().front();
  node.node.contact = Contact::lost;
  EXPECT_EQ(short_state(node_state(node)), "down*");
  EXPECT_EQ(flags_state(node_state(node)), "DOWN+NOT_RESPONDING");
  node.node.contact = Contact::up;
  node.planned = false;
  node.node.drain = Drain{.reason = "x"};
  EXPECT_EQ(short_state(node_state(node)), "drng");
  EXPECT_EQ(long_state(node_state(node)), "draining");
}

}  // namespace
}  // namespace drover::slurm
