// What users write gives them no right and no device by the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/cri/attach.h"
#include "agent/cri/client.h"
#include "agent/cri/process_spec.h"
#include "runtime.pb.h"

namespace drover::agent::cri {
namespace {

namespace rt = ::runtime::v1;

rt::ContainerConfig container(const ContainerSpec& spec) {
  rt::ContainerConfig config;
  EXPECT_TRUE(config.ParseFromString(container_config(spec, "n")));
  return config;
}

TEST(CriConfig, LabelsThatMeanSomethingAreOurs) {
  SandboxSpec spec{.pod = "17.1", .name = "p", .labels = {{"app", "x"}, {"cdi.k8s.io/gpu", "nvidia.com/gpu=all"},
                                                         {"drover.pod", "18.1"}, {"io.kubernetes.pod.name", "other"}}};
  rt::SandboxConfig config;
  ASSERT_TRUE(config.ParseFromString(sandbox_config(spec, "n")));
  EXPECT_EQ(config.labels().at("app"), "x");
  EXPECT_EQ(config.labels().at("drover.pod"), "17.1");
  EXPECT_EQ(config.labels().at("io.kubernetes.pod.name"), "p");
  EXPECT_EQ(config.labels().count("cdi.k8s.io/gpu"), 0U);
}

TEST(CriConfig, TheNetworkIsTheHostsInBothAndSpacesAreAsAsked) {
  const auto plain = container({.sandbox = {.host_network = true}});
  EXPECT_EQ(plain.linux().security().namespaces().network(), rt::NODE);
  EXPECT_EQ(plain.linux().security().namespaces().pid(), rt::CONTAINER);
  EXPECT_EQ(container({.sandbox = {.share_pids = true}}).linux().security().namespaces().pid(), rt::POD);
  EXPECT_EQ(container({.sandbox = {.host_pid = true}}).linux().security().namespaces().pid(), rt::NODE);
}

TEST(CriConfig, OnlyAPrivilegedContainerIsUnmasked) {
  EXPECT_GT(container({}).linux().security().masked_paths_size(), 5);
  EXPECT_FALSE(container({}).linux().security().privileged());
  const auto bold = container({.security = {.privileged = true, .may_gain_privileges = false}});
  EXPECT_TRUE(bold.linux().security().privileged());
  EXPECT_EQ(bold.linux().security().masked_paths_size(), 0);
  EXPECT_TRUE(container({.security = {.may_gain_privileges = false}}).linux().security().no_new_privs());
}

TEST(CriConfig, AmountsAreTheKernels) {
  const auto made = container({.cpu_request_milli = 500, .cpu_limit_milli = 1500, .memory_limit = 7});
  const auto& resources = made.linux().resources();
  EXPECT_EQ(resources.cpu_shares(), 512);
  EXPECT_EQ(resources.cpu_quota(), 150'000);
  EXPECT_EQ(resources.memory_limit_in_bytes(), 7);
  EXPECT_EQ(container({}).linux().resources().cpu_shares(), 2);
}

TEST(ProcessSpec, IsTheContainersWithOtherArguments) {
  const std::string spec = R"({"ociVersion":"1.0", "process": {"terminal":true,"user":{"uid":18446744073709551615},
    "args":["a","b"],"env":["X=\"}]"],"cwd":"/"}, "root":{}})";
  EXPECT_EQ(*process_like(spec, {"sh", "-c", "echo \"\n\\"}, false),
            R"({"user":{"uid":18446744073709551615},"env":["X=\"}]"],"cwd":"/","terminal":false,)"
            R"("args":["sh","-c","echo \"\u000a\\"]})");
  for (const char* bad : {"", "{", "[]", R"({"process":1})", R"({"root":{}})", R"({"process":{"a":)"}) {
    EXPECT_FALSE(process_like(bad, {"x"}, false)) << bad;
  }
}

TEST(WebsocketFrame, CarriesItsLengthAndItsMask) {
  const std::string mask(4, '\0');
  EXPECT_EQ(websocket_frame(0, "ab", mask), std::string("\x82\x83\0\0\0\0\0ab", 9));
  EXPECT_EQ(websocket_frame(1, "ab", "1234").substr(6), std::string({'1' ^ 1, 'a' ^ '2', 'b' ^ '3'}));
  const std::string long_one = websocket_frame(0, std::string(300, 'x'), mask);
  EXPECT_EQ(long_one.substr(0, 10), std::string("\x82\xff\0\0\0\0\0\0\x01\x2d", 10));
}

}  // namespace
}  // namespace drover::agent::cri
