#include "native/discovery.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/login.h"
#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::native {
namespace {

void put(const std::string& path, const std::string& text) {
  ASSERT_TRUE(make_folders(path.substr(0, path.rfind('/')), 0755).has_value());
  ASSERT_TRUE(write_file_durably(path, text, 0644).has_value());
}

Surroundings user(const TempFolder& root) {
  return {.uid = ::geteuid(), .home = root.path("home"), .root = root.path()};
}

TEST(Discovery, TheChosenStateWins) {
  const TempFolder root;
  Surroundings at = user(root);
  at.chosen = "/elsewhere";
  EXPECT_EQ(*find_state_dir(at), "/elsewhere");
}

TEST(Discovery, TheAgentOfANodeWithoutAControllerIsAsked) {
  const TempFolder root;
  Surroundings at = user(root);
  at.agent = root.path("agent");
  at.chosen = root.path("far");
  EXPECT_EQ(*find_state_dir(at), at.chosen) << "that agent passes nothing on";
  put(socket_in(at.agent), "");
  EXPECT_EQ(*find_state_dir(at), at.agent);
  put(socket_in(at.chosen), "");
  EXPECT_EQ(*find_state_dir(at), at.chosen);
}

TEST(Discovery, ThePointerLeadsToTheClusterUntilItIsTakenAway) {
  const TempFolder root;
  const Surroundings at = user(root);
  EXPECT_FALSE(find_state_dir(at));
  ASSERT_TRUE(write_pointer(at, root.path("state")).has_value());
  EXPECT_EQ(*find_state_dir(at), root.path("state")) << "though its controller is away";
  remove_pointer(at, root.path("other"));
  EXPECT_EQ(*find_state_dir(at), root.path("state")) << "it leads elsewhere";
  remove_pointer(at, root.path("state"));
  EXPECT_FALSE(find_state_dir(at));
}

TEST(Discovery, AControllerThatAnswersIsPreferredToASilentPointer) {
  const TempFolder root;
  const Surroundings at = user(root);
  ASSERT_TRUE(write_pointer(at, root.path("silent")).has_value());
  put(socket_in(default_state_dir(at)), "");
  EXPECT_EQ(*find_state_dir(at), default_state_dir(at));
}

TEST(Discovery, WithoutPointerTheDefaultStateIsTried) {
  const TempFolder root;
  const Surroundings at = user(root);
  put(socket_in(default_state_dir(at)), "");
  EXPECT_EQ(*find_state_dir(at), default_state_dir(at));
}

TEST(Discovery, APointerThatOthersMayWriteIsNotFollowed) {
  const TempFolder root;
  const Surroundings at = user(root);
  put(pointer_file(at), root.path("state"));
  put(socket_in(root.path("state")), "");
  ASSERT_EQ(::chmod(pointer_file(at).c_str(), 0666), 0);
  EXPECT_FALSE(find_state_dir(at));
  ASSERT_EQ(::chmod(pointer_file(at).c_str(), 0644), 0);
  const std::string folder = pointer_file(at).substr(0, pointer_file(at).rfind('/'));
  ASSERT_EQ(::chmod(folder.c_str(), 01777), 0);
  EXPECT_FALSE(find_state_dir(at));
  EXPECT_FALSE(write_pointer(at, root.path("state")));
}

TEST(Discovery, EachUserHasAPlaceOfHisOwn) {
  Surroundings at{.uid = 1000, .home = "/home/a"};
  EXPECT_EQ(default_state_dir(at), "/home/a/.local/state/drover");
  EXPECT_EQ(pointer_file(at), "/tmp/drover-1000/state");
  at.state_home = "/home/a/s";
  at.runtime_dir = "/run/user/1000";
  EXPECT_EQ(default_state_dir(at), "/home/a/s/drover");
  EXPECT_EQ(pointer_file(at), "/run/user/1000/drover/state");
  at.uid = 0;
  EXPECT_EQ(default_state_dir(at), "/var/lib/drover");
  EXPECT_EQ(pointer_file(at), "/run/drover/state");
}

TEST(Discovery, NodesOfDifferentStatesNeverMeet) {
  const TempFolder root;
  const Surroundings at = user(root);
  ASSERT_TRUE(make_folders(root.path("a")).has_value());
  ASSERT_TRUE(make_folders(root.path("b")).has_value());
  const auto a = node_paths(at, root.path("a"), "n1");
  const auto b = node_paths(at, root.path("b"), "n1");
  ASSERT_TRUE(a && b);
  EXPECT_NE(a->folder, b->folder);
  EXPECT_NE(a->cgroup_root, b->cgroup_root);
  EXPECT_EQ(a->folder, node_paths(at, root.path("b/../a/"), "n1")->folder);
  EXPECT_TRUE(a->folder.starts_with(pointer_file(at).substr(0, pointer_file(at).rfind('/'))));
  EXPECT_FALSE(node_paths(at, root.path("none"), "n1"));
}

TEST(Discovery, ALoginCountsWhereNoClusterIs) {
  const TempFolder root;
  Surroundings at = user(root);
  put(login_in(root.path("home/.config/drover")), "");
  EXPECT_EQ(*find_state_dir(at), root.path("home/.config/drover"));
  at.config_home = root.path("config");
  EXPECT_FALSE(find_state_dir(at));
  put(login_in(root.path("config/drover")), "");
  EXPECT_EQ(*find_state_dir(at), root.path("config/drover"));
  put(socket_in(default_state_dir(at)), "");
  EXPECT_EQ(*find_state_dir(at), default_state_dir(at));
}

TEST(Login, SaysAsWhom) {
  const TempFolder root;
  EXPECT_FALSE(logged_in(root.path()));
  put(login_in(root.path()), "controller: host:7411\nuser: 1000:ann\n");
  ASSERT_TRUE(logged_in(root.path()));
  EXPECT_EQ(logged_in(root.path())->uid, 1000U);
  EXPECT_EQ(logged_in(root.path())->user, "ann");
  put(login_in(root.path()), "controller: host:7411\nuser: x\n");
  EXPECT_FALSE(logged_in(root.path()));
}

}  // namespace
}  // namespace drover::native
