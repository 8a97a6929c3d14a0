#include "cli/cards.h"

namespace drover::cli {
namespace {

// Where a model comes in several sizes, the file must say which.
constexpr Card kCards[] = {
    {"a10", 24, "NVIDIA A10", 23'028, 86},
    {"a30", 24, "NVIDIA A30", 24'576, 80},
    {"a40", 48, "NVIDIA A40", 46'068, 86},
    {"a100", 40, "NVIDIA A100-SXM4-40GB", 40'960, 80},
    {"a100", 80, "NVIDIA A100-SXM4-80GB", 81'559, 80},
    {"b200", 180, "NVIDIA B200", 183'359, 100},
    {"h100", 80, "NVIDIA H100 80GB HBM3", 81'559, 90},
    {"h200", 141, "NVIDIA H200", 143'771, 90},
    {"l4", 24, "NVIDIA L4", 23'034, 89},
    {"l40s", 48, "NVIDIA L40S", 46'068, 89},
    {"t4", 16, "Tesla T4", 15'360, 75},
    {"v100", 16, "Tesla V100-SXM2-16GB", 16'384, 70},
    {"v100", 32, "Tesla V100-SXM2-32GB", 32'768, 70},
};

}  // namespace

std::span<const Card> known_cards() { return kCards; }

}  // namespace drover::cli
