#include "cli/cluster_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/amounts.h"

namespace drover::cli {
namespace {

using testing::ElementsAre;

ClusterFile good(const std::string& text) {
  auto file = parse_cluster_file(text, "c.yaml");
  EXPECT_TRUE(file.has_value()) << (file ? "" : file.error().message);
  return file ? *file : ClusterFile{};
}

std::string complaint(const std::string& text) {
  const auto file = parse_cluster_file(text, "c.yaml");
  return file ? "no complaint" : file.error().message;
}

TEST(ClusterFile, TheDefaultClusterIsTheOneOfTheTour) {
  const ClusterFile file = good(std::string(default_cluster()));
  ASSERT_EQ(file.nodes.size(), 3U);
  const NodeInventory& n1 = file.nodes[0].declared;
  EXPECT_EQ(n1.cpus, 64U);
  EXPECT_EQ(n1.sockets, 2U);
  EXPECT_EQ(n1.memory, mebibytes(512'000));
  ASSERT_EQ(n1.devices.size(), 8U);
  EXPECT_EQ(n1.devices[7].memory, mebibytes(81'559));
  EXPECT_EQ(n1.devices[7].capability, 80U);
  EXPECT_EQ(n1.devices[7].index, 7U);
  EXPECT_TRUE(n1.devices[7].declared);
  EXPECT_EQ(n1.devices[0].links.size(), 7U);
  const NodeInventory& n2 = file.nodes[1].declared;
  ASSERT_EQ(n2.devices.size(), 4U);
  EXPECT_EQ(n2.devices[0].model, "t4");
  EXPECT_EQ(n2.devices[0].memory, mebibytes(15'360));
  EXPECT_EQ(n2.devices[0].capability, 75U);
  EXPECT_TRUE(file.nodes[2].declared.devices.empty());
  EXPECT_FALSE(file.nodes[2].probe_devices) << "n3 has no GPU, whatever the machine has";
  ASSERT_EQ(file.config.partitions.size(), 1U);
  EXPECT_TRUE(file.config.partitions[0].is_default);
  EXPECT_EQ(file.config.partitions[0].max_time, seconds(7 * 86'400));
}

TEST(ClusterFile, ANameMayStandForManyNodesAndEveryDeviceHasAUuidOfItsOwn) {
  const ClusterFile file = good("nodes: [{name: 'n[1-3]', gpus: {model: t4, count: 2}}]");
  ASSERT_EQ(file.nodes.size(), 3U);
  EXPECT_EQ(file.nodes[2].declared.name, "n3");
  EXPECT_NE(file.nodes[0].declared.devices[0].uuid, file.nodes[1].declared.devices[0].uuid);
  EXPECT_NE(file.nodes[0].declared.devices[0].uuid, file.nodes[0].declared.devices[1].uuid);
}

TEST(ClusterFile, WhatIsNotSaidIsAsTheMachineHas) {
  const ClusterFile file = good("nodes:\n  - name: here\n");
  EXPECT_EQ(file.nodes[0].declared.cpus, 0U);
  EXPECT_EQ(file.nodes[0].declared.memory, Bytes{});
  EXPECT_TRUE(file.nodes[0].probe_devices);
  EXPECT_EQ(file.config.partitions[0].name, "main");
}

TEST(ClusterFile, GpusMayNameTheirDeviceFiles) {
  const ClusterFile file =
      good("nodes:\n  - name: a\n    gpus: {model: x, memory: 1GiB, files: [/dev/a, [/dev/b, /dev/c]]}\n");
  const auto& gpus = file.nodes[0].declared.devices;
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_THAT(gpus[0].files, ElementsAre("/dev/a"));
  EXPECT_THAT(gpus[1].files, ElementsAre("/dev/b", "/dev/c"));
  EXPECT_EQ(gpus[0].memory, gibibytes(1));
}

TEST(ClusterFile, MixedGpusAreNumberedOnAndLinkedOnlyAmongThemselves) {
  const ClusterFile file = good(
      "nodes:\n  - name: a\n    gpus:\n"
      "      - {model: t4}\n      - {model: a100, memory: 40GB, count: 2, nvlink: yes}\n");
  const auto& gpus = file.nodes[0].declared.devices;
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[2].index, 2U);
  EXPECT_EQ(gpus[2].memory, mebibytes(40'960));
  EXPECT_THAT(gpus[2].links, ElementsAre(1U));
  EXPECT_TRUE(gpus[0].links.empty());
}

TEST(ClusterFile, SettingsAndPartitionsSayTheirUnits) {
  const ClusterFile file = good(
      "cluster: lab\n"
      "nodes: [{name: 'n[1-2]'}]\n"
      "partitions:\n"
      "  - {name: main, default: yes, max_time: 7-00:00:00, memory: {per_cpu: 1000M}}\n"
      "  - {name: debug, nodes: [n2], max_time: 30m, tier: 2, state: down}\n"
      "settings: {kill_grace: 5s, requeue_delay: 0, no_new_privs: no, admins: [1000, root]}\n");
  EXPECT_EQ(file.config.settings.cluster_name, "lab");
  EXPECT_EQ(file.config.settings.kill_grace, seconds(5));
  EXPECT_EQ(file.config.settings.requeue_delay, Duration{0});
  EXPECT_FALSE(file.config.settings.no_new_privs);
  EXPECT_THAT(file.config.settings.admins, ElementsAre(1000U, 0U));
  EXPECT_EQ(file.config.partitions[0].memory_rule, MemoryRule::per_cpu);
  EXPECT_EQ(file.config.partitions[0].memory, mebibytes(1000));
  EXPECT_FALSE(file.config.partitions[1].up);
  EXPECT_THAT(file.config.partitions[1].nodes, ElementsAre("n2"));
}

TEST(ClusterFile, SaysWhereNodesOfOtherMachinesJoin) {
  const ClusterFile file = good(
      "listen: 10.0.0.1:7411\n"
      "nodes: [{name: a}, {name: b, joins: yes, submit: yes}]\n");
  EXPECT_EQ(file.listen, "10.0.0.1:7411");
  EXPECT_FALSE(file.node("a")->joins || file.node("a")->submit);
  EXPECT_TRUE(file.node("b")->joins && file.node("b")->submit);
  EXPECT_TRUE(good("nodes: [{name: a}]\n").listen.empty());
}

TEST(ClusterFile, AMistakeIsOneLineWithItsPlaceAndItsCure) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "c.yaml:1: it is empty"},
      {"node:\n  - name: a\n", "c.yaml:1: unknown key 'node'; did you mean 'nodes'?"},
      {"cluster: x\n", "c.yaml:1: 'nodes:' is missing: a cluster needs at least one node"},
      {"nodes: [{name: a}]\nlisten: here\n", "c.yaml:2: listen: is HOST:PORT, as in 10.0.0.1:7411"},
      {"nodes: []\n", "c.yaml:1: a cluster needs at least one node"},
      {"nodes:\n  - name: a\n  - name: a\n", "c.yaml:3: node a is declared twice; the first time in line 2"},
      {"nodes:\n  - name: a\n    name: b\n", "c.yaml:3: key 'name' stands here twice; the first is in line 2"},
      {"nodes:\n  - name: a\n    memory: 512\n", "c.yaml:3: '512' is not a size: a unit is missing, as in 512G"},
      {"nodes:\n  - name: a\n    cpus: many\n", "c.yaml:3: 'many' where a whole number is expected"},
      {"nodes:\n  - name: a\n    cpus: 5\n    sockets: 2\n",
       "c.yaml:2: 5 CPUs don't divide into 2 sockets of 1 threads a core"},
      {"nodes:\n  - name: a\n    gpus: {model: a100}\n",
       "c.yaml:3: 'a100' comes in several sizes: say memory: 40GB or 80GB"},
      {"nodes:\n  - name: a\n    gpus: {model: foo}\n",
       "c.yaml:3: GPU model 'foo' isn't known by itself: say its memory"},
      {"nodes:\n  - name: a\n    gpus: 8\n",
       "c.yaml:3: gpus: is none, a mapping (model: a100, count: 8) or a list of such"},
      {"nodes:\n  - name: '../x'\n",
       "c.yaml:2: '../x' is not a node name: letters, digits, '-', '_' and '.', at most 63 characters"},
      {"nodes: [{name: n1}]\npartitions:\n  - {name: p, nodes: [n2]}\n",
       "c.yaml:3: partition p names node 'n2', which isn't declared"},
      {"nodes: [{name: node1}]\npartitions:\n  - {name: p, nodes: [node2]}\n",
       "c.yaml:3: partition p names node 'node2', which isn't declared; did you mean 'node1'?"},
      {"nodes: [{name: a}]\nsettings: {kill_grace: 30}\n",
       "c.yaml:2: '30' is not a time: a unit is missing, as in 30s or 30m"},
      {"nodes: [{name: a}\n", "c.yaml:2: not YAML: end of sequence flow not found"},
      {"nodes: [{name: a}]\n---\nx: 1\n", "c.yaml:2: only one YAML document may stand in it"},
      {"{nodes: [{name: a}]}\n}\n", "c.yaml:2: not YAML: illegal flow end"},
  };
  for (const auto& [text, words] : cases) EXPECT_EQ(complaint(text), words) << text;
}

TEST(Amounts, SizesAreSlurmsForMemoryAndTheBoxesForCards) {
  EXPECT_EQ(*parse_size("512GB"), gibibytes(512));
  EXPECT_EQ(*parse_size("62.5G"), mebibytes(64'000));
  EXPECT_EQ(*parse_card_size("80GB"), Bytes::of(80'000'000'000));
  EXPECT_EQ(*parse_card_size("80GiB"), gibibytes(80));
  for (const char* text : {"", "G", "-1G", "1.G", "1.2345G", "99999999T", "1GBs", "1..5G", "0G"}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(Amounts, TimesAddUpAndUnderstandSlurmsWay) {
  EXPECT_EQ(*parse_duration("1h30m"), minutes(90));
  EXPECT_EQ(*parse_duration("7-00:00:00"), seconds(7 * 86'400));
  EXPECT_EQ(*parse_duration("12:00:00"), seconds(43'200));
  EXPECT_EQ(*parse_duration("500ms"), Duration(500));
  for (const char* text : {"", "s", "5", "5x", "1:2", "-5s", "9999999999999999d", "1-", "1h-5"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Amounts, NamesExpandWithinBounds) {
  EXPECT_THAT(*expand_names("n[1-2,07]-x"), ElementsAre("n1-x", "n2-x", "n07-x"));
  for (const char* text : {"", "n[", "n[]", "n[2-1]", "n[1-99999999]", "n[1-2][3]", "a b", "-x", "n[1-2]/"}) {
    EXPECT_FALSE(expand_names(text)) << text;
  }
}

}  // namespace
}  // namespace drover::cli
