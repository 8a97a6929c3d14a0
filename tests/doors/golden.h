// What a command of the reference system printed, by the command's words.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace drover {

struct Golden {
  std::string output;
  int exit = 0;
};

// Entries are "$ command", output, "[exit N]" and a blank line.
inline std::map<std::string, Golden> read_golden(const std::string& file) {
  std::map<std::string, Golden> entries;
  std::ifstream in(std::string(DROVER_ROOT) + "/tests/doors/slurm/" + file);
  std::string command;
  Golden golden;
  for (std::string line; std::getline(in, line);) {
    if (command.empty()) {
      if (line.starts_with("$ ")) command = line.substr(2);
    } else if (line.starts_with("[exit ")) {
      golden.exit = std::stoi(line.substr(6));
      entries.emplace(command, golden);
      command.clear();
      golden = {};
    } else {
      golden.output += line + "\n";
    }
  }
  return entries;
}

}  // namespace drover
