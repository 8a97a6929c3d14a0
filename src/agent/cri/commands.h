// Commands in containers of containerd, and the containers' own input and output, for streams.
#pragma once

#include <memory>
#include <string>

#include "agent/cri/client.h"
#include "agent/pod/streams.h"

namespace drover::agent::cri {

class CriCommands final : public PodCommands {
 public:
  // `folder`: for the FIFOs of commands.
  CriCommands(std::shared_ptr<const Client> client, std::string folder)
      : client_(std::move(client)), folder_(std::move(folder)) {}
  void exec(const PodTarget& target, const PodAttach& wish, Conversation& with) override;
  void attach(const PodTarget& target, const PodAttach& wish, Conversation& with) override;

 private:
  std::shared_ptr<const Client> client_;
  std::string folder_;
};

}  // namespace drover::agent::cri
