#include "os/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/clock.h"
#include "os/temp_folder.h"

namespace drover {
namespace {

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }
  TempFolder folder_;
};

TEST_F(FileTest, ADurableWriteReplacesTheWholeFile) {
  ASSERT_TRUE(write_file_durably(path("a"), "a long first text"));
  const std::string_view parts[] = {"one ", "two"};
  ASSERT_TRUE(write_file_durably(path("a"), parts, 0640));
  EXPECT_EQ(*read_file(path("a")), "one two");
  EXPECT_EQ(list_folder(folder_.path())->size(), 1U);
  struct stat info {};
  ASSERT_EQ(::stat(path("a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640U);
}

TEST_F(FileTest, AnErrorNamesItsFile) {
  const auto missing = read_file(path("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  EXPECT_NE(missing.error().message.find(path("none")), std::string::npos);
  EXPECT_FALSE(write_file_durably(path("none/deeper"), "x"));
}

TEST_F(FileTest, FoldersAreMadeOnTheWay) {
  ASSERT_TRUE(make_folders(path("x/y/z")));
  ASSERT_TRUE(make_folders(path("x/y/z")));
  ASSERT_TRUE(write_file_durably(path("x/file"), ""));
  EXPECT_FALSE(make_folders(path("x/file/y")));
}

TEST_F(FileTest, ASecondHolderIsToldThePidOfTheFirst) {
  const auto first = lock_file(path("lock"));
  ASSERT_TRUE(first);
  const auto second = lock_file(path("lock"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::conflict);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
}

TEST_F(FileTest, PreallocatedSpaceIsRealSpace) {
  const auto file = open_file(path("reserve"), O_RDWR | O_CREAT);
  ASSERT_TRUE(file);
  ASSERT_TRUE(preallocate(*file, 1 << 20, "reserve"));
  struct stat info {};
  ASSERT_EQ(::fstat(file->get(), &info), 0);
  EXPECT_GE(info.st_blocks * 512, 1 << 20);
  EXPECT_GT(disk_space(folder_.path())->total, disk_space(folder_.path())->free);
}

TEST(Clock, WallTimeIsAfterThisFileWasWritten) {
  EXPECT_GT(wall_now(), Instant(seconds(1'700'000'000)));
  EXPECT_GT(since_boot(), Duration(0));
}

}  // namespace
}  // namespace drover
