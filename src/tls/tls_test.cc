#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "os/clock.h"
#include "tls/certificate.h"
#include "tls/signer.h"
#include "tls/channel.h"
#include "tls/context.h"
#include "tls/transport.h"
#include "wire/http_client.h"
#include "wire/http_server.h"

namespace drover::tls {
namespace {

const Instant kNow = wall_now();
const Validity kValid{kNow - minutes(5), kNow + minutes(60)};

Identity node(const std::string& name, const std::string& cluster = "c1") {
  return {.kind = Identity::Kind::node, .cluster = cluster, .name = name};
}
Identity controller(const std::string& cluster = "c1") {
  return {.kind = Identity::Kind::controller, .cluster = cluster};
}

// An authority and what it has signed.
struct Authority {
  explicit Authority(std::string cluster_id = "c1")
      : cluster(std::move(cluster_id)), own(make_authority(cluster, kValid).value()) {}
  [[nodiscard]] Credentials issue(const Identity& identity,
                                  const Validity& validity = kValid) const {
    const std::string key = make_key().value();
    const std::string signed_one =
        sign_request(own, make_request(key).value(), identity, {"localhost", "127.0.0.1"}, validity)
            .value();
    return {.authority = own.certificate, .certificate = signed_one, .key = key};
  }
  std::string cluster;
  KeyAndCertificate own;
};

const Authority& home() {
  static const Authority authority;
  return authority;
}

// A server over loopback that answers with who asks; WebSockets are echoed.
struct House {
  explicit House(const Credentials& credentials = home().issue(controller()),
                 Rules rules = {.cluster = "c1"}, milliseconds recheck = kRecheck)
      : context(Context::make(Context::Side::server, credentials, std::move(rules)).value()) {
    ::signal(SIGPIPE, SIG_IGN);
    wire::ServerOptions options;
    options.at = wire::Endpoint::tcp("127.0.0.1", 0);
    options.transport = server_transport(
        context,
        [this](const std::string& why) {
          const std::lock_guard lock(mutex);
          refused = why;
        },
        recheck);
    server =
        wire::Server::start(std::move(options), [](wire::Request&& request,
                                                   const wire::Responder& responder) {
          if (request.target == "/ws") {
            responder.upgrade(
                {.on_open = [](const wire::WsSessionPtr&) {},
                 .on_message =
                     [](const wire::WsSessionPtr& session, std::string& message) {
                       session->send(wire::bytes(session->peer().certified->identity + message));
                       return true;
                     },
                 .on_close = [](const wire::WsSessionPtr&, const std::string&) {}});
            return;
          }
          if (request.target == "/vouch") {
            wire::Peer peer = request.peer;
            peer.certified->identity = "somebody else";
            responder.adopt(peer);
          }
          const auto& who = request.peer.certified;
          responder.answer(wire::text_answer(200, (who ? who->identity : "nobody") + request.body));
        }).value();
  }
  [[nodiscard]] wire::Endpoint at() const {
    return wire::Endpoint::tcp("127.0.0.1", server->port());
  }
  std::string why() {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (!refused.empty()) return refused;
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    return {};
  }
  std::shared_ptr<Context> context;
  std::mutex mutex;
  std::string refused;
  std::unique_ptr<wire::Server> server;
};

std::shared_ptr<Context> client_context(const Credentials& credentials,
                                        const std::string& cluster = "c1") {
  return Context::make(Context::Side::client, credentials, {.cluster = cluster}).value();
}

wire::HttpClient client(const House& house, const Credentials& credentials,
                        Expect expect = expect_controller()) {
  wire::ClientOptions options;
  options.open = client_stream(client_context(credentials), std::move(expect));
  return wire::HttpClient(house.at(), options);
}

TEST(Tls, AnIdentityIsOneUri) {
  const Identity user{.kind = Identity::Kind::user, .cluster = "c1", .name = "ann", .uid = 1000};
  for (const Identity& identity : {node("n1"), controller(), user}) {
    EXPECT_EQ(Identity::parse(identity.uri()).value(), identity);
  }
  EXPECT_EQ(user.uri(), "drover://c1/user/1000:ann");
  for (const char* bad :
       {"", "http://c1/controller", "drover://c1", "drover:///controller", "drover://c1/node/",
        "drover://c1/node/a/b", "drover://c1/user/ann", "drover://c1/user/4294967295:x",
        "drover://c1/user/-1:x", "drover://c1/king"}) {
    EXPECT_FALSE(Identity::parse(bad).has_value()) << bad;
  }
}

TEST(Tls, ACertificateSaysWhoseItIsAndForHowLong) {
  const Credentials credentials = home().issue(node("n1"));
  const CertificateInfo info = read_certificate(credentials.certificate).value();
  EXPECT_EQ(info.identity, node("n1"));
  EXPECT_EQ(unix_seconds(info.validity.until), unix_seconds(kValid.until));
  EXPECT_EQ(info.serial.size(), 32U);
  EXPECT_EQ(info.fingerprint.size(), 64U);
  EXPECT_NE(info.serial, read_certificate(home().issue(node("n1")).certificate).value().serial);
  EXPECT_TRUE(check_time(info, kNow).has_value());
  const std::string early = check_time(info, kValid.from - minutes(60)).error().message;
  EXPECT_NE(early.find("is a clock wrong?"), std::string::npos) << early;
  EXPECT_NE(check_time(info, kValid.until).error().message.find("expired at"), std::string::npos);
}

TEST(Tls, CredentialsAreOneFile) {
  const Credentials credentials = home().issue(node("n1"));
  const Credentials again =
      parse_credentials("controller: host:1\n" + to_text(credentials)).value();
  EXPECT_EQ(again.key, credentials.key);
  EXPECT_EQ(again.certificate, credentials.certificate);
  EXPECT_EQ(again.authority, credentials.authority);
  EXPECT_FALSE(parse_credentials(credentials.key + credentials.certificate).has_value());
}

TEST(Tls, OnlyARequestSignedWithItsOwnKeyIsSigned) {
  EXPECT_FALSE(sign_request(home().own, "nonsense", node("n1"), {}, kValid).has_value());
  EXPECT_FALSE(
      sign_request(home().own, home().own.certificate, node("n1"), {}, kValid).has_value());
  std::string request = make_request(make_key().value()).value();
  const std::size_t at = request.size() - 60;
  request[at] = request[at] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(sign_request(home().own, request, node("n1"), {}, kValid).has_value());
}

TEST(Tls, BothSidesKnowEachOther) {
  const House house;
  wire::HttpClient to = client(house, home().issue(node("n1")));
  for (const std::string& body : {std::string("!"), std::string(300'000, 'x')}) {
    const auto answer = to.call({.method = "POST", .target = "/", .body = body});
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->body, "drover://c1/node/n1" + body);
  }
}

TEST(Tls, WhoHasNoCertificateIsNobody) {
  const House house;
  wire::HttpClient to = client(house, {.authority = home().own.certificate});
  EXPECT_EQ(to.call({}).value().body, "nobody");
}

TEST(Tls, AConnectionMayBecomeSomebodyElses) {
  const House house;
  wire::HttpClient to = client(house, home().issue(node("n1")));
  EXPECT_EQ(to.call({.target = "/vouch"}).value().body, "drover://c1/node/n1");
  EXPECT_EQ(to.call({}).value().body, "somebody else");
  EXPECT_EQ(client(house, home().issue(node("n1"))).call({}).value().body, "drover://c1/node/n1");
}

struct BadPeer {
  const char* what;
  Credentials credentials;
  const char* client_words;
  const char* server_words;
};

TEST(Tls, ABadCertificateIsRefusedInWordsOnBothSides) {
  const Authority other("c2");
  const Authority twin("c1");  // the same id, another key
  Credentials of_other = other.issue(node("n1", "c2"));
  of_other.authority = home().own.certificate;
  Credentials of_twin = twin.issue(node("n1"));
  of_twin.authority = home().own.certificate;
  const Credentials revoked = home().issue(node("n1"));
  const std::string serial = read_certificate(revoked.certificate).value().serial;
  const Validity past{kNow - minutes(60), kNow - minutes(1)};
  const Validity future{kNow + minutes(60), kNow + minutes(90)};
  const BadPeer peers[] = {
      {"another cluster's", of_other, "of another cluster", "not of this cluster"},
      {"another authority's", of_twin, "of another cluster", "not of this cluster"},
      {"another cluster id", home().issue(node("n1", "c2")), "of another cluster",
       "is of cluster c2"},
      {"expired", home().issue(node("n1"), past), "has expired", "expired at"},
      {"early", home().issue(node("n1"), future), "is a clock wrong?", "is a clock wrong?"},
      {"revoked", revoked, "was revoked", "was revoked"},
  };
  for (const BadPeer& peer : peers) {
    House house(home().issue(controller()),
                {.cluster = "c1",
                 .revoked = [&](const CertificateInfo& info) { return info.serial == serial; }});
    const auto answer = client(house, peer.credentials).call({});
    ASSERT_FALSE(answer.has_value()) << peer.what;
    EXPECT_EQ(answer.error().code, Errc::denied) << peer.what << ": " << answer.error().message;
    EXPECT_NE(answer.error().message.find(peer.client_words), std::string::npos)
        << answer.error().message;
    EXPECT_NE(house.why().find(peer.server_words), std::string::npos) << house.why();
  }
}

TEST(Tls, AClientTalksOnlyToWhomItMeans) {
  const House house(home().issue(node("n2")));
  const auto answer = client(house, home().issue(node("n1"))).call({});
  EXPECT_EQ(answer.error().code, Errc::denied);
  EXPECT_NE(answer.error().message.find("node n2, not the controller"), std::string::npos)
      << answer.error().message;
  EXPECT_TRUE(client(house, home().issue(node("n1")), expect_node("n2")).call({}).has_value());
  EXPECT_FALSE(client(house, home().issue(node("n1")), expect_node("n3")).call({}).has_value());
  const Authority other("c2");
  const House far(other.issue(controller("c2")), {.cluster = "c2"});
  EXPECT_EQ(client(far, home().issue(node("n1"))).call({}).error().code, Errc::denied);
}

TEST(Tls, AFingerprintPicksTheAuthority) {
  const House house;
  const std::string print = read_certificate(home().own.certificate).value().fingerprint;
  EXPECT_EQ(fetch_authority(house.at(), print).value(), home().own.certificate);
  EXPECT_EQ(fetch_authority(house.at(), std::string(64, '0')).error().code, Errc::denied);
}

TEST(Tls, PlainTextIsNotAnswered) {
  House house;
  wire::HttpClient plain(house.at());
  EXPECT_FALSE(plain.call({}).has_value());
  EXPECT_FALSE(house.why().empty());
  EXPECT_TRUE(client(house, home().issue(node("n1"))).call({}).has_value());  // others are served
}

TEST(Tls, NewCertificatesServeNewConnections) {
  const House house;
  wire::HttpClient old = client(house, home().issue(node("n1")));
  ASSERT_TRUE(old.call({}).has_value());
  ASSERT_TRUE(house.context->replace(home().issue(node("n2"))).has_value());
  EXPECT_TRUE(old.call({}).has_value());
  EXPECT_FALSE(
      client(house, home().issue(node("n1"))).call({}).has_value());  // the server is node n2 now
}

struct Heard {
  std::mutex mutex;
  std::string message;
  std::string retry;
  std::string wait(std::string Heard::*which) {
    for (int i = 0; i < 2000; ++i) {
      {
        const std::lock_guard lock(mutex);
        if (!(this->*which).empty()) return this->*which;
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
    return {};
  }
};

wire::WsClient session(const House& house, const Credentials& credentials, Heard& heard,
                       const std::string& say, Expect expect = expect_controller()) {
  wire::WsClientOptions options;
  options.to = house.at();
  options.target = "/ws";
  options.websocket = client_websocket(client_context(credentials), std::move(expect));
  options.on_retry = [&heard](const std::string& why, milliseconds) {
    const std::lock_guard lock(heard.mutex);
    heard.retry = why;
  };
  return {std::move(options),
          {.on_open = [say](const wire::WsSessionPtr& s) { s->send(wire::bytes(say)); },
           .on_message =
               [&heard](const wire::WsSessionPtr&, std::string& message) {
                 const std::lock_guard lock(heard.mutex);
                 heard.message = message;
                 return true;
               },
           .on_close = [](const wire::WsSessionPtr&, const std::string&) {}}};
}

TEST(Tls, AWebSocketRunsOverIt) {
  const House house;
  Heard heard;
  const std::string large(1'000'000, 'm');
  wire::WsClient to = session(house, home().issue(node("n1")), heard, large);
  EXPECT_EQ(heard.wait(&Heard::message), "drover://c1/node/n1" + large);
}

TEST(Tls, AWebSocketThatIsRefusedSaysWhy) {
  const House house;
  const Validity past{kNow - minutes(60), kNow - minutes(1)};
  Heard heard;
  wire::WsClient expired = session(house, home().issue(node("n1"), past), heard, "x");
  EXPECT_NE(heard.wait(&Heard::retry).find("our certificate has expired"), std::string::npos)
      << heard.retry;
  Heard other;
  wire::WsClient wrong = session(house, home().issue(node("n1")), other, "x", expect_node("n9"));
  EXPECT_NE(other.wait(&Heard::retry).find("not node n9"), std::string::npos) << other.retry;
}

TEST(Tls, AnOpenSessionEndsWhenItsCertificateIsRevoked) {
  std::atomic<bool> revoked = false;
  const House house(
      home().issue(controller()),
      {.cluster = "c1", .revoked = [&](const CertificateInfo&) { return revoked.load(); }},
      milliseconds(20));
  Heard heard;
  wire::WsClient to = session(house, home().issue(node("n1")), heard, "x");
  EXPECT_EQ(heard.wait(&Heard::message), "drover://c1/node/n1x");
  std::this_thread::sleep_for(milliseconds(100));
  {
    const std::lock_guard lock(heard.mutex);
    EXPECT_EQ(heard.retry, "");
  }
  revoked = true;
  EXPECT_NE(heard.wait(&Heard::retry), "");
}

TEST(Tls, AnOpenSessionEndsWithItsCertificate) {
  const House house(home().issue(controller()), {.cluster = "c1"}, milliseconds(20));
  Heard heard;
  const Validity soon{kNow - minutes(5), wall_now() + seconds(2)};
  wire::WsClient to = session(house, home().issue(node("n1"), soon), heard, "x");
  EXPECT_EQ(heard.wait(&Heard::message), "drover://c1/node/n1x");
  EXPECT_NE(heard.wait(&Heard::retry), "");
}

TEST(Tls, AClockThatIsSetBackEndsNothing) {
  const auto context = client_context(home().issue(node("n1")));
  const auto info = read_certificate(home().issue(node("n2")).certificate).value();
  EXPECT_TRUE(context->recheck(info, kNow - minutes(60)).has_value());
  EXPECT_TRUE(context->recheck(info, kNow).has_value());
  EXPECT_FALSE(context->recheck(info, kNow + minutes(61)).has_value());
}

TEST(Tls, ASilentPeerHoldsUpNobodyElse) {
  const House house;
  const Fd silent = wire::connect_to(house.at(), seconds(5)).value();
  EXPECT_TRUE(client(house, home().issue(node("n1"))).call({}).has_value());
  // And a server that never answers the handshake is given up.
  const Fd listener = wire::listen_on(wire::Endpoint::tcp("127.0.0.1", 0), 0).value();
  wire::ClientOptions options;
  options.open = client_stream(client_context(home().issue(node("n1"))), expect_controller(),
                               milliseconds(50));
  wire::HttpClient stuck(wire::Endpoint::tcp("127.0.0.1", wire::local_port(listener.get())),
                         options);
  EXPECT_NE(stuck.call({}).error().message.find("did not finish"), std::string::npos);
}

TEST(Signer, KnowsItsOwnHandAlone) {
  const Signer one = *Signer::of(*make_key());
  const Signer other = *Signer::of(*make_key());
  for (int i = 0; i < 300; ++i) {  // numbers of all lengths
    const std::string bytes = "words " + std::to_string(i);
    std::string signature = *one.sign(bytes);
    ASSERT_EQ(signature.size(), 64U);
    EXPECT_TRUE(one.is_mine(bytes, signature));
    EXPECT_FALSE(other.is_mine(bytes, signature));
    EXPECT_FALSE(one.is_mine(bytes + "!", signature));
    signature[static_cast<std::size_t>(i) % 64] ^= 1;
    EXPECT_FALSE(one.is_mine(bytes, signature));
  }
  EXPECT_FALSE(one.is_mine("", ""));
  EXPECT_FALSE(one.is_mine("words", std::string(64, '\0')));
  EXPECT_FALSE(Signer::of("rubbish"));
}

}  // namespace
}  // namespace drover::tls
