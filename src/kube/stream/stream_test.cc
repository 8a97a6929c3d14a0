// The parts of streams that are plain functions.
#include <gtest/gtest.h>

#include "kube/json/parse.h"
#include "kube/json/print.h"
#include "kube/stream/channels.h"
#include "kube/stream/container.h"
#include "kube/stream/limits.h"
#include "kube/stream/protocol.h"
#include "kube/stream/query.h"
#include "kube/stream/refusal.h"

namespace drover::kube {
namespace {

wire::Target target(std::string_view query) {
  return wire::parse_target("/api/v1/namespaces/default/pods/p/exec?" + std::string(query)).value();
}

const Value kTwo =
    parse(R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"a"},{"name":"b"}],
  "initContainers":[{"name":"i"}]},"status":{"containerStatuses":[
    {"name":"a","state":{"waiting":{"reason":"ContainerCreating"}}},
    {"name":"b","state":{"running":{}},"lastState":{"terminated":{"exitCode":1}}}],
  "initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ImagePullBackOff"}}}]}})")
        .value();

TEST(Container, IsTheOneNamedOrTheOnlyOneOrThatOfTheAnnotation) {
  EXPECT_EQ(*chosen_container(kTwo, "b"), "b");
  EXPECT_EQ(*chosen_container(kTwo, "i"), "i");
  EXPECT_EQ(chosen_container(kTwo, "").error().message,
            "a container name must be specified for pod x, choose one of: [a b] or one of the init "
            "containers: [i]");
  EXPECT_EQ(chosen_container(kTwo, "c").error().message, "container c is not valid for pod x");
  const Value one =
      parse(R"({"metadata":{"name":"x"},"spec":{"containers":[{"name":"main"}]}})").value();
  EXPECT_EQ(*chosen_container(one, ""), "main");
  Value annotated = kTwo;
  make_object(annotated.as_object()["metadata"].as_object(),
              "annotations")["kubectl.kubernetes.io/default-container"] = "b";
  EXPECT_EQ(*chosen_container(annotated, ""), "b");
}

TEST(Container, ThatHasNotStartedHasNoLogYet) {
  EXPECT_TRUE(has_log(kTwo, "b", false).has_value());
  EXPECT_TRUE(has_log(kTwo, "b", true).has_value());
  EXPECT_EQ(has_log(kTwo, "a", false).error().message,
            R"(container "a" in pod "x" is waiting to start: ContainerCreating)");
  EXPECT_EQ(has_log(kTwo, "i", false).error().message,
            R"(container "i" in pod "x" is waiting to start: trying and failing to pull image)");
  EXPECT_EQ(has_log(kTwo, "a", true).error().message,
            R"(previous terminated container "a" in pod "x" not found)");
  EXPECT_EQ(has_log(kTwo, "z", false).error().message,
            R"(container "z" in pod "x" is not available)");
}

TEST(Query, OfALogIsReadAndItsMistakesAreNamed) {
  const auto query = parse_log_query(
      target("follow=true&previous=false&timestamps&tailLines=5&limitBytes=100&sinceSeconds=60"));
  ASSERT_TRUE(query.has_value());
  EXPECT_TRUE(query->follow);
  EXPECT_FALSE(query->previous);
  EXPECT_TRUE(query->timestamps);
  EXPECT_EQ(query->tail, 5);
  EXPECT_EQ(query->most, 100U);
  EXPECT_EQ(*query->since_ago, seconds(60));
  EXPECT_EQ(parse_log_query(target("")).value().tail, -1);
  EXPECT_EQ(parse_log_query(target("tailLines=-1")).error().message,
            "tailLines: Invalid value: -1: must be greater than or equal to 0");
  EXPECT_EQ(parse_log_query(target("limitBytes=0")).error().message,
            "limitBytes: Invalid value: 0: must be greater than 0");
  EXPECT_FALSE(parse_log_query(target("tailLines=many")).has_value());
  EXPECT_TRUE(parse_log_query(target("sinceTime=2026-12-01T00:00:00Z")).value().since.has_value());
  EXPECT_FALSE(parse_log_query(target("sinceTime=yesterday")).has_value());
  EXPECT_FALSE(
      parse_log_query(target("sinceTime=2026-12-01T00:00:00Z&sinceSeconds=1")).has_value());
}

TEST(Query, OfACommandKeepsItsWordsInOrder) {
  const auto query = parse_command_query(
      target("command=sh&command=-c&command=a%20b&stdin=true&stdout=true&stderr=1&tty=0"), true);
  ASSERT_TRUE(query.has_value());
  EXPECT_EQ(query->command, (std::vector<std::string>{"sh", "-c", "a b"}));
  EXPECT_TRUE(query->input && query->output && query->errors && !query->terminal);
  EXPECT_FALSE(
      parse_command_query(target("command=a&stderr=1&stdout=1&tty=1"), true).value().errors);
  EXPECT_EQ(parse_command_query(target("command=a"), true).error().message,
            "you must specify at least 1 of stdin, stdout, stderr");
  EXPECT_FALSE(parse_command_query(target("stdout=1"), true).has_value());
  EXPECT_TRUE(parse_command_query(target("stdout=1"), false).has_value());
}

TEST(Channels, CarryInputSizesAndTheEndOfInput) {
  EXPECT_EQ(std::get<PodInput>(*parse_channel(std::string("\0hi", 3), false)).bytes, "hi");
  const auto size = std::get<PodResize>(*parse_channel("\4{\"Width\":80,\"Height\":24}", false));
  EXPECT_EQ(size.columns, 80U);
  EXPECT_EQ(size.rows, 24U);
  const std::string end("\xff\0", 2);
  EXPECT_TRUE(std::get<PodInput>(*parse_channel(end, true)).last);
  EXPECT_FALSE(parse_channel(end, false).has_value());
  EXPECT_TRUE(std::holds_alternative<NoMessage>(*parse_channel("", false)));
  EXPECT_TRUE(std::holds_alternative<NoMessage>(*parse_channel(std::string(1, '\0'), false)));
  EXPECT_FALSE(parse_channel("\1out", false).has_value());
  EXPECT_FALSE(parse_channel("\4no size", false).has_value());
  EXPECT_EQ(channel_message(Channel::errors, "x"), "\2x");
}

TEST(Channels, SizesOfATerminalAreReadHoweverTheyAreCut) {
  const std::string text = "{\"Width\":80,\"Height\":24}\n{\"Width\":-1,\"Height\":70000}\n";
  for (std::size_t cut = 1; cut <= text.size(); ++cut) {
    ResizeReader reader;
    std::vector<PodResize> all;
    for (std::size_t i = 0; i < text.size(); i += cut) {
      const auto some = reader.feed(std::string_view(text).substr(i, cut));
      ASSERT_TRUE(some.has_value());
      all.insert(all.end(), some->begin(), some->end());
    }
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].columns, 80U);
    EXPECT_EQ(all[1].columns, 0U);
    EXPECT_EQ(all[1].rows, 0xffffU);
  }
  ResizeReader endless;
  EXPECT_FALSE(endless.feed(std::string(1000, '{')).has_value());
}

TEST(Refusal, TheEndOfACommandSaysItsExitCode) {
  EXPECT_EQ(print(end_of_command({})), R"({"metadata":{},"status":"Success"})");
  EXPECT_EQ(
      print(end_of_command({.exit = {.code = 7}})),
      R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code: exit status 7",)"
      R"("reason":"NonZeroExitCode","details":{"causes":[{"reason":"ExitCode","message":"7"}]}})");
  EXPECT_EQ(text_at(end_of_command({.exit = {.signal = 9}}), "message"),
            "command terminated with non-zero exit code: exit status 137");
  EXPECT_EQ(text_at(end_of_command({.failure = "no sh"}), "reason"), "InternalError");
  EXPECT_EQ(text_at(end_of_attach({.exit = {.code = 7}}), "status"), "Success");
}

TEST(Protocol, IsTheClientsFirstThatIsSpokenHere) {
  constexpr std::array<std::string_view, 2> kOurs{"v4.channel.k8s.io", "channel.k8s.io"};
  EXPECT_EQ(*agreed_spdy({{"X-Stream-Protocol-Version", "v5.channel.k8s.io"},
                          {"x-stream-protocol-version", "v4.channel.k8s.io, channel.k8s.io"}},
                         kOurs),
            "v4.channel.k8s.io");
  EXPECT_EQ(*agreed_spdy({}, kOurs), "");
  EXPECT_FALSE(agreed_spdy({{"X-Stream-Protocol-Version", "v9"}}, kOurs).has_value());
  EXPECT_FALSE(agreed_websocket({}, kOurs).has_value());
  EXPECT_TRUE(asks_for({{"Upgrade", "foo, SPDY/3.1"}}, "spdy/3.1"));
  EXPECT_FALSE(asks_for({{"Upgrade", "SPDY/3.10"}}, "SPDY/3.1"));
}

TEST(Gate, LetsSoManyInAndNoMore) {
  StreamGate gate(2);
  auto first = gate.enter();
  const auto second = gate.enter();
  EXPECT_TRUE(first && second && !gate.enter());
  first = nullptr;
  EXPECT_EQ(gate.open(), 1);
  EXPECT_TRUE(gate.enter() != nullptr);
}

}  // namespace
}  // namespace drover::kube
