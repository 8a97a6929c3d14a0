// Golden cases that need no controller, replayed through the real binary under the command's name.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "doors/golden.h"
#include "os/temp_folder.h"

namespace drover {
namespace {

class Offline : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"sbatch", "scontrol", "squeue", "sinfo"}) {
      ASSERT_EQ(::symlink(DROVER_SLURM, (folder_.path() + "/" + name).c_str()), 0);
    }
  }

  Golden shell(const std::string& command) {
    const std::string line = "cd " + folder_.path() + " && PATH=" + folder_.path() +
                             ":$PATH DROVER_STATE=" + folder_.path() + "/none; export PATH DROVER_STATE; { " +
                             command + "; } 2>&1";
    Golden said;
    std::FILE* pipe = ::popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
      said.output.append(buffer.data(), n);
    said.exit = WEXITSTATUS(::pclose(pipe));
    return said;
  }

 private:
  TempFolder folder_;
};

TEST_F(Offline, BadOptionsScriptsAndHostlistsSayTheSame) {
  const auto golden = read_golden("commands.txt");
  int replayed = 0;
  for (const auto& [command, expected] : golden) {
    const bool wrong_script =
        command.find("| sbatch") != std::string::npos || command.find("nosuchfile") != std::string::npos;
    const bool wrong_option = expected.exit == 255;
    const bool hosts = command.starts_with("scontrol show host");
    if (!wrong_script && !wrong_option && !hosts) continue;
    const Golden said = shell(command);
    EXPECT_EQ(said.output, expected.output) << command;
    EXPECT_EQ(said.exit, expected.exit) << command;
    ++replayed;
  }
  EXPECT_GE(replayed, 11);
}

TEST_F(Offline, AHostileNameIsOnlyAName) {
  const Golden said = shell("sbatch -J '$(touch pwn);../../x' -t 1.5h --wrap true; ls");
  EXPECT_EQ(said.output.find("pwn"), std::string::npos);
}

}  // namespace
}  // namespace drover
