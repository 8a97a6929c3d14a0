#include "cli/commands.h"

#include <CLI/CLI.hpp>

#include <functional>

#include "cli/image.h"
#include "cli/kubeconfig.h"
#include "cli/login.h"
#include "cli/node.h"
#include "cli/up.h"

namespace drover::cli {

int run_command(int argc, char** argv) {
  CLI::App app{"drover keeps jobs on a cluster: it starts, watches and stops one."};
  app.require_subcommand(1);
  std::function<int()> chosen;

  UpOptions up_options;
  CLI::App* const up_verb = app.add_subcommand("up", "Start a cluster on this machine, and keep it running");
  up_verb->add_option("--cluster", up_options.cluster_file, "What it consists of (YAML); else a small default cluster");
  up_verb->add_option("--state", up_options.state, "Where it keeps its state");
  up_verb->add_flag("--detach", up_options.detach, "Return once it answers, and leave it in the background");
  up_verb->add_flag("--private", up_options.hidden, "Don't let other commands find it without DROVER_STATE");
  up_verb->add_flag("--pods", up_options.pods, "Run containers; with a containerd of its own if need be");
  up_verb->callback([&] { chosen = [&] { return up(up_options); }; });

  StatusOptions status_options;
  std::string format = "text";
  CLI::App* const status_verb = app.add_subcommand("status", "Show the cluster: nodes, GPUs, jobs, what is off");
  status_verb->add_option("--state", status_options.state, "Its state folder, if it isn't found by itself");
  status_verb->add_option("-o,--output", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  status_verb->callback([&] {
    status_options.json = format == "json";
    chosen = [&] { return status(status_options); };
  });

  DownOptions down_options;
  CLI::App* const down_verb = app.add_subcommand("down", "Stop the cluster that `drover up` runs");
  down_verb->add_option("--state", down_options.state, "Its state folder, if it isn't found by itself");
  down_verb->add_flag("--keep-jobs", down_options.keep_jobs, "Leave the running jobs alone instead of ending them");
  down_verb->callback([&] { chosen = [&] { return down(down_options); }; });

  NodeOptions node_options;
  CLI::App* const node_verb =
      app.add_subcommand("node", "Say which other machines belong to the cluster");
  node_verb->require_subcommand(1);
  const auto node_part = [&](const char* name, const char* what, int (*run)(const NodeOptions&)) {
    CLI::App* const part = node_verb->add_subcommand(name, what);
    part->add_option("--state", node_options.state,
                     "The cluster's state folder, if it isn't found by itself");
    part->callback([&, run] { chosen = [&, run] { return run(node_options); }; });
    return part;
  };
  CLI::App* const token_part =
      node_part("token", "Print the command by which one machine joins", &node_token);
  token_part->add_option("NAME", node_options.name,
                         "The only node that may use it; else any new one");
  token_part->add_option("--ttl", node_options.ttl, "How long it may be used (15m)");
  node_part("list", "Show the nodes' certificates", &node_list);
  node_part("revoke", "End a node's membership at once", &node_revoke)
      ->add_option("NAME", node_options.name)
      ->required();

  LoginOptions login_options;
  CLI::App* const login_verb = app.add_subcommand("login", "Reach a cluster elsewhere from this machine");
  login_verb->add_option("--to", login_options.to, "HOST:PORT of its controller")->required();
  login_verb->add_option("--token", login_options.token, "From `drover user token`; good once")->required();
  login_verb->add_option("--state", login_options.state,
                         "Where to keep the login; else $DROVER_STATE or ~/.config/drover");
  login_verb->callback([&] { chosen = [&] { return login(login_options); }; });
  CLI::App* const logout_verb = app.add_subcommand("logout", "Forget the login that is kept on this machine");
  logout_verb->add_option("--state", login_options.state, "Where it is kept; else $DROVER_STATE or ~/.config/drover");
  logout_verb->callback([&] { chosen = [&] { return logout(login_options); }; });

  UserOptions user_options;
  CLI::App* const user_verb = app.add_subcommand("user", "Say who may use the cluster from other machines");
  user_verb->require_subcommand(1);
  const auto user_part = [&](const char* name, const char* what, int (*run)(const UserOptions&)) {
    CLI::App* const part = user_verb->add_subcommand(name, what);
    part->add_option("--state", user_options.state, "The cluster's state folder, if it isn't found by itself");
    part->callback([&, run] { chosen = [&, run] { return run(user_options); }; });
    return part;
  };
  CLI::App* const user_token_part =
      user_part("token", "Print the command by which you (or NAME, if you are root) log in elsewhere", &user_token);
  user_token_part->add_option("NAME", user_options.name, "Whose login it will be; else yours");
  user_token_part->add_option("--ttl", user_options.ttl, "How long it may be used (15m)");
  user_part("list", "Show your certificates, or everybody's to an administrator", &user_list);
  user_part("revoke", "End somebody's certificates and tokens at once: logins and kubeconfigs", &user_revoke)
      ->add_option("NAME", user_options.name)
      ->required();

  KubeconfigOptions kube_options;
  CLI::App* const kube_verb =
      app.add_subcommand("kubeconfig", "Print what kubectl needs to speak to the cluster as you");
  kube_verb->add_option("--state", kube_options.state, "The cluster's state folder, if it isn't found by itself");
  kube_verb->add_option("-n,--namespace", kube_options.space, "Namespace of the context; else your own, or default");
  kube_verb->callback([&] { chosen = [&] { return kubeconfig(kube_options); }; });

  ImageOptions image_options;
  CLI::App* const image_verb = app.add_subcommand("image", "The images that pods on this machine run");
  image_verb->require_subcommand(1);
  const auto image_part = [&](const char* name, const char* what, int (*run)(const ImageOptions&)) {
    CLI::App* const part = image_verb->add_subcommand(name, what);
    part->add_option("--state", image_options.state, "The cluster's state folder, if it isn't found by itself");
    part->callback([&, run] { chosen = [&, run] { return run(image_options); }; });
    return part;
  };
  image_part("load", "Load archives, as `docker save` or skopeo write them", &image_load)
      ->add_option("FILE", image_options.files)
      ->required();
  image_part("list", "Show the images that are here", &image_list);

  CLI::App* const version_verb = app.add_subcommand("version", "Print the version");
  version_verb->callback([&] {
    chosen = [] {
      std::puts("drover " DROVER_VERSION);
      return 0;
    };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return chosen();
}

}  // namespace drover::cli
