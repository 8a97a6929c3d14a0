#include "native/ask.h"

namespace drover::native {
namespace {

void answer_body(const wire::Responder& responder, bool proto, int status, const AnswerBody& body) {
  wire::Answer answer{status, std::string(proto ? kProtoType : kJsonType), nullptr, {}};
  answer.body = wire::bytes(proto ? encode(body) : to_json(body) + "\n");
  if (status == 429 || status == 503) answer.headers.push_back({"Retry-After", "1"});
  responder.answer(std::move(answer));
}

}  // namespace

bool wants_proto(const wire::Request& request) {
  const std::string_view accept = request.header("Accept");
  return accept.starts_with(kProtoType) || accept.starts_with(kRowsType);
}

void answer_error(const wire::Responder& responder, bool proto, const Error& error) {
  AnswerBody body;
  body.error = ErrorBody{std::string(errc_word(error.code)), error.message};
  answer_body(responder, proto, http_status(error.code), body);
}

void answer_refusal(const wire::Responder& responder, bool proto, const Refusal& refusal) {
  const Errc code = errc_of(refusal.code);
  AnswerBody body;
  body.error = ErrorBody{std::string(errc_word(code)), refusal_text(refusal)};
  body.refusal = refusal;
  // Insufficient Storage: unlike a busy controller (503), asking again in a moment won't help.
  const int status = refusal.code == RefusalCode::no_space ? 507 : http_status(code);
  answer_body(responder, proto, status, body);
}

void answer_bytes(const wire::Responder& responder, int status, std::string_view type, wire::Bytes body) {
  responder.answer({status, std::string(type), std::move(body), {}});
}

}  // namespace drover::native
