#include <array>

#include "kube/object/kinds/kinds.h"
#include "kube/schema/base64.h"

namespace drover::kube {
namespace {

// What a secret of a type must hold.
struct Needs {
  std::string_view type;
  std::array<std::string_view, 2> keys;
};
constexpr std::array kNeeds{Needs{"kubernetes.io/dockercfg", {".dockercfg", ""}},
                            Needs{"kubernetes.io/dockerconfigjson", {".dockerconfigjson", ""}},
                            Needs{"kubernetes.io/ssh-auth", {"ssh-privatekey", ""}},
                            Needs{"kubernetes.io/tls", {"tls.crt", "tls.key"}}};

// stringData is for writing only: plain texts that become entries of data.
void fill(Object& object) {
  set_default(object, "type", "Opaque");
  const Value* plain = object.if_contains("stringData");
  if (plain == nullptr) return;
  if (plain->is_object()) {
    const Object texts = plain->get_object();
    Object& data = make_object(object, "data");
    for (const auto& entry : texts) data[entry.key()] = to_base64(text(&entry.value()));
  }
  object.erase("stringData");
}

void check_type(Problems& problems, const Value& object) {
  const std::string_view type = text_at(object, "type");
  const Object* data = object_at(object, "data");
  const auto has = [data](std::string_view key) { return data != nullptr && data->contains(key); };
  for (const Needs& needs : kNeeds) {
    if (needs.type != type) continue;
    for (const std::string_view key : needs.keys) {
      if (!key.empty() && !has(key)) problems.required(Path("data").key(key));
    }
  }
  if (type == "kubernetes.io/basic-auth" && !has("username") && !has("password")) {
    problems.required(Path("data").key("username"));
    problems.required(Path("data").key("password"));
  }
  if (type == "kubernetes.io/service-account-token") {
    const Value* annotations = at(object, "metadata.annotations");
    constexpr std::string_view kAccount = "kubernetes.io/service-account.name";
    if (annotations == nullptr || text(member(*annotations, kAccount)).empty()) {
      problems.required((Path("metadata") / "annotations").key(kAccount));
    }
  }
}

void check(Problems& problems, const Value& object) {
  std::size_t bytes = 0;
  if (const Object* data = object_at(object, "data")) {
    for (const auto& entry : *data) {
      const std::string_view key = entry.key();
      problems.invalid(Path("data").key(key), key, config_key(key));
      const auto value = from_base64(text(&entry.value()));
      // The value itself is nobody's to read in an error.
      if (!value) problems.invalid(Path("data").key(key), "", "must be base64");
      bytes += value ? value->size() : 0;
    }
  }
  if (bytes > kMostData) problems.too_long(Path("data"), kMostData);
  check_type(problems, object);
}

void check_change(Problems& problems, const Value& was, const Value& now) {
  check_same(problems, was, now, "type");
  check_immutable(problems, was, now, {"data"});
}

}  // namespace

const KindRules& secret_rules() {
  static const KindRules kRules{
      .kind = "Secret", .fill = fill, .check = check, .check_change = check_change};
  return kRules;
}

}  // namespace drover::kube
