// drover: people's and administrators' command.
#include "cli/commands.h"

int main(int argc, char** argv) { return drover::cli::run_command(argc, argv); }
