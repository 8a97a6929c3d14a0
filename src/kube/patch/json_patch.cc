#include "kube/patch/json_patch.h"

#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace drover::kube {
namespace {

using Path = std::vector<std::string>;

// "/a~1b/0" -> {"a/b", "0"}; "" is the whole document.
Result<Path> read_pointer(std::string_view text) {
  Path path;
  if (text.empty()) return path;
  if (text.front() != '/') return Error{Errc::invalid, "the path must start with '/'"};
  for (const std::string_view part : split(text.substr(1), '/')) {
    std::string name;
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (part[i] != '~') {
        name += part[i];
      } else if (++i < part.size() && (part[i] == '0' || part[i] == '1')) {
        name += part[i] == '0' ? '~' : '/';
      } else {
        return Error{Errc::invalid, "'~' in a path is followed by 0 or 1"};
      }
    }
    path.push_back(std::move(name));
  }
  if (text == "/") path.emplace_back();
  return path;
}

Error missing(std::string_view name) {
  return {Errc::conflict, "there is no member " + printable(name)};
}

// A position in an array of `size` items; `end` allows the one behind the last, also as "-".
Result<std::size_t> position(std::string_view name, std::size_t size, bool end) {
  if (end && name == "-") return size;
  const auto index = parse_uint(name);
  if (!index || (name.size() > 1 && name.front() == '0')) {
    return Error{Errc::conflict, printable(name) + " is no position in a list"};
  }
  if (*index >= size + (end ? 1 : 0)) {
    return Error{Errc::conflict, "the list has no position " + printable(name)};
  }
  return *index;
}

// The pointer into `here`, one step down.
Result<Value*> step(Value& here, std::string_view name) {
  if (Object* object = here.if_object()) {
    Value* inner = object->if_contains(name);
    if (inner == nullptr) return missing(name);
    return inner;
  }
  if (Array* array = here.if_array()) return &(*array)[TRY(position(name, array->size(), false))];
  return missing(name);
}

Result<Value*> find(Value& document, const Path& path, std::size_t steps) {
  Value* here = &document;
  for (std::size_t i = 0; i < steps; ++i) here = TRY(step(*here, path[i]));
  return here;
}

class Patcher {
 public:
  Patcher(Value& document, const PatchLimits& limits) : document_(document), limits_(limits) {}

  Status run(const Value& operation) {
    const std::string_view op = text_at(operation, "op");
    const Path path = TRY(read_pointer(text_at(operation, "path")));
    if (op == "remove") return remove(path);
    if (op == "move" || op == "copy") return transfer(operation, path, op == "move");
    const Value* value = member(operation, "value");
    if (op == "add" || op == "replace" || op == "test") {
      if (value == nullptr) return Error{Errc::invalid, "it has no value"};
      if (op == "test") return test(path, *value);
      if (op == "replace") TRY(find(document_, path, path.size()));
      TRY(charge(path, *value));
      return op == "add" ? add(path, *value) : replace(path, *value);
    }
    return Error{Errc::invalid, "the operation is one of add, remove, replace, move, copy, test"};
  }

 private:
  // What is added is paid for before it is copied, so a few copies can't fill the memory.
  Status charge(const Path& path, const Value& value) {
    bytes_ += weight_of(value);
    if (bytes_ > limits_.bytes) return Error{Errc::exhausted, "the result is too large"};
    if (path.size() + depth_of(value) > limits_.depth)
      return Error{Errc::exhausted, "the result is too deep"};
    return Done{};
  }

  Status add(const Path& path, Value value) {
    if (path.empty()) {
      document_ = std::move(value);
      return Done{};
    }
    Value& parent = *TRY(find(document_, path, path.size() - 1));
    if (Object* object = parent.if_object()) {
      (*object)[path.back()] = std::move(value);
      return Done{};
    }
    Array* array = parent.if_array();
    if (array == nullptr) return missing(path.back());
    const std::size_t at = TRY(position(path.back(), array->size(), true));
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(at), std::move(value));
    return Done{};
  }

  Status replace(const Path& path, const Value& value) {
    *TRY(find(document_, path, path.size())) = value;
    return Done{};
  }

  Status remove(const Path& path) {
    if (path.empty()) return Error{Errc::conflict, "the whole object can't be removed"};
    Value& parent = *TRY(find(document_, path, path.size() - 1));
    TRY(step(parent, path.back()));
    if (Object* object = parent.if_object()) {
      kube::remove(*object, path.back());
    } else {
      Array& array = parent.get_array();
      const std::size_t at = TRY(position(path.back(), array.size(), false));
      array.erase(array.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return Done{};
  }

  Status transfer(const Value& operation, const Path& path, bool move) {
    const Value* source = member(operation, "from");
    if (source == nullptr || !source->is_string()) return Error{Errc::invalid, "it has no 'from'"};
    const Path from = TRY(read_pointer(text(source)));
    const Value& found = *TRY(find(document_, from, from.size()));
    TRY(charge(path, found));
    Value value = found;
    if (move) {
      const bool inside =
          path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin());
      if (inside) return Error{Errc::conflict, "a value can't be moved into itself"};
      if (path == from) return Done{};
      TRY(remove(from));
    }
    return add(path, std::move(value));
  }

  Status test(const Path& path, const Value& value) {
    if (same(*TRY(find(document_, path, path.size())), value)) return Done{};
    return Error{Errc::conflict, "the test failed"};
  }

  Value& document_;
  const PatchLimits& limits_;
  std::size_t bytes_ = 0;
};

std::string label(std::size_t number, const Value& operation) {
  return "operation " + std::to_string(number) + " (" + printable(text_at(operation, "op")) + " " +
         printable(text_at(operation, "path")) + ")";
}

}  // namespace

Result<Value> apply_json_patch(Value document, const Value& patch, const PatchLimits& limits) {
  const Array* operations = patch.if_array();
  if (operations == nullptr) return Error{Errc::invalid, "a JSON patch is a list of operations"};
  if (operations->size() > limits.operations) {
    return Error{Errc::exhausted, "The allowed maximum operations in a JSON patch is " +
                                      std::to_string(limits.operations) + ", got " +
                                      std::to_string(operations->size())};
  }
  Patcher patcher(document, limits);
  std::size_t number = 0;
  for (const Value& operation : *operations) {
    ++number;
    const Value* path = member(operation, "path");
    if (path == nullptr || !path->is_string()) {
      return Error{Errc::invalid, "operation " + std::to_string(number) + " has no path"};
    }
    if (auto done = patcher.run(operation); !done)
      return std::move(done).error().under(label(number, operation));
  }
  return document;
}

}  // namespace drover::kube
