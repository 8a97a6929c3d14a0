#include "slurm/launch/bind.h"

#include <gtest/gtest.h>

namespace drover::slurm {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Places = std::vector<std::size_t>;

Numbers cpus(const StepRequest& request, std::string_view words, std::uint32_t tasks,
             std::uint32_t local, const Numbers& of = {8, 9, 10, 11}) {
  return task_cpus(request, parse_cpu_bind(words).value(),
                   {.cpus = of, .tasks = tasks, .local = local});
}

TEST(CpuBind, GivesEachTaskItsBlockWhenItsSizeIsKnown) {
  const StepRequest two_each{.cpus_per_task = 2};
  EXPECT_EQ(cpus(two_each, "", 2, 0), (Numbers{8, 9}));
  EXPECT_EQ(cpus(two_each, "", 2, 1), (Numbers{10, 11}));
  EXPECT_EQ(cpus(two_each, "none", 2, 1), Numbers{});
  EXPECT_EQ(cpus({}, "", 2, 1), Numbers{});  // shares all of them
  EXPECT_EQ(cpus({.exact = true}, "", 4, 3), Numbers{11});
  EXPECT_EQ(cpus({.exact = true}, "", 8, 5), Numbers{9});  // more tasks than CPUs
}

TEST(CpuBind, TakesTheWordsOfTheOption) {
  EXPECT_EQ(cpus({}, "cores", 2, 1), (Numbers{10, 11}));
  EXPECT_EQ(cpus({}, "verbose,rank", 2, 1), Numbers{9});
  EXPECT_EQ(cpus({}, "map_cpu:3,0x1", 2, 0), Numbers{11});
  EXPECT_EQ(cpus({}, "map_cpu:3,0x1", 2, 1), Numbers{9});
  EXPECT_EQ(cpus({}, "mask_cpu:0x3,c", 2, 1), (Numbers{10, 11}));
  EXPECT_EQ(cpus({}, "mask_cpu:0x1*2,0x8", 3, 1), Numbers{8});
  EXPECT_TRUE(parse_cpu_bind("v,cores").value().verbose);
  for (const char* wrong : {"ldoms", "sockets", "map_cpu", "map_cpu:", "map_cpu:x", "cores:1",
                            "mask_cpu:g", "rank,rank", "map_cpu:1*0", "map_cpu:1*99999"}) {
    EXPECT_FALSE(parse_cpu_bind(wrong)) << wrong;
  }
}

TEST(GpuBind, GivesEachTaskItsOwn) {  // C53
  const std::vector<BindGpu> eight(8);
  const StepRequest one_each{.gpus_per_task = {{"", 1}}};
  for (std::uint32_t local = 0; local < 8; ++local) {
    EXPECT_EQ(task_gpus(one_each, {}, eight, local, -1), Places{local});
  }
  EXPECT_EQ(task_gpus({.gpus_per_task = {{"", 2}}}, {}, eight, 3, -1), (Places{6, 7}));
  EXPECT_EQ(task_gpus({}, {}, std::vector<BindGpu>(2), 1, -1), (Places{0, 1}));
}

TEST(GpuBind, TakesTheWordsOfTheOption) {
  const std::vector<BindGpu> four{{0}, {0}, {1}, {1}};
  const auto with = [&](std::string_view words, std::uint32_t local, std::int32_t socket = -1) {
    return task_gpus({.gpus_per_task = {{"", 1}}}, parse_gpu_bind(words).value(), four, local,
                     socket);
  };
  EXPECT_EQ(with("none", 1), (Places{0, 1, 2, 3}));
  EXPECT_EQ(with("closest", 1, 1), (Places{2, 3}));
  EXPECT_EQ(with("closest", 1), (Places{0, 1, 2, 3}));
  EXPECT_EQ(with("single:2", 3), Places{1});
  EXPECT_EQ(with("per_task:2", 1), (Places{2, 3}));
  EXPECT_EQ(with("map_gpu:3,0", 1), Places{0});
  EXPECT_EQ(with("mask_gpu:0x5", 7), (Places{0, 2}));
  for (const char* wrong : {"single", "single:0", "single:1,2", "map_gpu", "nearest"}) {
    EXPECT_FALSE(parse_gpu_bind(wrong)) << wrong;
  }
}

TEST(CpuMask, IsHexadecimal) {
  EXPECT_EQ(cpu_mask({0, 1}), "0x3");
  EXPECT_EQ(cpu_mask({8, 11}), "0x900");
  EXPECT_EQ(cpu_mask({}), "0x0");
}

}  // namespace
}  // namespace drover::slurm
