#include "agent/session/hosts.h"

#include <gtest/gtest.h>

namespace drover::agent {
namespace {

TEST(Hosts, TheClustersNodesComeFirstAndOnlyWithNumericAddresses) {
  const std::vector<HostAddress> nodes{{"n1", "10.0.0.1"}, {"n2", "fe80::2"}, {"n3", "n3.example"}};
  EXPECT_EQ(hosts_text("127.0.0.1 localhost\n127.0.1.1 n1\n", nodes),
            "10.0.0.1 n1\nfe80::2 n2\n127.0.0.1 localhost\n127.0.1.1 n1\n");
}

}  // namespace
}  // namespace drover::agent
