#include "slurm/step/board.h"

#include <gtest/gtest.h>

#include <csignal>

namespace drover::slurm {
namespace {

using Lines = std::vector<std::string>;

TaskBoard board_of(std::uint32_t tasks, std::uint32_t per_node) {
  TaskBoard board("StepId=17.0");
  for (std::uint32_t task = 0; task < tasks; ++task)
    board.add(task, "n" + std::to_string(task / per_node + 1));
  return board;
}

TEST(TaskBoard, SaysEqualEndsOfANodeTogether) {
  TaskBoard board = board_of(6, 4);
  for (const std::uint32_t task : {3U, 0U, 1U, 2U})
    board.ended({.task = task, .exit = {.code = 1}});
  board.ended({.task = 4, .exit = {.code = 7}});
  board.ended({.task = 5, .exit = {.signal = SIGKILL}});
  EXPECT_EQ(board.take_failures(),
            (Lines{"n1: tasks 0-3: Exited with exit code 1", "n2: task 4: Exited with exit code 7",
                   "n2: task 5: Killed"}));
  EXPECT_FALSE(board.has_failures());
  EXPECT_TRUE(board.all_ended());
  EXPECT_TRUE(board.forced());
  EXPECT_EQ(board.exit_status(), 137);
}

TEST(TaskBoard, KnowsWhoRuns) {
  TaskBoard board = board_of(5, 5);
  for (std::uint32_t task = 0; task < 4; ++task) board.started(task);
  board.ended({.task = 0});
  board.ended({.task = 1, .exit = {.code = 2}});
  EXPECT_EQ(board.status(),
            (Lines{"StepId=17.0 tasks 2-3: running", "StepId=17.0 task 1: exited abnormally",
                   "StepId=17.0 task 0: exited", "StepId=17.0 task 4: unknown"}));
  EXPECT_FALSE(board.forced());
}

TEST(TaskBoard, CountsEachEndOnceAndLostTasksAsFailed) {
  TaskBoard board = board_of(3, 2);
  board.ended({.task = 0});
  board.ended({.task = 0, .exit = {.code = 9}});
  EXPECT_EQ(board.exit_status(), 0);
  board.ended({.task = 1, .exit = {.signal = SIGKILL}, .out_of_memory = true});
  board.lost("n2", "Node failure");
  board.ended({.task = 2});
  EXPECT_TRUE(board.all_ended());
  EXPECT_EQ(board.take_failures(),
            (Lines{"n1: task 1: Out Of Memory", "n2: task 2: Node failure"}));
}

TEST(TaskList, JoinsNeighbours) {
  EXPECT_EQ(task_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(task_list({0, 2, 4}), "0,2,4");
}

}  // namespace
}  // namespace drover::slurm
