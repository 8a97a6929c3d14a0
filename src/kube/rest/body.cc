#include "kube/rest/body.h"

#include "base/text.h"
#include "kube/json/field_problems.h"
#include "kube/json/parse.h"
#include "kube/json/yaml.h"
#include "kube/protobuf/decode.h"
#include "kube/rest/route.h"
#include "kube/schema/conform.h"

namespace drover::kube {
namespace {

constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";
constexpr std::string_view kYaml = "application/yaml";
constexpr std::string_view kAccepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";

Failure unreadable(std::string_view kind, std::string_view form, const Error& error, std::string_view body) {
  if (error.code == Errc::exhausted) return too_large("Request entity too large: " + error.message);
  constexpr std::size_t kShown = 200;
  return bad_request("the object provided is unrecognized (must be of type " + std::string(kind) +
                     "): couldn't get version/kind; " + std::string(form) + " parse error: " + error.message + " (" +
                     printable(body.substr(0, kShown)) + ")");
}

// Says the object another version or kind than the address?
std::optional<Failure> check_kind(const Value& value, std::string_view api_version, std::string_view kind) {
  const std::string_view version = text(member(value, "apiVersion"));
  const std::string_view said = text(member(value, "kind"));
  if (!said.empty() && said != kind) {
    return bad_request("the kind of the object (" + std::string(said) + ") does not match the kind of the request (" +
                       std::string(kind) + ")");
  }
  if (!version.empty() && version != api_version) {
    return bad_request("the API version in the data (" + std::string(version) +
                       ") does not match the expected API version (" + std::string(api_version) + ")");
  }
  return std::nullopt;
}

// Says the envelope no kind, then it is the address's.
Outcome<Value> from_protobuf(std::string_view body, std::string_view api_version, std::string_view kind) {
  const auto envelope = read_envelope(body);
  if (!envelope) return bad_request("the protobuf body can't be read: " + envelope.error().message);
  if (auto wrong =
          check_kind(Object{{"apiVersion", envelope->api_version}, {"kind", envelope->kind}}, api_version, kind)) {
    return *wrong;
  }
  const Message* message = Schema::built_in().kind(api_version, kind);
  if (message == nullptr) return bad_request("no kind \"" + std::string(kind) + "\" is registered");
  auto decoded = decode_message(envelope->raw, *message);
  if (!decoded) return bad_request("the protobuf body can't be read: " + decoded.error().message);
  return *std::move(decoded);
}

}  // namespace

std::string api_version_of(const Resource& resource) {
  return resource.group.empty() ? std::string(resource.version)
                                : std::string(resource.group) + "/" + std::string(resource.version);
}

Outcome<Body> conformed(Value value, const wire::Target& target, std::string_view api_version, std::string_view kind,
                        std::vector<std::string> duplicates) {
  const auto mode = field_validation(query(target, "fieldValidation"));
  if (!mode)
    return bad_request("fieldValidation: Unsupported value: \"" + std::string(query(target, "fieldValidation")) +
                       "\"");
  const Message* message = Schema::built_in().kind(api_version, kind);
  if (message == nullptr) return bad_request("no kind \"" + std::string(kind) + "\" is registered");
  FieldProblems problems{.unknown = {}, .duplicate = std::move(duplicates)};
  if (const Status fits = conform(value, *message, problems); !fits) {
    return bad_request(std::string(kind) + " in version \"" + std::string(split_api_version(api_version).version) +
                       "\" cannot be handled as a " + std::string(kind) + ": " + fits.error().message);
  }
  if (const Status clean = check_fields(problems, *mode); !clean) {
    return bad_request(std::string(kind) + " in version \"" + std::string(split_api_version(api_version).version) +
                       "\" cannot be handled as a " + std::string(kind) + ": " + clean.error().message);
  }
  value.as_object()["kind"] = kind;
  value.as_object()["apiVersion"] = api_version;
  return Body{.value = std::move(value), .warnings = warnings(problems, *mode)};
}

Outcome<Body> read_body(const wire::Request& request, const wire::Target& target, std::string_view api_version,
                        std::string_view kind) {
  const std::string_view media =
      trim(request.header("Content-Type").substr(0, request.header("Content-Type").find(';')));
  if (request.body.size() > kMostBytes) {
    return too_large("Request entity too large: limit is " + std::to_string(kMostBytes));
  }
  if (media == kProtobuf) {
    Value decoded = TRY(from_protobuf(request.body, api_version, kind));
    return conformed(std::move(decoded), target, api_version, kind, {});
  }
  if (!media.empty() && media != "application/json" && media != kYaml) return unknown_media_type(kAccepted);
  auto parsed = media == kYaml ? parse_yaml(request.body, {.bytes = kMostBytes})
                               : parse_noting_duplicates(request.body, {.bytes = kMostBytes});
  if (!parsed) return unreadable(kind, media == kYaml ? "yaml" : "json", parsed.error(), request.body);
  if (!parsed->value.is_object()) return bad_request("the body is no object");
  if (auto wrong = check_kind(parsed->value, api_version, kind)) return *wrong;
  return conformed(std::move(parsed->value), target, api_version, kind, std::move(parsed->duplicates));
}

}  // namespace drover::kube
