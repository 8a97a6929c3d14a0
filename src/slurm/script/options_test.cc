#include "slurm/script/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "slurm/exit.h"
#include "slurm/script/options_table.h"

namespace drover::slurm {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const OptionContext kContext{.now = 1796063262};

struct Given {
  std::string script;  // directives without #!
  Environment environment;
  std::vector<std::string> words;
  OptionContext context = kContext;
};

Result<SbatchOptions> read(const Given& given) {
  const CommandLine line = TRY(split_command_line(given.words, given.context));
  return combine_options("#!/bin/sh\n" + given.script, "job.sh", given.environment, line, given.context);
}

SbatchOptions good(const Given& given) {
  auto options = read(given);
  EXPECT_TRUE(options.has_value()) << (options ? "" : options.error().message);
  return options ? std::move(options).value() : SbatchOptions{};
}

std::string failure(const Given& given) {
  const auto options = read(given);
  if (options) return "accepted";
  return options.error().message + " [exit " + std::to_string(exit_code(options.error().code)) + "]";
}

TEST(Options, TheCommandLineBeatsTheEnvironmentBeatsTheScript) {  // C83
  const std::string script = "#SBATCH -t 10\n";
  EXPECT_EQ(good({script, {{"SBATCH_TIMELIMIT", "20"}}, {"-t", "30"}}).time_limit, minutes(30));
  EXPECT_EQ(good({script, {{"SBATCH_TIMELIMIT", "20"}}, {}}).time_limit, minutes(20));
  EXPECT_EQ(good({script, {}, {}}).time_limit, minutes(10));
  EXPECT_FALSE(good({"", {}, {}}).time_set);
  EXPECT_EQ(good({"#SBATCH -t 10\n#SBATCH -t 11\n", {}, {}}).time_limit, minutes(11));
}

TEST(Options, TakeEveryShapeOfWord) {
  const SbatchOptions options =
      good({"#SBATCH -N2 --ntasks-per-node 8 --err=e.txt\n#SBATCH -HO -p debug --constrain=a100\n",
            {},
            {"-Jname", "--mem=64G", "--gres", "gpu:a100:2", "job.sh", "-x", "arg"}});
  EXPECT_EQ(options.nodes, (NodeRange{2, 2}));
  EXPECT_EQ(options.ntasks_per_node, 8U);
  EXPECT_EQ(options.error, "e.txt");
  EXPECT_TRUE(options.hold);
  EXPECT_TRUE(options.overcommit);
  EXPECT_EQ(options.partition, "debug");
  EXPECT_EQ(options.constraint, "a100");
  EXPECT_EQ(options.job_name, "name");
  EXPECT_EQ(options.mem_mib.value, 65536);
  EXPECT_EQ(options.gres, (std::vector<Gres>{{"gpu", "a100", 2}}));
  EXPECT_TRUE(options.exclude.empty());
  EXPECT_EQ(split_command_line({"-N1", "job.sh", "-x", "arg"}, kContext).value().script_words,
            (std::vector<std::string>{"job.sh", "-x", "arg"}));
}

TEST(Options, CarryWhatTheTablesPromise) {
  const SbatchOptions options =
      good({"#SBATCH --array=0-9%2 --signal=B:USR1@90 --open-mode=append --no-requeue --wait-all-nodes=1\n"
            "#SBATCH --dependency=afterok:7,singleton --export=ALL,A=b --mail-type=end,FAIL --mail-user=a@b\n"
            "#SBATCH --exclude=n[1-2] --nodelist n3 --hint=nomultithread --nice --begin=now+60 --exclusive\n"
            "#SBATCH --comment 'a b' --wckey=w -A acc -q high --gpus-per-task=1 -G a100:3 --cpus-per-gpu=6\n"
            "#SBATCH --mem-per-gpu=20G -D /tmp -i in --priority=7 --extra='gpu_memory>=40GB' --get-user-env\n",
            {},
            {}});
  EXPECT_EQ(options.array.value().tasks.size(), 10U);
  EXPECT_EQ(options.array.value().at_once, 2U);
  EXPECT_EQ(options.signal, (SignalSpec{10, 90, true, false}));
  EXPECT_EQ(options.open_mode, OpenMode::append);
  EXPECT_EQ(options.requeue, false);
  EXPECT_EQ(options.wait_all_nodes, true);
  EXPECT_EQ(options.dependency.value().list.size(), 2U);
  EXPECT_EQ(options.export_env, "ALL,A=b");
  EXPECT_EQ(options.mail_types, (std::vector<std::string>{"END", "FAIL"}));
  EXPECT_EQ(options.exclude, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(options.hint, Hint::nomultithread);
  EXPECT_EQ(options.nice, 100);
  EXPECT_EQ(options.begin, kContext.now + 60);
  EXPECT_TRUE(options.exclusive);
  EXPECT_EQ(options.comment, "a b");
  EXPECT_EQ(options.gpus, (std::vector<Gres>{{"gpu", "a100", 3}}));
  EXPECT_EQ(options.cpus_per_gpu.value, 6U);
  EXPECT_EQ(options.mem_per_gpu_mib.value, 20480);
  EXPECT_EQ(options.priority, 7U);
  EXPECT_EQ(options.extra, "gpu_memory>=40GB");
  EXPECT_TRUE(options.get_user_env);
}

TEST(Options, WrongWordsSayWhatSlurmSays) {
  const std::string usage = "\nTry \"sbatch --help\" for more information [exit 255]";
  EXPECT_EQ(failure({.words = {"-t", "1.5h"}}), "sbatch: error: Invalid --time specification [exit 255]");
  EXPECT_EQ(failure({.words = {"--mem=2.5G"}}), "sbatch: error: Invalid --mem specification [exit 255]");
  EXPECT_EQ(failure({.words = {"--bogus", "--wrap", "true"}}), "sbatch: unrecognized option '--bogus'" + usage);
  EXPECT_EQ(failure({.script = "#SBATCH --nosuch=1\n"}), "sbatch: unrecognized option '--nosuch=1'" + usage);
  EXPECT_EQ(failure({.script = "#SBATCH -N1\n#SBATCH --nosuch\n"}), "sbatch: unrecognized option '--nosuch'" + usage);
  EXPECT_EQ(failure({.words = {"-Z"}}), "sbatch: invalid option -- 'Z'" + usage);
  EXPECT_EQ(failure({.words = {"-HZ"}}), "sbatch: invalid option -- 'Z'" + usage);
  EXPECT_EQ(failure({.words = {"-N"}}), "sbatch: option requires an argument -- 'N'" + usage);
  EXPECT_EQ(failure({.words = {"--nodes"}}), "sbatch: option '--nodes' requires an argument" + usage);
  EXPECT_EQ(failure({.words = {"--hold=1"}}), "sbatch: option '--hold' doesn't allow an argument" + usage);
  EXPECT_THAT(failure({.words = {"--no"}}),
              StartsWith("sbatch: option '--no' is ambiguous; possibilities: '--no-requeue'"));
  EXPECT_THAT(failure({.words = {"--partiton=x"}}), HasSubstr("\nsbatch: did you mean '--partition'?"));
  EXPECT_EQ(failure({.words = {"-n", "x"}}), "sbatch: error: Invalid numeric value \"x\" for --ntasks. [exit 255]");
  EXPECT_EQ(failure({.words = {"-N", "x"}}), "sbatch: error: \"x\" is not a valid node count [exit 255]");
}

TEST(Options, StrayWordsInDirectivesAreErrors) {  // C97
  const std::string words = "sbatch: error: Invalid directive found in batch script: ";
  EXPECT_EQ(failure({.script = "#SBATCH --gres=gpu:1 extra\n"}), words + "extra [exit 255]");
  EXPECT_EQ(failure({.script = "#SBATCH -oe file\n"}), words + "file [exit 255]");
  EXPECT_EQ(failure({.script = "#SBATCH --constraint <x> or more\n"}), words + "or [exit 255]");
}

TEST(Options, WhatTheControllerWouldRefuseEndsWithOne) {
  EXPECT_THAT(
      failure({.words = {"-d", "afterok:x"}}),
      StartsWith("sbatch: error: Batch job submission failed: Job dependency problem\nsbatch: error: 'x' is not"));
  EXPECT_THAT(failure({.words = {"-a", "3-1"}}), HasSubstr("Invalid job array specification"));
  EXPECT_THAT(failure({.words = {"--gres=gpu:x:y:z"}}), HasSubstr("Invalid generic resource (gres) specification"));
  EXPECT_THAT(failure({.words = {"-w", "n["}}), HasSubstr("Invalid node name specified"));
  EXPECT_THAT(failure({.words = {"-d", "afterok:x"}}), HasSubstr("[exit 1]"));
}

TEST(Options, EveryMalformedValueIsRefused) {
  for (const char* word : {"--begin=soon",
                           "--signal=NOSUCH",
                           "--open-mode=x",
                           "--mail-type=x",
                           "--hint=x",
                           "--nice=x",
                           "--priority=-1",
                           "--wait-all-nodes=2",
                           "--kill-on-invalid-dep=perhaps",
                           "--mem-per-cpu=-1",
                           "--mem-per-gpu=1.5G",
                           "-c0",
                           "-n0",
                           "-N0",
                           "-N2-1",
                           "--ntasks-per-node=",
                           "--gpus=x:y:z",
                           "--gpus-per-node=-1",
                           "--exclude=a,,b",
                           "--cpus-per-gpu=a",
                           "--exclusive=topo",
                           "--requeue=expedite",
                           "--signal=R:USR1",
                           "--nodelist=./hosts",
                           "-N99999999999"}) {
    EXPECT_NE(failure({.words = {word}}), "accepted") << word;
  }
}

TEST(Options, OptionsWeLackAreRefusedByName) {
  EXPECT_EQ(failure({.words = {"--burst-buffer=x"}}),
            "sbatch: error: --burst-buffer is not supported by drover yet: copy files in the script [exit 255]");
  EXPECT_EQ(failure({.words = {"--profile=all"}}),
            "sbatch: error: --profile is not supported by drover yet: remove it [exit 255]");
  EXPECT_EQ(failure({.script = "#SBATCH -N1\n#SBATCH hetjob\n#SBATCH -N2\n"}),
            "sbatch: error: #SBATCH hetjob is not supported by drover yet: submit one job for each part [exit 255]");
  EXPECT_EQ(failure({.environment = {{"SBATCH_RESERVATION", "r"}}}),
            "sbatch: error: SBATCH_RESERVATION (--reservation) is not supported by drover yet: unset it [exit 255]");
  EXPECT_THAT(failure({.words = {"--container-image", "x"}}), HasSubstr("--container-image is not supported"));
}

TEST(Options, ASiteMayAcceptForeignOptions) {
  OptionContext context = kContext;
  context.accepted_foreign = {"container-image", "environment"};
  const auto options = good({.script = "#SBATCH --container-image=a\\#b --environment=x\n", .context = context});
  EXPECT_EQ(options.foreign, (std::map<std::string, std::string>{{"container-image", "a#b"}, {"environment", "x"}}));
}

TEST(Options, OfSizesThatExcludeEachOtherTheStrongerSourceWins) {
  const auto options = good({"#SBATCH --mem=1G\n", {}, {"--mem-per-cpu=2G"}});
  EXPECT_FALSE(options.mem_mib.set());
  EXPECT_EQ(options.mem_per_cpu_mib.value, 2048);
  EXPECT_EQ(failure({.words = {"--mem=1", "--mem-per-cpu=1"}}),
            "sbatch: fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive. [exit 255]");
  EXPECT_NE(failure({.words = {"-c1", "--cpus-per-gpu=1"}}), "accepted");
}

TEST(Options, TheTableNamesEachOptionAndLetterOnce) {
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const OptionRow& row : option_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    if (row.letter != 0) {
      EXPECT_TRUE(letters.insert(row.letter).second) << row.letter;
    }
  }
}

TEST(Options, AWrapTakesNoArguments) {
  EXPECT_EQ(failure({.words = {"--wrap", "true", "x"}}),
            "sbatch: error: Script arguments not permitted with --wrap option [exit 255]");
}

}  // namespace
}  // namespace drover::slurm
