#include "agent/pod/volume.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::agent {
namespace {

struct Volumes : ::testing::Test {
  Volumes() : folder{.brief = at.path("brief"), .lasting = at.path("lasting")} {
    owner.user = ::geteuid();
    owner.group = ::getegid();
  }
  Status make(PodVolume volume) { return make_volumes({std::move(volume)}, folder, owner); }
  static unsigned mode(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777U : 0;
  }
  TempFolder at;
  PodFolder folder;
  VolumeOwner owner;
};

TEST(InnerPath, LeadsNowhereElse) {
  for (const char* good : {"a", "a/b", "..data/x", "a..b"}) EXPECT_TRUE(is_inner_path(good)) << good;
  for (const char* bad : {"", "/a", "a//b", "..", "a/../b", "./a", "a/"}) EXPECT_FALSE(is_inner_path(bad)) << bad;
  EXPECT_FALSE(is_inner_path(std::string("a\0b", 3)));
}

TEST_F(Volumes, FilesAreWrittenWithTheirModesAndReplacedAsAWhole) {
  ASSERT_TRUE(make({.name = "f", .kind = VolumeKind::files,
                    .files = {{.path = "a/b", .bytes = "1", .mode = 0400}, {.path = "c", .bytes = "2"}}}));
  EXPECT_EQ(*read_file(folder.files() + "/f/a/b"), "1");
  EXPECT_EQ(mode(folder.files() + "/f/a/b"), 0400U);
  EXPECT_EQ(mode(folder.files() + "/f/c"), 0644U);
  ASSERT_TRUE(write_files({{.path = "d", .bytes = "3"}}, folder.files() + "/f", owner));
  EXPECT_FALSE(file_exists(folder.files() + "/f/c"));
  owner.fs_group = ::getegid();
  ASSERT_TRUE(write_files({{.path = "d", .bytes = "3", .mode = 0400}}, folder.files() + "/f", owner));
  EXPECT_EQ(mode(folder.files() + "/f/d"), 0440U);
}

TEST_F(Volumes, NoNameLeadsOut) {
  for (const char* bad : {"../x", "/etc/x", "a/../../x"}) {
    EXPECT_FALSE(make({.name = "f", .kind = VolumeKind::files, .files = {{.path = bad, .bytes = "1"}}})) << bad;
  }
  EXPECT_FALSE(make({.name = "../f"}));
  EXPECT_FALSE(make({.name = "h", .kind = VolumeKind::host_path, .host_path = "/tmp/../etc"}));
  EXPECT_FALSE(make({.name = "h", .kind = VolumeKind::host_path, .host_path = "etc"}));
  EXPECT_FALSE(file_exists(at.path("x")));
}

TEST_F(Volumes, PathsOfTheMachineAreOfTheirType) {
  std::ofstream(at.path("file")) << "x";
  const auto check = [&](const std::string& path, const std::string& type) {
    return make({.name = "h", .kind = VolumeKind::host_path, .host_path = path, .host_type = type}).has_value();
  };
  EXPECT_TRUE(check(at.path("file"), "File"));
  EXPECT_FALSE(check(at.path("file"), "Directory"));
  EXPECT_FALSE(check(at.path("none"), "Directory"));
  EXPECT_TRUE(check(at.path("new/folder"), "DirectoryOrCreate"));
  EXPECT_TRUE(file_exists(at.path("new/folder")));
  EXPECT_TRUE(check(at.path("newfile"), "FileOrCreate"));
  EXPECT_TRUE(check("/dev/null", "CharDevice"));
  EXPECT_FALSE(check("/dev/null", "Socket"));
  EXPECT_FALSE(check("/dev/null", "Nonsense"));
}

TEST_F(Volumes, AnEmptyOneIsEverybodysAndALinkInItsPlaceIsRefused) {
  ASSERT_TRUE(make({.name = "e"}));
  EXPECT_EQ(mode(folder.volumes() + "/e"), 0777U);
  ASSERT_EQ(::symlink("/etc", (folder.volumes() + "/link").c_str()), 0);
  EXPECT_FALSE(make({.name = "link"}));
}

TEST_F(Volumes, APartIsBoundAndALinkOutOfTheVolumeIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_TRUE(make({.name = "e"}));
  const std::string volume = folder.volumes() + "/e";
  ASSERT_EQ(::symlink("/etc", (volume + "/out").c_str()), 0);
  ASSERT_EQ(::symlink("../../..", (volume + "/up").c_str()), 0);
  EXPECT_FALSE(bind_part(volume, "out", folder.subpaths() + "/0-0/0"));
  EXPECT_FALSE(bind_part(volume, "up", folder.subpaths() + "/0-0/1"));
  EXPECT_FALSE(bind_part(volume, "out/new", folder.subpaths() + "/0-0/2"));
  EXPECT_FALSE(file_exists("/etc/new"));
  EXPECT_FALSE(bind_part(volume, "../e", folder.subpaths() + "/0-0/3"));
  ASSERT_TRUE(bind_part(volume, "a/b", folder.subpaths() + "/0-0/4"));
  std::ofstream(folder.subpaths() + "/0-0/4/x") << "1";
  EXPECT_EQ(*read_file(volume + "/a/b/x"), "1");
  std::ofstream(volume + "/file") << "2";
  ASSERT_TRUE(bind_part(volume, "file", folder.subpaths() + "/0-0/5"));
  EXPECT_EQ(*read_file(folder.subpaths() + "/0-0/5"), "2");
  // What is only bound isn't deleted with its place.
  ASSERT_TRUE(remove_with_mounts(folder.subpaths()));
  EXPECT_FALSE(file_exists(folder.subpaths()));
  EXPECT_EQ(*read_file(volume + "/a/b/x"), "1");
}

TEST_F(Volumes, MemoryIsLimitedAndGoesWithItsMount) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_TRUE(make({.name = "m", .kind = VolumeKind::memory, .size_limit = mebibytes(1)}));
  EXPECT_LE(disk_space(folder.volumes() + "/m")->total, std::uint64_t{1} << 20U);
  ASSERT_TRUE(remove_with_mounts(folder.volumes()));
  EXPECT_FALSE(file_exists(folder.volumes()));
}

}  // namespace
}  // namespace drover::agent
