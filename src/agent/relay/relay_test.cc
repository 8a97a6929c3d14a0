#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include "agent/relay/api_door.h"
#include "base/proto.h"
#include "native/membership.h"
#include "os/clock.h"
#include "os/temp_folder.h"
#include "relay/pump.h"
#include "tls/certificate.h"
#include "tls/transport.h"
#include "wire/http_client.h"
#include "wire/http_server.h"

namespace drover::agent {
namespace {

// A controller that vouches as told, and answers with who asks.
struct House {
  House() {
    ::signal(SIGPIPE, SIG_IGN);
    const Instant now = wall_now();
    const tls::Validity valid{now - minutes(5), now + minutes(60)};
    const auto authority = tls::make_authority("c1", valid).value();
    const auto issue = [&](const tls::Identity& who) {
      const std::string key = tls::make_key().value();
      return tls::Credentials{
          .authority = authority.certificate,
          .certificate = tls::sign_request(authority, tls::make_request(key).value(), who, {}, valid).value(),
          .key = key};
    };
    const auto server_side = tls::Context::make(
        tls::Context::Side::server, issue({.kind = tls::Identity::Kind::controller, .cluster = "c1"}),
        {.cluster = "c1"});
    client_side = tls::Context::make(tls::Context::Side::client, issue({.cluster = "c1", .name = "n1"}),
                                     {.cluster = "c1"}).value();
    wire::ServerOptions options;
    options.at = wire::Endpoint::tcp("127.0.0.1", 0);
    options.transport = tls::server_transport(server_side.value(), nullptr);
    server = wire::Server::start(std::move(options), [this](wire::Request&& request, const wire::Responder& responder) {
               if (request.target != "/v1/vouch") {
                 const auto& who = request.peer.local;
                 responder.answer(wire::text_answer(200, who ? std::to_string(who->uid) + request.body : "nobody"));
                 return;
               }
               const auto ask = decode<native::VouchAsk>(request.body).value();
               if (refuse) {
                 responder.answer(wire::text_answer(403, "not here"));
                 return;
               }
               wire::Peer peer = request.peer;
               peer.local = wire::Peer::Local{.uid = ask.uid, .gid = ask.gid};
               responder.adopt(peer);
               responder.answer(wire::text_answer(200, "ok"));
             }).value();
    pump = relay::Pump::start().value();
    door = ApiDoor::open({.path = folder.path("api"),
                          .controller = wire::Endpoint::tcp("127.0.0.1", server->port()),
                          .context = client_side}, *pump).value();
  }
  wire::HttpClient caller() { return wire::HttpClient(wire::Endpoint::unix_socket(folder.path("api"))); }

  TempFolder folder;
  bool refuse = false;
  std::shared_ptr<tls::Context> client_side;
  std::unique_ptr<wire::Server> server;
  std::unique_ptr<relay::Pump> pump;
  std::unique_ptr<ApiDoor> door;
};

TEST(ApiDoor, TheControllerHearsTheLocalCaller) {
  House house;
  wire::HttpClient caller = house.caller();
  const std::string me = std::to_string(::geteuid());
  for (const std::string& body : {std::string("!"), std::string(2'000'000, 'x')}) {
    const auto answer = caller.call({.method = "POST", .target = "/v1/x", .body = body});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->body, me + body);
  }
  EXPECT_EQ(house.pump->pairs(), 1U);
}

TEST(ApiDoor, ARefusalIsTheCallersToRead) {
  House house;
  house.refuse = true;
  const auto answer = house.caller().call({});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 403);
  EXPECT_EQ(answer->body, "not here");
}

TEST(ApiDoor, WithoutAControllerItIsBusy) {
  House house;
  house.server->stop();
  const auto answer = house.caller().call({});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->status, 503);
  EXPECT_FALSE(answer->header("Retry-After").empty());
}

TEST(Pump, EndsWithItsConnections) {
  House house;
  const auto gone = [&] {
    for (int i = 0; i < 1000 && house.pump->pairs() != 0; ++i) ::usleep(5'000);
    return house.pump->pairs() == 0;
  };
  {
    wire::HttpClient caller = house.caller();
    ASSERT_TRUE(caller.call({}).has_value());
  }
  EXPECT_TRUE(gone());
}

}  // namespace
}  // namespace drover::agent
