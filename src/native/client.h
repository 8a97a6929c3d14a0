// The client side of drover's own API, for its commands: typed calls over the controller's Unix
// socket, with retries that never make two jobs of one wish. Synchronous, cheap to start.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"
#include "base/result.h"
#include "native/messages.h"
#include "wire/http_client.h"

namespace drover::native {

struct ClientOptions {
  Duration connect_patience = seconds(3);  // for a controller that is being started again
  Duration answer_patience = seconds(60);  // for one that does not answer
  Duration submit_deadline = seconds(90);  // over all attempts of one wish
};

class Client {
 public:
  // The cluster that find_state_folder() names. Nothing is sent yet.
  [[nodiscard]] static Result<Client> connect(ClientOptions options = {});
  explicit Client(std::string state_folder, ClientOptions options = {});

  // A submit or a step without a key gets one, and is sent again with it when the connection breaks or the
  // controller is busy, until the deadline: however often it arrives, it makes one. Other wishes
  // are sent again only while nothing can have arrived.
  [[nodiscard]] Result<api::Answer> execute(Wish wish);
  [[nodiscard]] Result<std::variant<api::WouldStart, Refusal>> would_start(const Wish& wish);

  [[nodiscard]] Result<api::ListHeader> jobs(const api::JobQuery& query,
                                             const std::function<void(api::JobView&)>& visit);
  [[nodiscard]] Result<api::ListHeader> steps(const api::StepQuery& query,
                                              const std::function<void(api::StepView&)>& visit);
  [[nodiscard]] Result<api::ListHeader> nodes(const std::function<void(api::NodeView&)>& visit);
  [[nodiscard]] Result<api::ListHeader> partitions(const std::function<void(api::PartitionView&)>& visit);
  [[nodiscard]] Result<std::vector<HistoryRow>> history(const HistoryQuery& query);
  [[nodiscard]] Result<api::Overview> overview();
  [[nodiscard]] Status ping();
  [[nodiscard]] Result<std::string> script(JobId job);
  [[nodiscard]] Result<std::string> environment(JobId job);
  // Waits until the job has ended, across restarts of the controller.
  [[nodiscard]] Result<std::vector<api::JobView>> wait_ended(JobId job);
  // Waits until the job runs or has ended, or for about `patience`, across restarts of the controller.
  [[nodiscard]] Result<std::vector<api::JobView>> wait_started(JobId job, Duration patience = Duration::max());
  // The client of an allocation is still there: to be said every 10 s.
  [[nodiscard]] Result<api::Answer> keep(JobId job);

  [[nodiscard]] const std::string& state_folder() const { return state_folder_; }

 private:
  enum class Again { while_unsent, always };
  [[nodiscard]] Result<wire::Response> call(const wire::ClientRequest& request, Again again, Duration limit,
                                            const wire::HttpClient::OnBody& on_body = nullptr);
  [[nodiscard]] Result<AnswerBody> ask(std::string_view path, const Wish& wish, Again again, Duration limit);
  [[nodiscard]] Result<std::vector<api::JobView>> wait(JobId job, bool for_start, Duration patience);
  template <class Row>
  [[nodiscard]] Result<api::ListHeader> list(const wire::ClientRequest& request,
                                             const std::function<void(Row&)>& visit);

  std::string state_folder_;
  ClientOptions options_;
  wire::HttpClient http_;
};

}  // namespace drover::native
