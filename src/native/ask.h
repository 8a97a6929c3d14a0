// One request on its way through the server, and the forms in which it is answered. Internal to
// native's server.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "api/service.h"
#include "native/from_json.h"
#include "native/messages.h"
#include "native/rows.h"
#include "native/to_json.h"
#include "wire/http_server.h"
#include "wire/target.h"

namespace drover::native {

struct Ask {
  wire::Request request;
  wire::Target target;
  wire::Responder responder;
  Caller caller;
  bool proto = false;  // the answer's form: protobuf (rows for lists) or JSON
};

[[nodiscard]] bool wants_proto(const wire::Request& request);

void answer_error(const wire::Responder& responder, bool proto, const Error& error);
void answer_refusal(const wire::Responder& responder, bool proto, const Refusal& refusal);
void answer_bytes(const wire::Responder& responder, int status, std::string_view type, wire::Bytes body);

template <class T>
void answer_value(const wire::Responder& responder, bool proto, const T& value) {
  answer_bytes(responder, 200, proto ? kProtoType : kJsonType, wire::bytes(proto ? encode(value) : to_json(value)));
}

// The body in the form that Content-Type names.
template <class T>
[[nodiscard]] Result<T> read_body(const wire::Request& request) {
  const std::string_view type = request.header("Content-Type");
  if (type.starts_with(kProtoType)) return decode<T>(request.body);
  if (!type.starts_with(kJsonType)) {
    return Error{Errc::invalid, "send the body as Content-Type: application/json"};
  }
  return from_json<T>(request.body);
}

// Builds a list in either form: {"jobs":[...],"header":{...}}, or rows after their header.
class ListBuilder {
 public:
  ListBuilder(bool proto, std::string_view name, const std::vector<std::uint32_t>& fields)
      : proto_(proto), fields_(fields) {
    if (!proto_) body_ = "{\"" + std::string(name) + "\":[";
  }
  template <class Row>
  void add(const Row& row) {
    if (proto_) {
      append_row(body_, row, fields_);
      return;
    }
    if (std::exchange(any_, true)) body_ += ',';
    append_json_fields(body_, row, fields_);
  }
  [[nodiscard]] std::string finish(const api::ListHeader& header) {
    if (proto_) {
      std::string first;
      append_row(first, header);
      return first + body_;
    }
    body_ += "],\"header\":";
    append_json(body_, header);
    return std::move(body_) + "}\n";
  }

 private:
  const bool proto_;
  const api::Fields fields_;
  std::string body_;
  bool any_ = false;
};

}  // namespace drover::native
