#include "native/client.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/proto.h"
#include "native/discovery.h"
#include "native/login.h"
#include "native/rows.h"
#include "os/clock.h"
#include "os/random.h"

namespace drover::native {
namespace {

constexpr Duration kFirstPause{20};
constexpr Duration kLongestPause{500};

void pause_for(Duration pause) { ::poll(nullptr, 0, static_cast<int>(pause.count())); }

std::string new_key() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string key;
  for (const char c : random_bytes(16)) {
    const auto byte = static_cast<unsigned char>(c);
    key += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return key;
}

wire::ClientRequest get(std::string target, std::string_view accept) {
  return {"GET", std::move(target), {{"Accept", std::string(accept)}}, {}, {}};
}

template <class T>
wire::ClientRequest post(std::string_view target, std::string_view accept, const T& body) {
  return {"POST", std::string(target), {{"Accept", std::string(accept)}}, std::string(kProtoType), encode(body)};
}

// The error in an answer that is not 2xx.
Error error_of(const wire::Response& response) {
  if (response.header("Content-Type").starts_with(kProtoType)) {
    const auto body = decode<AnswerBody>(response.body);
    if (body && body->error) return {errc_from_word(body->error->code), body->error->message};
  }
  const std::string_view line = std::string_view(response.body).substr(0, response.body.find('\n'));
  return {Errc::unavailable, "the controller answered " + std::to_string(response.status) + " " + std::string(line)};
}

bool is_busy(int status) { return status == 429 || status == 503; }

std::string job_path(JobId job, std::string_view rest) {
  return "/v1/jobs/" + std::to_string(job.value()) + std::string(rest);
}

wire::ClientOptions wire_options(const std::string& state_folder, const ClientOptions& options) {
  wire::ClientOptions wire;
  if (is_login(state_folder)) {
    wire.dial = [state_folder, patience = options.connect_patience] { return dial_api(state_folder, patience); };
  }
  wire.connect_timeout = options.connect_patience;
  wire.read_timeout = options.answer_patience;
  return wire;
}

}  // namespace

Result<Client> Client::connect(ClientOptions options) { return Client(TRY(find_state_folder()), options); }

Client::Client(std::string state_folder, ClientOptions options)
    : state_folder_(std::move(state_folder)),
      options_(options),
      http_(wire::Endpoint::unix_socket(socket_in(state_folder_)), wire_options(state_folder_, options)) {}

// A controller that is being started again comes back within connect_patience; one that broke off in
// the middle may be asked again for as long as `limit` when asking twice does no harm.
Result<wire::Response> Client::call(const wire::ClientRequest& request, Again again, Duration limit,
                                    const wire::HttpClient::OnBody& on_body) {
  const Duration begin = since_boot();
  bool ever_sent = false;
  for (Duration pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
    Result<wire::Response> response = http_.stream(request, on_body);
    ever_sent = ever_sent || http_.sent();
    const bool busy = response && is_busy(response->status);
    if (response && !busy) return response;
    if (ever_sent && !busy && again == Again::while_unsent) return response;
    if (!response && response.error().code == Errc::denied) return response;  // it won't be otherwise soon
    const Duration patience = ever_sent ? limit : options_.connect_patience;
    if (since_boot() - begin + pause > patience) {
      if (response || ever_sent) return response;
      return std::move(response).error().under("no controller answers");
    }
    pause_for(pause);
  }
}

Result<AnswerBody> Client::ask(std::string_view path, const Wish& wish, Again again, Duration limit) {
  const wire::Response response = TRY(call(post(path, kProtoType, wish), again, limit));
  if (response.header("Content-Type").starts_with(kProtoType)) return decode<AnswerBody>(response.body);
  return error_of(response);
}

Result<api::Answer> Client::execute(Wish wish) {
  const bool makes = std::holds_alternative<Submit>(wish.command) || std::holds_alternative<CreateStep>(wish.command);
  if (makes && wish.key.empty()) wish.key = new_key();
  AnswerBody body = TRY(ask("/v1/commands", wish, makes ? Again::always : Again::while_unsent,
                            options_.submit_deadline));
  if (body.reply) return api::Answer(std::move(*body.reply));
  if (body.refusal) return api::Answer(std::move(*body.refusal));
  if (body.error) return Error{errc_from_word(body.error->code), body.error->message};
  return Error{Errc::unavailable, "the controller's answer is empty"};
}

Result<std::variant<api::WouldStart, Refusal>> Client::would_start(const Wish& wish) {
  using Found = std::variant<api::WouldStart, Refusal>;
  AnswerBody body = TRY(ask("/v1/plan", wish, Again::always, options_.connect_patience));
  if (body.would_start) return Found(std::move(*body.would_start));
  if (body.refusal) return Found(std::move(*body.refusal));
  if (body.error) return Error{errc_from_word(body.error->code), body.error->message};
  return Error{Errc::unavailable, "the controller's answer is empty"};
}

template <class Row>
Result<api::ListHeader> Client::list(const wire::ClientRequest& request, const std::function<void(Row&)>& visit) {
  std::optional<api::ListHeader> header;
  RowCutter cutter;
  Status status = Done{};
  const auto take = [&](std::string_view bytes) -> Status {
    if (!header) {
      header = TRY(decode<api::ListHeader>(bytes));
      return Done{};
    }
    Row row = TRY(decode<Row>(bytes));
    visit(row);
    return Done{};
  };
  const wire::Response response = TRY(call(request, Again::while_unsent, options_.connect_patience,
                                           [&](std::string_view piece) {
                                             if (status) status = cutter.feed(piece, take);
                                             return status.has_value();
                                           }));
  if (response.status != 200) return error_of(response);
  TRY(std::move(status));
  if (!header || !cutter.at_border()) return Error{Errc::unavailable, "the controller's list is cut short"};
  return std::move(*header);
}

Result<api::ListHeader> Client::jobs(const api::JobQuery& query, const std::function<void(api::JobView&)>& visit) {
  return list<api::JobView>(post("/v1/jobs/list", kRowsType, query), visit);
}

Result<api::ListHeader> Client::steps(const api::StepQuery& query, const std::function<void(api::StepView&)>& visit) {
  return list<api::StepView>(post("/v1/steps/list", kRowsType, query), visit);
}

Result<api::ListHeader> Client::nodes(const std::function<void(api::NodeView&)>& visit) {
  return list<api::NodeView>(get("/v1/nodes", kRowsType), visit);
}

Result<api::ListHeader> Client::partitions(const std::function<void(api::PartitionView&)>& visit) {
  return list<api::PartitionView>(get("/v1/partitions", kRowsType), visit);
}

Result<std::vector<HistoryRow>> Client::history(const HistoryQuery& query) {
  std::vector<HistoryRow> rows;
  TRY(list<HistoryRow>(post("/v1/history/list", kRowsType, query),
                       [&rows](HistoryRow& row) { rows.push_back(std::move(row)); }));
  return rows;
}

Result<api::Overview> Client::overview() {
  const wire::Response response =
      TRY(call(get("/v1/status", kProtoType), Again::always, options_.connect_patience));
  if (response.status != 200) return error_of(response);
  return decode<api::Overview>(response.body);
}

Status Client::ping() {
  const wire::Response response = TRY(call(get("/v1/ping", kJsonType), Again::always, options_.connect_patience));
  if (response.status != 200) return error_of(response);
  return Done{};
}

Result<std::string> Client::script(JobId job) {
  wire::Response response =
      TRY(call(get(job_path(job, "/script"), kProtoType), Again::always, options_.connect_patience));
  if (response.status != 200) return error_of(response);
  return std::move(response.body);
}

Result<std::string> Client::environment(JobId job) {
  wire::Response response =
      TRY(call(get(job_path(job, "/environment"), kProtoType), Again::always, options_.connect_patience));
  if (response.status != 200) return error_of(response);
  return std::move(response.body);
}

Result<std::vector<api::JobView>> Client::wait_ended(JobId job) { return wait(job, false, Duration::max()); }

Result<std::vector<api::JobView>> Client::wait_started(JobId job, Duration patience) {
  return wait(job, true, patience);
}

Result<std::vector<api::JobView>> Client::wait(JobId job, bool for_start, Duration patience) {
  const auto has_come = [for_start](const api::JobView& view) {
    if (!for_start) return view.phase == Phase::ended;
    return view.phase != Phase::waiting && view.phase != Phase::placed;
  };
  const Duration begin = since_boot();
  for (Duration lost = begin;;) {
    // Shorter than answer_patience, so that a silent controller is told apart from a long job.
    const Duration left = patience == Duration::max() ? patience : patience - (since_boot() - begin);
    const Duration once = std::clamp(left, Duration(1), std::max(options_.answer_patience / 2, Duration(1)));
    const std::string target = job_path(job, "/wait?patience_ms=" + std::to_string(once.count()));
    std::vector<api::JobView> views;
    const auto header = list<api::JobView>(get(for_start ? target + "&for=started" : target, kRowsType),
                                           [&views](api::JobView& view) { views.push_back(std::move(view)); });
    if (!header) {
      if (header.error().code != Errc::unavailable || since_boot() - lost > options_.submit_deadline) {
        return header.error();
      }
      pause_for(kLongestPause);
      continue;
    }
    if (std::ranges::all_of(views, has_come) || since_boot() - begin >= patience) return views;
    lost = since_boot();
  }
}

Result<api::Answer> Client::keep(JobId job) {
  const wire::ClientRequest request{"POST", job_path(job, "/keep"), {{"Accept", std::string(kProtoType)}}, {}, {}};
  const wire::Response response = TRY(call(request, Again::always, options_.connect_patience));
  if (!response.header("Content-Type").starts_with(kProtoType)) return error_of(response);
  AnswerBody body = TRY(decode<AnswerBody>(response.body));
  if (body.reply) return api::Answer(std::move(*body.reply));
  if (body.refusal) return api::Answer(std::move(*body.refusal));
  return error_of(response);
}

}  // namespace drover::native
