#include "agent/cri/runtime.h"

#include <utility>

namespace drover::agent::cri {

void CriRuntime::find_image(const std::string& image, Then<std::optional<ImageFound>> then) {
  ask<std::optional<ImageFound>>([image](const Client& c) { return c.find_image(image); }, std::move(then));
}
void CriRuntime::pull_image(const std::string& image, Then<ImageFound> then) {
  ask<ImageFound>([image](const Client& c) { return c.pull_image(image); }, std::move(then));
}
void CriRuntime::run_sandbox(const SandboxSpec& spec, Then<Sandbox> then) {
  ask<Sandbox>(
      [spec](const Client& c) -> Result<Sandbox> {
        TRY(c.check());
        if (!spec.host_network && !c.has_network()) {
          return Error{Errc::unavailable, "the container runtime of this node has no network for pods (no CNI "
                                          "configuration): only pods with hostNetwork run here"};
        }
        return c.run_sandbox(spec);
      },
      std::move(then));
}
void CriRuntime::remove_sandbox(const std::string& id, Then<Done> then) {
  ask<Done>([id](const Client& c) { return c.remove_sandbox(id); }, std::move(then));
}
void CriRuntime::create(const ContainerSpec& spec, Then<std::string> then) {
  ask<std::string>([spec](const Client& c) { return c.create(spec); }, std::move(then));
}
void CriRuntime::start(const std::string& id, Then<Done> then) {
  ask<Done>([id](const Client& c) { return c.start(id); }, std::move(then));
}
void CriRuntime::stop(const std::string& id, Duration grace, Then<Done> then) {
  ask<Done>([id, grace](const Client& c) { return c.stop(id, grace); }, std::move(then));
}
void CriRuntime::remove(const std::string& id, Then<Done> then) {
  ask<Done>([id](const Client& c) { return c.remove(id); }, std::move(then));
}
void CriRuntime::exec(const std::string& id, const std::vector<std::string>& command, Duration timeout,
                      Then<ExecDone> then) {
  ask<ExecDone>([=](const Client& c) { return c.exec(id, command, timeout); }, std::move(then));
}
void CriRuntime::look(const std::string& id, Then<ContainerSeen> then) {
  ask<ContainerSeen>([id](const Client& c) { return c.look(id); }, std::move(then));
}
void CriRuntime::list(Then<Inventory> then) {
  ask<Inventory>([](const Client& c) { return c.list(); }, std::move(then));
}
void CriRuntime::reopen_log(const std::string& id, Then<Done> then) {
  ask<Done>([id](const Client& c) { return c.reopen_log(id); }, std::move(then));
}

}  // namespace drover::agent::cri
