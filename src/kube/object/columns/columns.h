// Tables as a server prints them for kubectl get: the columns of a kind, and the cells of an
// object.
#pragma once

#include <span>
#include <string_view>

#include "base/time.h"
#include "kube/json/value.h"

namespace drover::kube {

struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format;
  std::string_view description;
  int priority = 0;  // 1: with -o wide only
};

struct Table {
  std::string_view kind;
  std::span<const Column> columns;
  // As many cells as there are columns; ages are as of `now`.
  Array (*row)(const Value& object, Instant now);
};

// Name and age for kinds without columns of their own.
[[nodiscard]] const Table& table_of(std::string_view kind);

// columnDefinitions of a Table.
[[nodiscard]] Array column_definitions(const Table& table);

}  // namespace drover::kube
