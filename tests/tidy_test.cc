// Checks that the tree keeps its own rules.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = DROVER_ROOT;

using Names = std::set<std::string>;

Names with(const Names& a, const Names& b) {
  Names all = a;
  all.insert(b.begin(), b.end());
  return all;
}

// Who may include whom (docs/architecture.md). The only place that says so; a new folder fails
// until it is listed.
std::map<std::string, Names> layers() {
  std::map<std::string, Names> may;
  may["base"] = {};
  may["os"] = {"base"};
  may["wire"] = {"base", "os"};
  may["tls"] = {"base", "os", "wire"};
  may["domain"] = {"base"};
  may["policy"] = {"base", "domain"};
  may["engine"] = with(may["policy"], {"policy"});
  may["api"] = {"base", "domain"};
  may["store"] = {"base", "os", "domain"};
  may["json"] = {};
  may["native"] = {"base", "os", "wire", "domain", "api", "json"};
  may["kube"] = {"base", "os", "wire", "domain", "api", "json"};
  may["relay"] = {"base", "os", "wire", "tls", "domain"};
  may["member"] = with(may["native"], {"native", "tls", "relay"});
  may["slurm"] = with(may["native"], {"native"});
  may["agent"] = with(may["native"], {"native", "tls", "relay", "member"});
  may["observe"] = {"base", "domain", "api"};
  may["control"] = {"base",   "os",     "wire", "tls",   "domain", "policy",
                    "engine", "api",    "store", "native", "relay"};
  may["sim"] = {"base", "os", "domain", "policy", "engine", "api", "store"};
  may["cli"] = {"base", "os", "wire", "domain", "policy", "engine", "api", "store", "native", "member", "sim"};
  may["app"] = {"base", "os", "wire", "tls", "relay", "domain", "policy", "engine", "api", "store", "native",
                "slurm", "kube", "agent", "member", "observe", "control", "sim", "cli"};
  return may;
}

// Word, the layers where it may appear, what to use instead.
struct Ban {
  std::string_view word;
  Names only_in;
  std::string_view instead;
};
const Ban kBans[] = {
    {"system_clock", {"os"}, "an Instant argument, or os/clock.h at the edges"},
    {"steady_clock", {"os"}, "an Instant argument, or os/clock.h at the edges"},
    {"random_device", {"os"}, "a Random& argument"},
    {"uniform_int_distribution", {}, "Random::below: the standard doesn't fix its numbers"},
    {"unordered_", {"os", "wire", "native", "control", "agent", "slurm", "store"}, "an ordered container"},
    {"<thread>",
     {"os", "wire", "relay", "control", "kube", "agent", "store", "app", "cli"},
     "nothing: the core has no threads"},
    {"<mutex>",
     {"os", "wire", "tls", "relay", "control", "kube", "agent", "store", "app"},
     "nothing: the core has no threads"},
    {"<regex>", {}, "a hand-written parser"},
    {"boost/", {"wire", "tls", "json", "native", "kube", "slurm", "cli", "sim", "observe"}, "wire's or native's own types"},
    {"sqlite3.h", {"store"}, "store/log.h"},
    {"assert(", {}, "CHECK, which stays on"},
};

template <class Visit>
void each_line(Visit visit) {
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "src")) {
    const std::string ending = entry.path().extension().string();
    if (!entry.is_regular_file() || (ending != ".cc" && ending != ".h")) continue;
    const std::string layer = fs::relative(entry.path(), kRoot / "src").begin()->string();
    std::ifstream in(entry.path());
    int number = 0;
    for (std::string line; std::getline(in, line);) visit(entry.path(), layer, ++number, line);
  }
}

// The layer named by an include of our own, or "".
std::string included_layer(const std::string& line) {
  constexpr std::string_view kStart = "#include \"";
  if (!line.starts_with(kStart)) return {};
  const auto slash = line.find('/', kStart.size());
  return slash == std::string::npos ? std::string{} : line.substr(kStart.size(), slash - kStart.size());
}

std::string where(const fs::path& file, int number) {
  return fs::relative(file, kRoot).string() + ":" + std::to_string(number);
}

TEST(Tidy, LayersPointDownwards) {
  const auto may = layers();
  each_line([&](const fs::path& file, const std::string& layer, int number, const std::string& line) {
    ASSERT_TRUE(may.contains(layer)) << where(file, number) << ": folder is not in the layer table";
    const std::string target = included_layer(line);
    if (target.empty()) return;
    EXPECT_TRUE(target == layer || may.at(layer).contains(target))
        << where(file, number) << ": " << layer << " must not include " << target;
  });
}

TEST(Tidy, NoHiddenInputs) {
  each_line([&](const fs::path& file, const std::string& layer, int number, const std::string& line) {
    if (file.string().ends_with("_test.cc")) return;
    for (const Ban& ban : kBans) {
      if (ban.only_in.contains(layer) || line.find("static_assert(") != std::string::npos) continue;
      EXPECT_EQ(line.find(ban.word), std::string::npos)
          << where(file, number) << ": " << ban.word << " is banned here, use " << ban.instead;
    }
  });
}

TEST(Tidy, SmallFilesAndShortLines) {
  std::map<fs::path, int> length;
  each_line([&](const fs::path& file, const std::string&, int number, const std::string& line) {
    length[file] = number;
    EXPECT_LE(line.size(), 120U) << where(file, number) << ": line is too long";
  });
  for (const auto& [file, lines] : length) {
    EXPECT_LE(lines, file.string().ends_with("_test.cc") ? 800 : 500) << file << " wants to be two ideas";
  }
}

TEST(Tidy, HeadersSayPragmaOnceAndNothingIsLeftOver) {
  std::map<fs::path, bool> once;
  each_line([&](const fs::path& file, const std::string&, int number, const std::string& line) {
    if (file.extension() == ".h") once[file] = once[file] || line == "#pragma once";
    for (const std::string_view word : {"TODO", "FIXME", "XXX"}) {
      EXPECT_EQ(line.find(word), std::string::npos) << where(file, number) << ": finish it, or note it";
    }
  });
  for (const auto& [file, found] : once) EXPECT_TRUE(found) << file;
}

}  // namespace
