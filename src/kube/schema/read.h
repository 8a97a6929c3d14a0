// The text format of *.schema files. One file is of one API group and version:
//
//   # a comment
//   group core/v1 io.k8s.api.core.v1              group, version, and how full names start
//
//   kind Pod listed : What it is.                 stands alone; `listed`: there is a PodList too
//     metadata 1 meta/ObjectMeta                  name, protobuf number, type
//     spec! 2 PodSpec : What it says.             `!`: required
//     priority? 3 int32                           `?`: zero differs from nothing
//
//   message PodSpec : What it is.
//     containers 2 [Container] map(name) merge(name) : A list.
//     nodeSelector 7 {string}                     a map from strings
//
// Types: string int32 int64 bool double bytes quantity time microtime duration int-or-string any
// strings, or a message of this group, of meta/ or of core/. After it may follow: atomic, set or
// map(KEYS), the kind of list; merge or merge(KEY), retainKeys, how strategic merge patches treat
// it; inline, its fields are members of the object around.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "kube/schema/schema.h"

namespace drover::kube {

// The texts must outlive the schema. Errors name the line: `line 7: there is no message Foo`.
[[nodiscard]] Result<Schema> read_schema(std::span<const std::string_view> texts);

// The files of src/kube/schema, as built in.
[[nodiscard]] std::span<const std::string_view> schema_texts();

}  // namespace drover::kube
