// Commands beside a container's program, by containerd's own interface.
#include "agent/cri/client.h"
#include "agent/cri/process_spec.h"
#include "agent/cri/stubs.h"

namespace drover::agent::cri {
namespace {

constexpr const char* kProcessType = "types.containerd.io/opencontainers/runtime-spec/1/Process";
constexpr Duration kLongestCommand = std::chrono::hours(24 * 30);

ts::ProcessId id_of(const Client::Process& process) {
  ts::ProcessId id;
  id.set_container_id(process.container);
  id.set_exec_id(process.id);
  return id;
}

}  // namespace

Status Client::exec_process(const Process& process, const std::vector<std::string>& command, bool terminal,
                            const Ends& ends) const {
  cs::GetContainerRequest wanted;
  wanted.set_id(process.container);
  cs::GetContainerResponse known;
  Context asking(*stubs_);
  TRY(outcome(stubs_->containers->Get(&asking, wanted, &known)));
  ts::ExecProcessRequest request;
  request.set_container_id(process.container);
  request.set_exec_id(process.id);
  request.set_stdin(ends.in);
  request.set_stdout(ends.out);
  request.set_stderr(ends.err);
  request.set_terminal(terminal);
  request.mutable_spec()->set_type_url(kProcessType);
  request.mutable_spec()->set_value(TRY(process_like(known.container().spec().value(), command, terminal)));
  google::protobuf::Empty nothing;
  Context making(*stubs_);
  TRY(outcome(stubs_->tasks->Exec(&making, request, &nothing)));
  Context starting(*stubs_);
  ts::StartResponse started;
  const Status begun = outcome(stubs_->tasks->Start(&starting, id_of(process), &started));
  if (!begun) forget_process(process);
  return begun;
}

Result<std::string> Client::attach_url(const std::string& id, bool input, bool terminal) const {
  rt::AttachRequest request;
  request.set_id(id);
  request.set_stdin(input);
  request.set_tty(terminal);
  request.set_stdout(true);
  request.set_stderr(!terminal);
  rt::AttachResponse answer;
  Context context(*stubs_);
  TRY(outcome(stubs_->runtime->Attach(&context, request, &answer)));
  return answer.url();
}

Result<std::uint32_t> Client::wait_process(const Process& process) const {
  Context context(*stubs_, kLongestCommand);
  ts::WaitResponse answer;
  TRY(outcome(stubs_->tasks->Wait(&context, id_of(process), &answer)));
  return answer.exit_status();
}

void Client::resize_process(const Process& process, std::uint32_t rows, std::uint32_t columns) const {
  Context context(*stubs_);
  ts::ResizePtyRequest request;
  request.set_container_id(process.container);
  request.set_exec_id(process.id);
  request.set_width(columns);
  request.set_height(rows);
  google::protobuf::Empty nothing;
  [[maybe_unused]] const auto resized = stubs_->tasks->ResizePty(&context, request, &nothing);
}

void Client::close_input(const Process& process) const {
  Context context(*stubs_);
  ts::CloseIORequest request;
  request.set_container_id(process.container);
  request.set_exec_id(process.id);
  request.set_stdin(true);
  google::protobuf::Empty nothing;
  [[maybe_unused]] const auto closed = stubs_->tasks->CloseIO(&context, request, &nothing);
}

void Client::kill_process(const Process& process) const {
  Context context(*stubs_);
  ts::KillRequest request;
  request.set_container_id(process.container);
  request.set_exec_id(process.id);
  request.set_signal(9);
  google::protobuf::Empty nothing;
  [[maybe_unused]] const auto killed = stubs_->tasks->Kill(&context, request, &nothing);
}

void Client::forget_process(const Process& process) const {
  Context context(*stubs_);
  google::protobuf::Empty nothing;
  [[maybe_unused]] const auto forgotten = stubs_->tasks->DeleteProcess(&context, id_of(process), &nothing);
}

}  // namespace drover::agent::cri
