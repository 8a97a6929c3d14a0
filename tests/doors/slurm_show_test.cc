// scontrol show against the bytes of the reference system.
#include <gtest/gtest.h>

#include "doors/fixture.h"
#include "doors/golden.h"
#include "slurm/render/show.h"

namespace drover::slurm {
namespace {

Look look() { return {.times = TimeFormat(utc_zone(), fixture::kNow), .now = Instant(seconds(fixture::kNow))}; }

std::string golden(const std::string& command) {
  static const auto entries = read_golden("commands.txt");
  return entries.at(command).output;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The reference counted no GPUs, and drover says neither which of its passes looked at a job nor the
// port of an agent.
std::string comparable(std::string text) {
  for (const std::string key : {",gres/gpu=", " Port=", " LastSchedEval=", " Scheduler="}) {
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key)) {
      text.erase(at, text.find_first_of(", \n", at + 1) - at);
    }
  }
  return replaced(text, " ArrayTaskThrottle=2 JobName", " JobName");
}

const api::JobView& job(std::size_t index) {
  static const auto jobs = fixture::queue_jobs();
  return jobs.at(index);
}

TEST(ScontrolGolden, Jobs) {
  const std::pair<std::size_t, const char*> cases[] = {{0, "1"}, {2, "3"}, {7, "8"}, {8, "9"}, {11, "4_0"}};
  for (const auto& [index, id] : cases) {
    EXPECT_EQ(comparable(show_job(job(index), look(), {})),
              comparable(golden(std::string("scontrol show job ") + id)));
  }
  EXPECT_EQ(comparable(show_job(job(4), look(), {.one_line = true})), comparable(golden("scontrol -o show job 5")));
}

TEST(ScontrolGolden, Nodes) {
  const auto nodes = fixture::nodes();
  EXPECT_EQ(comparable(show_node(nodes[0], look(), {})), comparable(golden("scontrol show node n1")));
  EXPECT_EQ(comparable(show_node(nodes[1], look(), {})), comparable(golden("scontrol show node n2")));
  EXPECT_EQ(comparable(show_node(nodes[2], look(), {.one_line = true})),
            comparable(golden("scontrol -o show node n3")));
}

TEST(ScontrolGolden, PartitionAndStep) {
  // The reference's default memory was the cluster's, not the partition's.
  EXPECT_EQ(replaced(show_partition(fixture::partitions()[0], {}), "DefMemPerCPU=1000", "DefMemPerNode=UNLIMITED"),
            golden("scontrol show partition main"));
  EXPECT_EQ(show_step(job(1), look(), {}), golden("scontrol show step 2.batch"));
}

TEST(Scontrol, ConfigHasTheLinesThatClientsRead) {
  api::Overview overview{.config = fixture::config(), .host = "ctl"};
  const std::string text = show_config(overview, look());
  EXPECT_NE(text.find("\nMinJobAge               = 300 sec\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nMaxArraySize            = 1001\n"), std::string::npos);
  EXPECT_NE(text.find("\nClusterName             = demo\n"), std::string::npos);
  EXPECT_NE(text.find("Slurmctld(primary) at ctl is UP\n"), std::string::npos);
}

}  // namespace
}  // namespace drover::slurm
