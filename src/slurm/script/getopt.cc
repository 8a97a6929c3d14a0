#include "slurm/script/getopt.h"

#include <getopt.h>

#include "base/text.h"

namespace drover::slurm {
namespace {

constexpr int kFirstLong = 1000;  // getopt_long's val of row 0; letters stay below it

int has_arg(Takes takes) {
  switch (takes) {
    case Takes::nothing:
      return no_argument;
    case Takes::value:
      return required_argument;
    case Takes::maybe_value:
      return optional_argument;
  }
  return no_argument;
}

// getopt_long's tables for ours; the names must outlive it.
struct GetoptTables {
  std::string letters;
  std::vector<option> longs;

  GetoptTables(std::span<const OptionName> table, Operands operands) {
    letters = operands == Operands::stop_at_first ? "+:" : ":";
    for (std::size_t i = 0; i < table.size(); ++i) {
      longs.push_back({table[i].name.c_str(), has_arg(table[i].takes), nullptr, kFirstLong + static_cast<int>(i)});
      if (table[i].letter == 0) continue;
      letters += table[i].letter;
      if (table[i].takes != Takes::nothing) letters += ':';
      if (table[i].takes == Takes::maybe_value) letters += ':';
    }
    longs.push_back({nullptr, 0, nullptr, 0});
  }
};

class Complaint {
 public:
  Complaint(std::string_view program, std::span<const OptionName> table) : program_(program), table_(table) {}

  // `result` is getopt_long's '?' or ':', `word` the one it stopped at.
  [[nodiscard]] Error about(int result, int chosen, const std::string& word) const {
    const std::string shown = "'" + printable(word) + "'";
    if (chosen >= kFirstLong) {
      const std::string& name = table_[static_cast<std::size_t>(chosen - kFirstLong)].name;
      if (result == ':') return usage("option '--" + name + "' requires an argument");
      return usage("option '--" + name + "' doesn't allow an argument");
    }
    if (chosen != 0) {
      const std::string letter = printable(std::string(1, static_cast<char>(chosen)));
      if (result == ':') return usage("option requires an argument -- '" + letter + "'");
      return usage("invalid option -- '" + letter + "'");
    }
    const std::string_view stem = std::string_view(word).substr(2, std::string_view(word).find('=') - 2);
    std::string possibilities;
    std::vector<std::string_view> names;
    for (const OptionName& option : table_) {
      names.push_back(option.name);
      if (!stem.empty() && option.name.starts_with(stem)) possibilities += " '--" + option.name + "'";
    }
    if (!possibilities.empty()) return usage("option " + shown + " is ambiguous; possibilities:" + possibilities);
    Error error = usage("unrecognized option " + shown);
    const std::string_view meant = nearest_word(stem, names);
    if (!meant.empty()) error.message += "\n" + program_ + ": did you mean '--" + std::string(meant) + "'?";
    return error;
  }

 private:
  [[nodiscard]] Error usage(const std::string& what) const {
    return {Errc::invalid, program_ + ": " + what + "\nTry \"" + program_ + " --help\" for more information"};
  }
  std::string program_;
  std::span<const OptionName> table_;
};

}  // namespace

Result<OptionWords> parse_option_words(std::string_view program, std::span<const OptionName> table,
                                       const std::vector<std::string>& words, Operands operands) {
  const GetoptTables tables(table, operands);
  const Complaint complaint(program, table);
  std::vector<std::string> copies{std::string(program)};
  copies.insert(copies.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  const int argc = static_cast<int>(copies.size());

  OptionWords result;
  opterr = 0;
  optind = 0;  // starts glibc's getopt afresh
  for (;;) {
    const int before = optind == 0 ? 1 : optind;
    const int found = getopt_long(argc, argv.data(), tables.letters.c_str(), tables.longs.data(), nullptr);
    if (found == -1) break;
    if (found == '?' || found == ':') {
      // With operands in between, the word getopt_long stopped at stands just before optind.
      const int at = operands == Operands::stop_at_first && optopt != 0 ? before : optind - 1;
      return complaint.about(found, optopt, argv[static_cast<std::size_t>(at < 1 ? 1 : at)]);
    }
    ChosenOption chosen{.row = 0, .value = {}, .word = static_cast<std::size_t>(optind < 2 ? 0 : optind - 2)};
    while (found < kFirstLong && table[chosen.row].letter != found) ++chosen.row;
    if (found >= kFirstLong) chosen.row = static_cast<std::size_t>(found - kFirstLong);
    if (optarg != nullptr) chosen.value = optarg;
    result.chosen.push_back(std::move(chosen));
  }
  for (int i = optind; i < argc; ++i) result.rest.emplace_back(argv[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace drover::slurm
