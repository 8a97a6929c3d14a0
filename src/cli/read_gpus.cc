#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/text.h"
#include "cli/amounts.h"
#include "cli/cards.h"
#include "cli/cluster_part.h"

namespace drover::cli {
namespace {

constexpr std::string_view kGpuKeys[] = {"model", "count", "memory", "product", "capability",
                                         "files", "nvlink", "numa",  "attributes"};
constexpr std::uint32_t kMostGpus = 64;

// Which card of the table it is, or nullptr; an error when the file must say more.
Result<const Card*> card_of(const YamlValue& where, std::string_view model, std::optional<Bytes> memory) {
  std::vector<const Card*> cards;
  for (const Card& card : known_cards()) {
    if (card.model == model) cards.push_back(&card);
  }
  if (memory) {
    for (const Card* card : cards) {
      const bool same = *memory == Bytes::of(std::int64_t{card->box_gb} * 1'000'000'000) ||
                        *memory == gibibytes(card->box_gb) || *memory == mebibytes(card->memory_mib);
      if (same) return card;
    }
    return static_cast<const Card*>(nullptr);
  }
  if (cards.size() == 1) return cards[0];
  if (cards.empty()) {
    return where.error("GPU model '" + printable(model, 60) + "' isn't known by itself: say its memory");
  }
  return where.error("'" + std::string(model) + "' comes in several sizes: say memory: " +
                     std::to_string(cards[0]->box_gb) + "GB or " + std::to_string(cards[1]->box_gb) + "GB");
}

Status read_files(std::vector<DeviceInfo>& gpus, const YamlValue& files) {
  const std::vector<YamlValue> items = TRY(files.items());
  if (items.size() != gpus.size()) {
    return files.error(std::to_string(items.size()) + " entries of device files for " + std::to_string(gpus.size()) +
                       " GPUs: one entry (a file, or a list of files) belongs to each");
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    gpus[i].files = TRY(items[i].texts());
    for (const std::string& file : gpus[i].files) {
      if (file.starts_with("/dev/")) continue;
      return items[i].error("'" + printable(file) + "' is not a device file under /dev");
    }
  }
  return Done{};
}

Result<DeviceInfo> read_model(const YamlValue& entry, const YamlFields& fields) {
  DeviceInfo gpu;
  gpu.declared = true;
  const YamlValue* model = fields.find("model");
  if (model == nullptr) return entry.error("'model:' of the GPUs is missing, as in model: a100");
  gpu.model = TRY(model->text());
  if (gpu.model.find_first_of(":,=() \t") != std::string::npos) {
    return model->error("'" + printable(gpu.model, 60) + "' can't be a GPU model: it is typed as --gres=gpu:MODEL:1");
  }
  std::optional<Bytes> memory;
  if (const YamlValue* value = fields.find("memory")) {
    const auto size = parse_card_size(TRY(value->text()));
    if (!size) return value->error(size.error().message);
    memory = *size;
  }
  const Card* const card = TRY(card_of(entry, gpu.model, memory));
  if (card != nullptr) {
    gpu.product = card->product;
    gpu.memory = mebibytes(card->memory_mib);
    gpu.capability = card->capability;
  } else {
    gpu.product = gpu.model;
    gpu.memory = memory.value_or(Bytes{});
  }
  if (const YamlValue* product = fields.find("product")) gpu.product = TRY(product->text());
  if (const YamlValue* capability = fields.find("capability")) {
    const auto number = parse_capability(TRY(capability->text()));
    if (!number) return capability->error(number.error().message);
    gpu.capability = *number;
  }
  if (const YamlValue* numa = fields.find("numa")) gpu.numa = static_cast<std::int32_t>(TRY(numa->number()) & 0xffffU);
  if (const YamlValue* attributes = fields.find("attributes")) gpu.attributes = TRY(attributes->pairs());
  return gpu;
}

// The GPUs of one entry; the first of them has index `first`.
Result<std::vector<DeviceInfo>> read_group(const YamlValue& entry, std::uint32_t first) {
  const YamlFields fields = TRY(entry.fields(kGpuKeys));
  const DeviceInfo model = TRY(read_model(entry, fields));
  const YamlValue* files = fields.find("files");
  std::uint32_t count = 1;
  if (const YamlValue* number = fields.find("count")) {
    count = TRY(number->number());
    if (count == 0 || count > kMostGpus) {
      return number->error("count is 1 to 64; a node without GPUs has gpus: none");
    }
  } else if (files != nullptr) {
    count = static_cast<std::uint32_t>(std::min<std::size_t>(TRY(files->items()).size(), kMostGpus));
  }
  std::vector<DeviceInfo> gpus(count, model);
  if (files != nullptr) TRY(read_files(gpus, *files));
  const YamlValue* nvlink = fields.find("nvlink");
  const bool linked = nvlink != nullptr && TRY(nvlink->flag());
  for (std::uint32_t i = 0; i < count; ++i) {
    gpus[i].index = first + i;
    for (std::uint32_t j = 0; linked && j < count; ++j) {
      if (i != j) gpus[i].links.push_back(first + j);
    }
  }
  return gpus;
}

}  // namespace

Result<std::vector<DeviceInfo>> read_gpus(const YamlValue& value, const std::string& node) {
  if (value.is_text() && lower(TRY(value.text())) == "none") return std::vector<DeviceInfo>{};
  if (value.is_text()) return value.error("gpus: is none, a mapping (model: a100, count: 8) or a list of such");
  std::vector<YamlValue> groups{value};
  if (value.is_list()) groups = TRY(value.items());
  std::vector<DeviceInfo> gpus;
  for (const YamlValue& group : groups) {
    for (DeviceInfo& gpu : TRY(read_group(group, static_cast<std::uint32_t>(gpus.size())))) {
      gpu.uuid = "GPU-declared-" + node + "-" + std::to_string(gpu.index);
      gpus.push_back(std::move(gpu));
    }
    if (gpus.size() > kMostGpus) return group.error("a node has at most 64 GPUs");
  }
  return gpus;
}

}  // namespace drover::cli
