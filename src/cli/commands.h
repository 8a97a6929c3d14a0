// The command line of `drover`.
#pragma once

namespace drover::cli {

// Runs the verb that is named; returns the exit code: 0 good, 1 refused, 2 wrongly typed.
int run_command(int argc, char** argv);

}  // namespace drover::cli
