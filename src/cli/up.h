// `drover up`, `drover status` and `drover down`. Each returns the exit code of the program.
#pragma once

#include <string>

namespace drover::cli {

struct UpOptions {
  std::string cluster_file;  // "": the one in the state folder, at first the default cluster
  std::string state;         // "": $DROVER_STATE, else the user's default
  bool detach = false;       // return once the cluster answers
  bool hidden = false;       // leave no pointer: other commands need DROVER_STATE
  bool pods = false;         // run containers, with a containerd of our own if the machine has none
};
int up(const UpOptions& options);

struct StatusOptions {
  std::string state;
  bool json = false;
};
int status(const StatusOptions& options);

struct DownOptions {
  std::string state;
  bool keep_jobs = false;
};
int down(const DownOptions& options);

}  // namespace drover::cli
