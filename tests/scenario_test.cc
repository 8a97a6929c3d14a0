// Runs every tests/scenarios/*.txt against the core. A file is a list of blocks:
//
//   command and arguments
//   ----
//   what happened
//
// Passes follow by themselves when they are due; time stands still but for `tick`.
// DROVER_REWRITE=1 writes the new answers back; read the diff before you commit it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/core.h"
#include "engine/explain.h"
#include "engine/what_if.h"
#include "scenario_show.h"

namespace drover {
namespace {

namespace fs = std::filesystem;
using engine::Core;

struct Block {
  std::string comment;
  std::string command;
  std::string want;
};

std::vector<Block> parse(std::istream& in) {
  std::vector<Block> blocks;
  std::string line;
  std::string comment;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') {
      comment += line + "\n";
      continue;
    }
    Block block{.comment = std::exchange(comment, {}), .command = line, .want = {}};
    std::getline(in, line);  // ----
    while (std::getline(in, line) && !line.empty()) block.want += line + "\n";
    blocks.push_back(std::move(block));
    comment = "\n";
  }
  return blocks;
}

// "submit gpus=4 name='a b' hold" -> verb, and values by name ("" for a bare word).
class Words {
 public:
  explicit Words(const std::string& command) {
    std::string word;
    bool quoted = false;
    for (const char c : command + " ") {
      if (c == '\'') quoted = !quoted;
      else if (c == ' ' && !quoted) keep(std::exchange(word, {}));
      else word += c;
    }
  }
  std::string verb;
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::string text(const std::string& name, std::string otherwise = "") const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::move(otherwise) : found->second;
  }
  [[nodiscard]] std::int64_t number(const std::string& name, std::int64_t otherwise = 0) const {
    return has(name) ? parse_int(text(name)).value_or(-1) : otherwise;
  }
  [[nodiscard]] std::uint32_t count(const std::string& name, std::uint32_t otherwise = 0) const {
    return static_cast<std::uint32_t>(number(name, otherwise));
  }
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const {
    std::vector<std::string> parts;
    const std::string all = text(name);
    for (const auto part : split(all, ',')) parts.emplace_back(part);
    return parts;
  }

 private:
  void keep(std::string word) {
    if (word.empty()) return;
    if (verb.empty()) {
      verb = std::move(word);
      return;
    }
    const auto eq = word.find('=');
    values_[word.substr(0, eq)] = eq == std::string::npos ? "" : word.substr(eq + 1);
  }
  std::map<std::string, std::string> values_;
};

std::uint32_t to_count(std::string_view text) { return static_cast<std::uint32_t>(parse_uint(text).value_or(0)); }

std::vector<TaskRange> ranges(std::string_view text) {  // "0-9:2,20"
  std::vector<TaskRange> all;
  for (std::string_view part : split(text, ',')) {
    TaskRange range;
    const auto colon = part.find(':');
    if (colon != std::string_view::npos) range.step = to_count(part.substr(colon + 1));
    part = part.substr(0, colon);
    const auto dash = part.find('-');
    range.first = to_count(part.substr(0, dash));
    range.last = dash == std::string_view::npos ? range.first : to_count(part.substr(dash + 1));
    all.push_back(range);
  }
  return all;
}

JobRef job_ref(std::string_view text) {  // "4", "4_7", "4_[0-3]"
  const auto bar = text.find('_');
  JobRef r{.job = JobId(to_count(text.substr(0, bar)))};
  if (bar == std::string_view::npos) return r;
  std::string tasks(text.substr(bar + 1));
  std::erase_if(tasks, [](char c) { return c == '[' || c == ']'; });
  r.tasks = ranges(tasks);
  return r;
}

Dependency dependency(const Words& words) {  // dep=afterok:1:2,after:3+5,singleton or with ? between
  const std::string text = words.text("dep");
  Dependency d{.any = text.find('?') != std::string::npos, .cancel_if_never = words.has("kill")};
  const std::map<std::string, DependencyKind> kinds{
      {"after", DependencyKind::after},         {"afterany", DependencyKind::after_any},
      {"afterok", DependencyKind::after_ok},    {"afternotok", DependencyKind::after_not_ok},
      {"aftercorr", DependencyKind::after_corr}, {"singleton", DependencyKind::singleton}};
  for (const auto part : split(text, d.any ? '?' : ',')) {
    const auto names = split(part, ':');
    const DependencyKind kind = kinds.at(std::string(names.at(0)));
    if (names.size() == 1) d.terms.push_back({.kind = kind});
    for (std::size_t i = 1; i < names.size(); ++i) {
      const auto plus = names[i].find('+');
      DependencyTerm term{.kind = kind, .job = job_ref(names[i].substr(0, plus)).job};
      const auto bar = names[i].find('_');
      if (bar != std::string_view::npos) term.task = to_count(names[i].substr(bar + 1));
      if (plus != std::string_view::npos) term.delay = minutes(to_count(names[i].substr(plus + 1)));
      d.terms.push_back(term);
    }
  }
  return d;
}

std::vector<GpuAsk> gpus(const std::string& text) {  // "2", "a100:2", "a100:2,t4:1"
  std::vector<GpuAsk> asks;
  for (const auto part : split(text, ',')) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos) asks.push_back({.model = "", .count = to_count(part)});
    else asks.push_back({.model = std::string(part.substr(0, colon)), .count = to_count(part.substr(colon + 1))});
  }
  return asks;
}

Request request(const Words& w) {
  Request r;
  const auto dash = w.text("nodes", "1").find('-');
  r.min_nodes = to_count(w.text("nodes", "1").substr(0, dash));
  if (w.has("nodes")) r.max_nodes = dash == std::string::npos ? r.min_nodes : to_count(w.text("nodes").substr(dash + 1));
  r.tasks = w.count("tasks");
  r.tasks_per_node = w.count("tpn");
  r.cpus_per_task = w.count("cpus", 1);
  r.cpus_per_gpu = w.count("cpus_per_gpu");
  const std::pair<const char*, MemoryRule> rules[] = {
      {"mem", MemoryRule::per_node}, {"mem_per_cpu", MemoryRule::per_cpu}, {"mem_per_gpu", MemoryRule::per_gpu}};
  for (const auto& [name, rule] : rules) {
    if (!w.has(name)) continue;
    r.memory_rule = rule;
    r.memory = mebibytes(w.number(name));
    if (rule == MemoryRule::per_node && r.memory == Bytes{}) r.memory_rule = MemoryRule::whole_node;
  }
  r.gpus_per_node = gpus(w.text("gpus"));
  r.gpus_per_task = gpus(w.text("gpus_per_task"));
  r.gpus_per_job = gpus(w.text("gpus_total"));
  r.gpu_condition = w.text("extra");
  r.features = w.text("features");
  r.include_nodes = w.list("include");
  r.exclude_nodes = w.list("exclude");
  r.exclusive = w.has("exclusive");
  r.contiguous = w.has("contiguous");
  r.overcommit = w.has("overcommit");
  r.threads_per_core = w.count("threads");
  return r;
}

Labels labels(const Words& words, const std::string& name) {  // "a=1,b=2"
  Labels all;
  for (const std::string& one : words.list(name)) all[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  return all;
}

// "zone:app=web;host:tier=db": topology key and labels of pods (none: all) in the namespace of the pod, or where a
// namespace's labels say: "host:app=web@team=red". Of a spread then the skew and the least domains: "zone:app=web:2:3".
template <class Term>
std::vector<Term> pod_terms(const Words& words, const std::string& name) {
  std::vector<Term> terms;
  const std::string text = words.text(name);
  for (const auto one : split(text, ';')) {
    const auto parts = split(one, ':');
    Term term;
    term.key = parts.at(0) == "host" ? "kubernetes.io/hostname" : std::string(parts.at(0));
    const auto add = [](std::vector<LabelTerm>& to, std::string_view label) {
      const auto eq = label.find('=');
      to.push_back({.key = std::string(label.substr(0, eq)), .values = {std::string(label.substr(eq + 1))}});
    };
    const auto at = parts.at(1).find('@');
    if (at != 0 && !parts[1].empty()) add(term.pods.labels, parts[1].substr(0, at));
    term.pods.by_space_labels = at != std::string_view::npos;
    if (term.pods.by_space_labels) add(term.pods.space_labels, parts[1].substr(at + 1));
    else term.pods.spaces = {words.text("space", "default")};
    if constexpr (requires { term.max_skew; }) {
      if (parts.size() > 2) term.max_skew = to_count(parts[2]);
      if (parts.size() > 3) term.min_domains = to_count(parts[3]);
      term.usable_nodes = words.has("usable");
    }
    terms.push_back(std::move(term));
  }
  return terms;
}

StepRequest step_request(const Words& w) {
  StepRequest r;
  const std::string nodes = w.text("nodes");
  const auto dash = nodes.find('-');
  r.min_nodes = to_count(nodes.substr(0, dash));
  if (!nodes.empty()) r.max_nodes = dash == std::string::npos ? r.min_nodes : to_count(nodes.substr(dash + 1));
  r.tasks = w.count("tasks");
  r.tasks_per_node = w.count("tpn");
  r.cpus_per_task = w.count("cpus");
  if (w.has("mem")) r.memory_rule = MemoryRule::per_node, r.memory = mebibytes(w.number("mem"));
  r.gpus_per_node = gpus(w.text("gpus"));
  r.gpus_per_task = gpus(w.text("gpus_per_task"));
  r.gpus = gpus(w.text("gpus_total"));
  r.no_gpus = w.has("no_gpus");
  r.include_nodes = w.list("include");
  r.exclude_nodes = w.list("exclude");
  r.first_node = w.count("first_node");
  r.exact = w.has("exact");
  r.overlap = w.has("overlap");
  r.overcommit = w.has("overcommit");
  r.distribution = from_word<Distribution>(w.text("dist")).value_or(Distribution::block);
  r.plane = w.count("plane");
  return r;
}

class Scenario {
 public:
  std::string run(const std::string& command) {
    out_.str({});
    const Words words(command);
    const auto found = verbs_.find(words.verb);
    if (found == verbs_.end()) {
      ADD_FAILURE() << "no such command: " << command;
      return "";
    }
    (this->*found->second)(words);
    return out_.str();
  }

 private:
  using Verb = void (Scenario::*)(const Words&);

  void feed(const Input& input) {
    if (core_.view().config().partitions.empty() && !std::holds_alternative<Configure>(input)) {
      show(core_.step(Configure{.config = {.partitions = {{.name = "main", .is_default = true}}}}, now_));
    }
    bool due = show(core_.step(input, now_));
    for (int n = 0; due && !paused_ && n < 100; ++n) due = show(core_.step(Pass{.budget = budget_}, now_));
  }
  bool show(const engine::Outcome& outcome) {
    if (const auto* refusal = std::get_if<Refusal>(&outcome.answer)) out_ << "refused: " << scenario::show(*refusal) << "\n";
    for (const Event& fact : outcome.facts) out_ << scenario::show(core_.view(), fact);
    if (const auto* reply = std::get_if<Reply>(&outcome.answer)) {
      if (outcome.facts.empty() && reply->job) {
        out_ << "known as job " << reply->job.value();
        if (reply->step) out_ << " step " << *reply->step;
        out_ << "\n";
      }
      for (const JobRefusal& r : reply->refusals) {
        out_ << "job " << r.job.job.value() << " refused: " << scenario::show(r.refusal) << "\n";
      }
    }
    for (const engine::SendSignalOrder& s : outcome.signals) {
      out_ << "signal " << s.signal << " to job " << s.job.value();
      if (s.step != kBatchStep) out_ << " step " << s.step;
      out_ << " on " << core_.view().node(s.node).name() << "\n";
    }
    wake_ = outcome.wake_at;
    return outcome.pass_due;
  }
  void ask(const Words& words, Command command) {
    const std::string user = words.text("user", "ann");
    const std::uint32_t uid = user == "root" ? 0 : 1000 + static_cast<std::uint32_t>(user[0]);
    feed(Asked{.caller = {.uid = uid, .gid = uid, .user = user, .group = user}, .key = words.text("key"),
               .command = std::move(command)});
  }

  // ---- commands ----

  void partitions(const Words& words) {
    config_.partitions.push_back({.name = words.text("name"),
                                  .nodes = words.list("nodes"),
                                  .is_default = words.has("default"),
                                  .max_time = minutes(words.number("max_time")),
                                  .max_nodes = words.count("max_nodes"),
                                  .tier = words.count("tier", 1)});
    feed(Configure{.config = config_});
  }
  void nodes(const Words& words) {
    for (std::uint32_t i = 0; i < words.count("count", 1); ++i) {
      NodeInventory n;
      n.name = words.has("name") ? words.text("name") : "n" + std::to_string(core_.view().nodes().size() + 1);
      n.boot_id = words.text("boot", "boot1");
      n.cpus = words.count("cpus", 8);
      n.sockets = words.count("sockets", 1);
      n.cores_per_socket = n.cpus / n.sockets;
      n.threads_per_core = words.count("threads", 1);
      n.memory = gibibytes(words.number("gib", 64));
      n.features = words.list("features");
      for (std::uint32_t g = 0; g < words.count("gpus"); ++g) {
        DeviceInfo d{.uuid = n.name + "-" + std::to_string(g), .model = words.text("model", "a100"), .index = g};
        d.memory = mebibytes(words.number("gpu_mib", 81559));
        d.capability = words.count("capability", 80);
        d.numa = static_cast<std::int32_t>(g * n.sockets / words.count("gpus"));
        if (words.has("pairs")) d.links = {g ^ 1U};
        d.healthy = !(words.has("broken") && words.count("broken") == g);
        n.devices.push_back(std::move(d));
      }
      inventories_[n.name] = n;
      feed(NodeRegister{.inventory = n});
    }
  }
  void submit(const Words& words) {
    Submit s{.name = words.text("name", "job"), .partitions = words.text("partition"), .request = request(words)};
    if (words.has("begin")) s.begin = now_ + seconds(words.number("begin"));
    if (words.has("limit")) s.limit = minutes(words.number("limit"));
    s.min_limit = minutes(words.number("least"));
    if (words.has("deadline")) s.deadline = now_ + minutes(words.number("deadline"));
    if (words.has("priority")) s.priority = words.number("priority");
    s.nice = static_cast<std::int32_t>(words.number("nice"));
    s.hold = words.has("hold");
    s.requeue = !words.has("norequeue");
    if (words.has("array")) {
      const std::string text = words.text("array");
      const auto percent = text.find('%');
      s.array = ArrayPending{.tasks = ranges(text.substr(0, percent)), .text = text};
      if (percent != std::string::npos) s.array->throttle = to_count(text.substr(percent + 1));
    }
    s.dependency = dependency(words);
    s.allocation = words.has("allocation") || words.has("first_step");
    if (words.has("first_step")) {
      s.first_step = StepWish{.name = words.text("first_step"),
                              .request = {.min_nodes = words.count("step_nodes"), .exact = true}};
    }
    if (words.has("test_only")) return test_only(s);
    ask(words, s);
  }
  // A pod: a document and a job. The door, which is root, asks for its caller.
  void pod(const Words& words) {
    Submit s{.name = words.text("name"), .request = request(words), .pod = true};
    s.request.cpus_per_task = words.count("cpus");
    s.request.cpu_milli = words.count("milli");
    if (!words.has("mem")) s.request.memory_rule = MemoryRule::per_node;
    LabelTerms terms;  // label='a=1,b=2': all of them
    for (const auto& [key, value] : labels(words, "label")) terms.all.push_back({.key = key, .values = {value}});
    if (words.has("label")) s.request.labels = {terms};
    if (words.has("more_than")) {  // more_than='gpu-memory=15'
      const std::string one = words.text("more_than");
      const auto eq = one.find('=');
      s.request.labels = {{{{.key = one.substr(0, eq), .op = LabelOp::greater, .values = {one.substr(eq + 1)}}}}};
    }
    if (words.has("tolerate")) s.request.tolerations = {{.key = words.text("tolerate"), .exists = true}};
    if (words.has("near")) s.request.near = pod_terms<PodTerm>(words, "near");
    if (words.has("apart")) s.request.apart = pod_terms<PodTerm>(words, "apart");
    if (words.has("spread")) s.request.spread = pod_terms<SpreadTerm>(words, "spread");
    s.as = Caller{.uid = 1097, .gid = 1097, .user = "ann", .group = "ann"};
    ask_as_root(PutDocument{.key = pod_key(words), .expect = 0, .job = s, .labels = labels(words, "own")});
  }
  void put(const Words& words) {
    PutDocument put{.key = pod_key(words), .labels = labels(words, "own")};
    put.body.words[0] = 1;
    if (words.has("expect")) put.expect = static_cast<std::uint64_t>(words.number("expect"));
    if (words.has("user")) return ask(words, put);
    ask_as_root(put);
  }
  void remove(const Words& words) { ask_as_root(RemoveDocument{.key = pod_key(words)}); }
  void mark(const Words& words) {
    MarkNode mark{.node = words.text("name")};
    mark.marks.labels = labels(words, "labels");
    if (words.has("taint")) mark.marks.taints = {{.key = words.text("taint"), .effect = TaintEffect::no_schedule}};
    ask_as_root(mark);
  }
  static DocumentKey pod_key(const Words& words) {
    const std::string kind = words.text("kind", "pods");
    return {.kind = kind, .space = kind == kSpaceKind ? "" : words.text("space", "default"), .name = words.text("name")};
  }
  void ask_as_root(Command command) {
    feed(Asked{.caller = {.uid = 0, .user = "root"}, .command = std::move(command)});
  }
  void test_only(const Submit& s) {
    const auto answer = engine::what_if_submitted(core_.view(), {.uid = 1000, .gid = 1000, .user = "ann"}, s, now_);
    if (const auto* refusal = std::get_if<Refusal>(&answer)) {
      out_ << "would be refused: " << scenario::show(*refusal) << "\n";
      return;
    }
    const auto& would = *std::get_if<engine::WouldStart>(&answer);
    out_ << "would start at " << scenario::since(would.at) << " on "
         << scenario::show_placement(core_.view(), would.placement) << "\n";
  }
  [[nodiscard]] JobSelector selector(const Words& words) const {
    JobSelector s{.users = words.list("of"), .names = words.list("name")};
    for (const std::string& job : words.list("job")) s.jobs.push_back(job_ref(job));
    return s;
  }
  void cancel(const Words& words) { ask(words, Cancel{.jobs = selector(words)}); }
  void send_signal(const Words& words) { ask(words, Signal{.jobs = selector(words), .signal = words.count("signal", 10)}); }
  void hold(const Words& words) { ask(words, SetHold{.jobs = selector(words), .as_user = words.has("as_user")}); }
  void release(const Words& words) { ask(words, SetHold{.jobs = selector(words), .hold = false}); }
  void requeue(const Words& words) { ask(words, Requeue{.jobs = selector(words), .hold = words.has("hold")}); }
  void modify(const Words& words) {
    ModifyJob m{.jobs = selector(words)};
    if (words.has("limit")) m.limit = minutes(words.number("limit"));
    if (words.has("begin")) m.begin = now_ + seconds(words.number("begin"));
    if (words.has("priority")) m.priority = words.number("priority");
    if (words.has("throttle")) m.throttle = words.count("throttle");
    if (words.has("dep")) m.dependency = dependency(words);
    if (words.has("partition")) m.partitions = words.text("partition");
    if (words.has("nodes") || words.has("gpus") || words.has("cpus")) m.request = request(words);
    ask(words, m);
  }
  void update_node(const Words& words) {
    UpdateNode u{.nodes = words.list("name"), .reason = words.text("reason")};
    u.wish = from_word<NodeWish>(words.text("wish")).value_or(NodeWish::drain);
    ask(words, u);
  }
  void update_partition(const Words& words) {
    ask(words, UpdatePartition{.name = words.text("name"), .up = !words.has("down")});
  }
  void again(const Words& words) {  // a node's agent connects again
    NodeInventory n = inventories_.at(words.text("node"));
    n.boot_id = words.text("boot", n.boot_id);
    inventories_[n.name] = n;
    NodeRegister r{.inventory = n};
    for (const std::string& held : words.list("held")) {
      const JobId job = job_ref(held).job;
      r.held.push_back({.job = job, .attempt = core_.view().job(job)->run->attempt});
    }
    feed(r);
  }
  void silent(const Words& words) { feed(NodeSilent{.node = core_.view().node(words.text("node"))->id}); }
  [[nodiscard]] const Job& placed(const std::string& name) const {
    static const Job kNobody = [] {
      Job job;
      job.run.edit().placement = std::make_shared<const Placement>(Placement{.shares = {{.node = NodeId(1)}}});
      return job;
    }();
    const Job* job = core_.view().job(job_ref(name).job);
    if (job != nullptr && job->run->placement) return *job;
    ADD_FAILURE() << "job " << name << " has never been placed";
    return kNobody;
  }
  [[nodiscard]] NodeId node_of(const Words& words, const Job& job) const {
    return words.has("node") ? core_.view().node(words.text("node"))->id : job.run->placement->shares.front().node;
  }
  void started(const Words& words) {
    for (const std::string& name : words.list("job")) {
      const Job& job = placed(name);
      feed(ReportStarted{.node = node_of(words, job), .job = job.id, .attempt = job.run->attempt});
    }
  }
  void ended(const Words& words) {
    for (const std::string& name : words.list("job")) {
      const Job& job = placed(name);
      ReportEnded r{.node = node_of(words, job), .job = job.id, .attempt = words.count("attempt", job.run->attempt)};
      r.exit = {.code = static_cast<std::int32_t>(words.number("exit")),
                .signal = static_cast<std::int32_t>(words.number("signal"))};
      r.cause = from_word<Cause>(words.text("cause")).value_or(r.exit == ExitStatus{} ? Cause::completed : Cause::failed);
      r.leftover = words.has("leftover");
      r.note = words.text("note");
      feed(r);
    }
  }
  static std::pair<JobId, std::uint32_t> step_of(const Words& words) {  // "3.0"
    const std::string id = words.text("step");
    const auto dot = id.find('.');
    return {JobId(to_count(id.substr(0, dot))), to_count(id.substr(dot + 1))};
  }
  void create_step(const Words& words) {
    ask(words, CreateStep{.job = job_ref(words.text("job")).job,
                          .step = {.name = words.text("name", "step"), .request = step_request(words)}});
  }
  void end_step(const Words& words) {
    const auto [job, step] = step_of(words);
    ask(words, EndStep{.job = job, .step = step});
  }
  void signal_step(const Words& words) {
    const auto [job, step] = step_of(words);
    ask(words, SignalStep{.job = job, .step = step, .signal = words.count("signal", 10)});
  }
  void end_allocation(const Words& words) {
    ask(words, EndAllocation{.job = job_ref(words.text("job")).job,
                             .exit = {.code = static_cast<std::int32_t>(words.number("exit"))}});
  }
  void step_ended(const Words& words) {
    const auto [job, number] = step_of(words);
    ReportStepEnded r{.job = job, .attempt = placed(std::to_string(job.value())).run->attempt, .step = number};
    const Step* step = core_.view().step(job, number);
    if (words.has("node")) r.node = core_.view().node(words.text("node"))->id;
    else if (step != nullptr) r.node = step->shares.front().share.node;
    r.exit = {.code = static_cast<std::int32_t>(words.number("exit")),
              .signal = static_cast<std::int32_t>(words.number("signal"))};
    r.cause = from_word<Cause>(words.text("cause")).value_or(r.exit == ExitStatus{} ? Cause::completed : Cause::failed);
    r.leftover = words.has("leftover");
    r.note = words.text("note");
    feed(r);
  }
  void tick(const Words& words) {
    const Instant until = now_ + seconds(words.number("seconds"));
    for (int n = 0; wake_ != Instant{} && wake_ <= until && n < 1000; ++n) {
      now_ = std::max(now_, wake_);
      wake_ = Instant{};
      feed(Timer{});
    }
    now_ = until;
    feed(Timer{});
  }
  void pause(const Words& words) {
    paused_ = !words.has("off");
    budget_ = words.count("budget", budget_);
    if (!paused_) feed(Pass{.budget = budget_});
  }
  void show_it(const Words& words) {
    if (words.has("nodes")) out_ << scenario::show_nodes(core_.view());
    else if (words.has("steps")) out_ << scenario::show_steps(core_.view());
    else out_ << scenario::show_queue(core_.view());
  }
  void explain(const Words& words) {
    const engine::Explanation e = engine::explain(core_.view(), job_ref(words.text("job")).job, now_);
    out_ << "reason " << word(e.reason) << ", ahead " << e.ahead.size() << "\n";
    for (const engine::Obstacle& o : e.obstacles) {
      out_ << scenario::show(o.refusal) << " on " << o.nodes << " nodes\n";
    }
    if (e.start != Instant{}) out_ << "reserved from " << scenario::since(e.start) << "\n";
  }

  const std::map<std::string, Verb> verbs_{
      {"nodes", &Scenario::nodes},       {"partition", &Scenario::partitions}, {"submit", &Scenario::submit},
      {"cancel", &Scenario::cancel},     {"signal", &Scenario::send_signal},   {"hold", &Scenario::hold},
      {"release", &Scenario::release},   {"requeue", &Scenario::requeue},      {"modify", &Scenario::modify},
      {"node", &Scenario::update_node},  {"set_partition", &Scenario::update_partition},
      {"register", &Scenario::again},    {"silent", &Scenario::silent},        {"started", &Scenario::started},
      {"ended", &Scenario::ended},       {"tick", &Scenario::tick},            {"pause", &Scenario::pause},
      {"show", &Scenario::show_it},      {"explain", &Scenario::explain},      {"step", &Scenario::create_step},
      {"end_step", &Scenario::end_step}, {"signal_step", &Scenario::signal_step},
      {"step_ended", &Scenario::step_ended}, {"end_allocation", &Scenario::end_allocation},
      {"pod", &Scenario::pod},           {"put", &Scenario::put},              {"remove", &Scenario::remove},
      {"mark", &Scenario::mark}};
  Core core_;
  Config config_;
  std::map<std::string, NodeInventory> inventories_;
  Instant now_ = scenario::kStart;
  Instant wake_{};
  bool paused_ = false;
  std::uint32_t budget_ = 250;
  std::ostringstream out_;
};

class ScenarioTest : public testing::TestWithParam<fs::path> {};

TEST_P(ScenarioTest, AnswersAsWritten) {
  std::ifstream file(GetParam());
  std::vector<Block> blocks = parse(file);
  ASSERT_FALSE(blocks.empty());
  Scenario scenario;
  const bool rewrite = std::getenv("DROVER_REWRITE") != nullptr;
  std::ostringstream text;
  for (Block& block : blocks) {
    const std::string got = scenario.run(block.command);
    if (!rewrite) {
      EXPECT_EQ(block.want, got) << GetParam().filename() << ": " << block.command;
    }
    text << block.comment << block.command << "\n----\n" << got;
  }
  if (rewrite) std::ofstream(GetParam()) << text.str();
}

std::vector<fs::path> files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(DROVER_ROOT) / "tests/scenarios")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Files, ScenarioTest, testing::ValuesIn(files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace drover
