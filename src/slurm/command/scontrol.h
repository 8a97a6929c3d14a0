// scontrol's verbs. Internal to the command.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "slurm/command/call.h"
#include "slurm/render/show.h"

namespace drover::slurm {

struct ControlCall {
  Call& call;
  ShowStyle style;
  std::vector<std::string> words;  // after the verb
  bool json = false;
};

int control_show(ControlCall& control);
int control_update(ControlCall& control);
int control_list_jobs(ControlCall& control);
// Sends the wish; every refusal is said with the job's id, then once for the command.
int control_wish(Call& call, const Command& command);

}  // namespace drover::slurm
