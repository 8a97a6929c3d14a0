// Plays a corpus, and seeded changes of it, through a fuzz target: the same inputs at every run.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChangesEach = 300;

void play(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());  // NOLINT
}

// A byte changed, a piece removed, doubled or moved, a word of another input put in.
std::string changed(std::string text, const std::string& other, drover::Random& random) {
  constexpr std::string_view kNasty("\0\xff-[]{}:,&*!|>'\"%@`#?\n\t 09", 28);
  for (std::uint64_t times = 1 + random.below(4); times > 0; --times) {
    const std::size_t at = text.empty() ? 0 : random.below(text.size() + 1);
    const std::size_t length = text.size() == at ? 0 : random.below(std::min<std::size_t>(text.size() - at, 16) + 1);
    switch (random.below(5)) {
      case 0: text.insert(at, 1, kNasty[random.below(kNasty.size())]); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.insert(at, other.substr(random.below(other.size() + 1), 16)); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random.below(256));
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::set<std::filesystem::path> files;  // in a fixed order
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.insert(entry.path());
  }
  std::vector<std::string> corpus{""};
  for (const auto& path : files) {
    std::ifstream in(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  drover::Random random(20'261'130);
  for (const std::string& input : corpus) {
    play(input);
    for (int i = 0; i < kChangesEach; ++i) play(changed(input, corpus[random.below(corpus.size())], random));
  }
  std::printf("played %zu inputs and %zu changes of them\n", corpus.size(), corpus.size() * kChangesEach);
  return corpus.size() > 1 ? 0 : 1;
}
