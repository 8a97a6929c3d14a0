#include "cli/view.h"

#include <gtest/gtest.h>
#include <sys/file.h>

#include "cli/place.h"
#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::cli {
namespace {

api::NodeView node(const std::string& name, std::uint32_t gpus, std::uint32_t used) {
  api::NodeView view;
  view.node.inventory.name = name;
  view.node.inventory.cpus = 8;
  view.node.inventory.memory = mebibytes(512'000);
  for (std::uint32_t i = 0; i < gpus; ++i) {
    Device device;
    device.info.model = "a100";
    device.info.memory = mebibytes(81'559);
    device.info.declared = true;
    device.used = Milli::of(i < used ? 1000 : 0);
    view.node.devices.push_back(device);
  }
  return view;
}

ClusterView cluster() {
  ClusterView view;
  view.overview.config.settings.cluster_name = "lab";
  view.overview.host = "box";
  view.overview.version = "0.1.0";
  view.overview.state_dir = "/state";
  view.overview.nodes = 2;
  view.overview.nodes_up = 1;
  view.overview.jobs_active = 1;
  view.nodes = {node("n1", 2, 1), node("n2", 0, 0)};
  view.nodes[0].jobs = {JobId(1)};
  view.nodes[0].cpus_used = 4;
  view.nodes[0].memory_used = mebibytes(1024);
  view.nodes[1].node.contact = Contact::lost;
  return view;
}

TEST(View, TheStatusShowsNodesGpusAndJobs) {
  EXPECT_EQ(status_text(cluster(), Ink(false)),
            "cluster lab on box, drover 0.1.0: 2 nodes (1 lost), jobs: 1 running, 0 waiting\n\n"
            "  node  state  CPUs  memory       GPUs\n"
            "  n1    busy   4/8   1 GB/500 GB  1/2 a100 79.6 GB declared\n"
            "  n2    lost   0/8   0 MB/500 GB  -                          "
            "no contact; its jobs are taken to be running\n"
            "\nstate in /state\n");
}

TEST(View, WhatIsOffIsToldOnceWithItsNodes) {
  ClusterView view = cluster();
  view.nodes[0].node.inventory.limitations = {"No cgroups.", "CPUs are declared."};
  view.nodes[1].node.inventory.limitations = {"No cgroups."};
  EXPECT_EQ(limitations(view), "  all nodes: No cgroups.\n  n1: CPUs are declared.\n");
  EXPECT_NE(status_text(view, Ink(false)).find("What is off here:"), std::string::npos);
}

TEST(View, ADrainedNodeSaysWhyAndHarmlessly) {
  ClusterView view = cluster();
  view.nodes[0].node.drain = Drain{.reason = "bad\x1b[31m fan"};
  const std::string text = node_table(view, Ink(false));
  EXPECT_NE(text.find("draining"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Place, TheHolderOfTheLockIsNamed) {
  TempFolder folder;
  const Place place(folder.path("state"));
  ASSERT_TRUE(place.create().has_value());
  EXPECT_EQ(*holder_of(place), 0);
  {
    const auto lock = lock_file(place.lock());
    ASSERT_TRUE(lock.has_value());
    EXPECT_EQ(*holder_of(place), ::getpid());
  }
  EXPECT_EQ(*holder_of(place), 0) << "the file is still there, but nobody holds it";
}

TEST(Place, RelativeFoldersBecomeAbsoluteAndRootIsNone) {
  EXPECT_TRUE(place_for_up("some/where/")->state().ends_with("/some/where"));
  EXPECT_FALSE(place_for_up("/"));
  EXPECT_FALSE(place_for_up("/a\nb"));
}

}  // namespace
}  // namespace drover::cli
