// The clients that people have: each kubectl on this machine against the handlers of streams and a
// played agent that runs commands for real. Versions that aren't there are skipped.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <thread>

#include "kube_stream/played_api.h"
#include "os/temp_folder.h"

namespace drover::kube {
namespace {

struct Ran {
  int code = -1;
  std::string out;
};
// With the shell, both outputs together.
Ran shell(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen(("timeout 60 sh -c '" + command + "' 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 65536> piece{};
  while (const std::size_t n = ::fread(piece.data(), 1, piece.size(), pipe))
    ran.out.append(piece.data(), n);
  const int status = ::pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

std::string kubectl_path(const std::string& version) {
  const std::string path = "/usr/lib/google-cloud-sdk/bin/kubectl." + version;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

class Kubectl : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (kubectl_path(GetParam()).empty())
      GTEST_SKIP() << "there is no kubectl " << GetParam() << " here";
  }
  // The words of a kubectl call, for `shell`.
  [[nodiscard]] std::string kubectl(const std::string& words) const {
    return "HOME=" + folder_.path() + " " + kubectl_path(GetParam()) + " --server=" + api_.url() +
           " --insecure-skip-tls-verify --token=t " + words;
  }
  [[nodiscard]] Ran run(const std::string& words) const { return shell(kubectl(words)); }
  // A file of so many bytes without a pattern, and its sum.
  [[nodiscard]] std::string make_file(const std::string& name, int kib) const {
    EXPECT_EQ(
        shell("head -c " + std::to_string(kib) + "K /dev/urandom > " + folder_.path(name)).code, 0);
    return shell("md5sum < " + folder_.path(name)).out;
  }

  TempFolder folder_;
  PlayedAgent agent_;
  PlayedApi api_{agent_, std::string_view(GetParam()) != "1.28"};  // one of them without TLS
};

TEST_P(Kubectl, ExecTellsOutputsApartAndPassesTheExitCodeOn) {
  const Ran ran =
      run("exec p -c main -- sh -c \"echo out; echo err >&2; exit 7\" 2>" + folder_.path("err"));
  EXPECT_EQ(ran.code, 7) << ran.out;
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(shell("head -1 " + folder_.path("err")).out, "err\n");
  EXPECT_EQ(run("exec p -c main -- true").code, 0);
  EXPECT_NE(run("exec p -c absent -- true").out.find("container not found"), std::string::npos);
}

TEST_P(Kubectl, ExecCarriesAMegabyteBothWaysUnharmed) {
  const std::string sum = make_file("in", 1024);
  const Ran ran = shell(kubectl("exec -i p -c main -- cat < ") + folder_.path("in") + " | md5sum");
  EXPECT_EQ(ran.out, sum);
}

TEST_P(Kubectl, ExecWithATerminalHasItsSize) {
  const Ran ran = shell(
      "script -qec \"stty rows 33 cols 77; " +
      kubectl(
          "exec -it p -c main -- sh -c \\\"sleep 0.5; stty size; tty >/dev/null && exit 5\\\"") +
      "\" /dev/null < /dev/null");
  EXPECT_NE(ran.out.find("33 77"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.code, 5) << ran.out;
}

TEST_P(Kubectl, AttachHearsTheContainerAndIsHeard) {
  const Ran ran = shell("echo hello | " + kubectl("attach -i p -c main"));
  EXPECT_NE(ran.out.find("attached\nhello\n"), std::string::npos) << ran.out;
}

TEST_P(Kubectl, CpGoesBothWays) {
  const std::string sum = make_file("there", 3000);
  ASSERT_EQ(shell("mkdir " + folder_.path("pod")).code, 0);
  const Ran there = run("cp -c main " + folder_.path("there") + " p:" + folder_.path("pod/file"));
  EXPECT_EQ(there.code, 0) << there.out;
  EXPECT_EQ(shell("md5sum < " + folder_.path("pod/file")).out, sum);
  const Ran back = run("cp -c main p:" + folder_.path("pod/file") + " " + folder_.path("back"));
  EXPECT_EQ(back.code, 0) << back.out;
  EXPECT_EQ(shell("md5sum < " + folder_.path("back")).out, sum);
}

TEST_P(Kubectl, LogsAreFollowedToTheirEnd) {
  EXPECT_EQ(run("logs p -c main --tail=2").out, "line 999\nline 1000\n");
  EXPECT_EQ(run("logs p -c main -f --tail=1").out,
            "line 1000\nmore 0\nmore 1\nmore 2\nmore 3\nmore 4\n");
  EXPECT_EQ(run("logs p -c main --previous --tail=1 --timestamps").out,
            "2026-12-01T00:00:00.000000000Z old line 1000\n");
  EXPECT_EQ(run("logs p -c main --limit-bytes=6").out, "line 1");
  const Ran waiting = run("logs p -c waiting");
  EXPECT_NE(
      waiting.out.find(
          "Error from server (BadRequest): container \"waiting\" in pod \"p\" is waiting to start: "
          "ContainerCreating"),
      std::string::npos)
      << waiting.out;
}

// Whoever runs it in the background ends it by its number.
TEST_P(Kubectl, PortForwardCarriesManyConnectionsAtOnceAndMuchOnEach) {
  EchoPort echo;
  const std::string sum = make_file("in", 4096);
  const std::string script =
      kubectl("port-forward p :" + std::to_string(echo.port()) + " > " + folder_.path("said") +
              " 2>&1 &") +
      " pid=$!; for i in $(seq 100); do grep -q Forwarding " + folder_.path("said") +
      " && break; sleep 0.1; done;" + " port=$(sed -n \"s/.*127.0.0.1:\\([0-9]*\\) ->.*/\\1/p\" " +
      folder_.path("said") + " | head -1);" + " for i in 1 2 3 4 5 6; do python3 " +
      folder_.path("talk.py") + " $port " + folder_.path("in") +
      " & all=\"$all $!\"; done; for one in $all; do wait $one; done; kill $pid; wait $pid; cat " +
      folder_.path("said") + " >&2";
  std::ofstream(folder_.path("talk.py")) << R"(import hashlib, socket, sys, threading
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
data = open(sys.argv[2], "rb").read()
def send():
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
got = b""
while len(got) < len(data):
    piece = s.recv(65536)
    if not piece: break
    got += piece
sys.stdout.write("sum " + hashlib.md5(got).hexdigest() + "\n")
)";
  const Ran ran = shell(script);
  std::size_t right = 0;
  const std::string want = "sum " + sum.substr(0, 32);
  for (std::size_t at = ran.out.find(want); at != std::string::npos;
       at = ran.out.find(want, at + 1))
    ++right;
  EXPECT_EQ(right, 6U) << ran.out;
}

TEST_P(Kubectl, APortThatNobodyListensOnIsSaidToBeSo) {
  const std::string script =
      kubectl("port-forward p :1 > " + folder_.path("said") + " 2>&1 &") +
      " pid=$!; for i in $(seq 100); do grep -q Forwarding " + folder_.path("said") +
      " && break; sleep 0.1; done; port=$(sed -n \"s/.*127.0.0.1:\\([0-9]*\\) ->.*/\\1/p\" " +
      folder_.path("said") +
      " | head -1); python3 -c \"import socket,sys; "
      "s=socket.create_connection((\\\"127.0.0.1\\\",$port)); "
      "print(len(s.recv(10)))\"; sleep 0.3; kill $pid; wait $pid; cat " +
      folder_.path("said");
  const Ran ran = shell(script);
  EXPECT_NE(ran.out.find("error forwarding port 1 to pod p: connection refused"), std::string::npos)
      << ran.out;
}

INSTANTIATE_TEST_SUITE_P(Versions, Kubectl,
                         testing::Values("1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33"),
                         [](const auto& version) {
                           return "v1_" + std::string(version.param).substr(2);
                         });

}  // namespace
}  // namespace drover::kube
