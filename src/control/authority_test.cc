#include "control/authority.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "os/file.h"
#include "os/temp_folder.h"

namespace drover::control {
namespace {

struct House {
  std::unique_ptr<Authority> open() {
    return Authority::open({.folder = folder.path() + "/identity",
                            .cluster = "c1",
                            .now = [this] { return now; }})
        .value();
  }
  static native::JoinAsk ask(const native::TokenAnswer& token, const std::string& node) {
    return {.secret = token.token.substr(0, token.token.find('.')),
            .node = node,
            .request = tls::make_request(tls::make_key().value()).value()};
  }
  TempFolder folder;
  Instant now = wall_now();
};

std::string serial_of(const std::string& certificate) {
  return tls::read_certificate(certificate).value().serial;
}

TEST(Authority, ATokenLetsOneNodeJoinOnce) {
  House house;
  const auto authority = house.open();
  const auto ask = House::ask(authority->make_token({}).value(), "n1");
  const auto info = tls::read_certificate(authority->join(ask, {"10.0.0.1"}).value()).value();
  EXPECT_EQ(info.identity.uri(), "drover://c1/node/n1");
  EXPECT_EQ(unix_seconds(info.validity.until),
            unix_seconds(house.now + std::chrono::hours(7 * 24)));
  EXPECT_EQ(authority->join(ask, {}).error().message, "the token is unknown, or was used already");
  EXPECT_EQ(authority->members().members.size(), 1U);
}

TEST(Authority, BadTokensAreRefused) {
  House house;
  const auto authority = house.open();
  const auto bound = authority->make_token({.node = "n1"}).value();
  const auto stale = authority->make_token({.life = minutes(1)}).value();
  EXPECT_EQ(authority->join(House::ask(bound, "n2"), {}).error().message,
            "the token is for node n1, not n2");
  EXPECT_EQ(authority->join(House::ask({.token = "guess.x"}, "n1"), {}).error().code, Errc::denied);
  EXPECT_EQ(authority->join(House::ask(bound, "../n1"), {}).error().code, Errc::invalid);
  house.now += minutes(2);
  EXPECT_NE(authority->join(House::ask(stale, "n3"), {}).error().message.find("expired"),
            std::string::npos);
  EXPECT_TRUE(authority->join(House::ask(bound, "n1"), {})
                  .has_value());  // what was refused used nothing up
  EXPECT_FALSE(authority->make_token({.life = Duration(0)}).has_value());
  EXPECT_FALSE(authority->make_token({.node = "a/b"}).has_value());
}

TEST(Authority, ATokenForAnyNodeTakesNobodysName) {
  House house;
  const auto authority = house.open();
  const auto first =
      authority->join(House::ask(authority->make_token({}).value(), "n1"), {}).value();
  EXPECT_EQ(authority->join(House::ask(authority->make_token({}).value(), "n1"), {}).error().code,
            Errc::conflict);
  const auto second =
      authority->join(House::ask(authority->make_token({.node = "n1"}).value(), "n1"), {}).value();
  EXPECT_TRUE(authority->is_revoked(serial_of(first)));
  EXPECT_FALSE(authority->is_revoked(serial_of(second)));
}

TEST(Authority, RevokingANodeCoversItsRenewedCertificates) {
  House house;
  const auto authority = house.open();
  const auto first =
      authority->join(House::ask(authority->make_token({}).value(), "n1"), {}).value();
  const auto who = tls::read_certificate(first).value().identity;
  const auto renewed =
      authority->renew(who, tls::make_request(tls::make_key().value()).value(), {}).value();
  EXPECT_EQ(authority->revoke("n2").error().code, Errc::not_found);
  ASSERT_TRUE(authority->revoke("n1").has_value());
  EXPECT_TRUE(authority->is_revoked(serial_of(first)));
  EXPECT_TRUE(authority->is_revoked(serial_of(renewed)));
  EXPECT_TRUE(authority->join(House::ask(authority->make_token({}).value(), "n1"), {}).has_value());
}

TEST(Authority, AllOfItOutlivesARestartAndIsReadByNobodyElse) {
  House house;
  const auto token = house.open()->make_token({}).value();
  const auto certificate = house.open()->join(House::ask(token, "n1"), {}).value();
  ASSERT_TRUE(house.open()->revoke("n1").has_value());
  const auto authority = house.open();
  EXPECT_TRUE(authority->is_revoked(serial_of(certificate)));
  EXPECT_EQ(authority->join(House::ask(token, "n1"), {}).error().code, Errc::denied);
  EXPECT_EQ(
      read_file(house.folder.path() + "/identity/book").value().find(token.token.substr(0, 32)),
      std::string::npos);
  for (const char* name : {"", "/authority", "/book"}) {
    struct stat info {};
    ASSERT_EQ(::stat((house.folder.path() + "/identity" + name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 077U, 0U) << name;
  }
  const auto other =
      Authority::open({.folder = house.folder.path() + "/identity", .cluster = "c2"});
  EXPECT_NE(other.error().message.find("of cluster c1"), std::string::npos);
}

native::LoginAsk login(const native::TokenAnswer& token) {
  return {.secret = token.token.substr(0, token.token.find('.')),
          .request = tls::make_request(tls::make_key().value()).value()};
}

TEST(Authority, APersonsTokenIsGoodForHimAloneAndOnce) {
  House house;
  const auto authority = house.open();
  const auto ask = login(authority->make_user_token(1000, {.user = "ann"}).value());
  const auto info = tls::read_certificate(authority->login(ask).value()).value();
  EXPECT_EQ(info.identity.uri(), "drover://c1/user/1000:ann");
  EXPECT_EQ(unix_seconds(info.validity.until), unix_seconds(house.now + std::chrono::hours(30 * 24)));
  EXPECT_EQ(authority->login(ask).error().message, "the token is unknown, or was used already");
}

TEST(Authority, TokensOfNodesAndPersonsAreNotExchangeable) {
  House house;
  const auto authority = house.open();
  const auto persons = authority->make_user_token(1000, {.user = "ann"}).value();
  EXPECT_EQ(authority->join(House::ask(persons, "n1"), {}).error().code, Errc::denied);
  EXPECT_EQ(authority->login(login(authority->make_token({}).value())).error().code, Errc::denied);
  EXPECT_TRUE(authority->login(login(persons)).has_value()) << "what was refused used nothing up";
}

TEST(Authority, ANodeAndAPersonOfOneNameAreTwo) {
  House house;
  const auto authority = house.open();
  const auto person = authority->login(login(authority->make_user_token(1000, {.user = "n1"}).value())).value();
  const auto node = authority->join(House::ask(authority->make_token({}).value(), "n1"), {}).value();
  ASSERT_TRUE(authority->revoke("n1").has_value());
  EXPECT_TRUE(authority->is_revoked(serial_of(node)));
  EXPECT_FALSE(authority->is_revoked(serial_of(person)));
  ASSERT_TRUE(authority->revoke_user("n1").has_value());
  EXPECT_TRUE(authority->is_revoked(serial_of(person)));
}

TEST(Authority, RevokingAPersonCoversHisTokens) {
  House house;
  const auto authority = house.open();
  const auto token = authority->make_user_token(1000, {.user = "ann"}).value();
  ASSERT_TRUE(authority->revoke_user("ann").has_value());
  EXPECT_FALSE(authority->login(login(token)).has_value());
  EXPECT_EQ(authority->revoke_user("ann").error().code, Errc::not_found);
}

TEST(Authority, OnePersonCantUseUpAllTokens) {
  House house;
  const auto authority = house.open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(authority->make_user_token(1000, {.user = "ann"}).has_value());
  EXPECT_EQ(authority->make_user_token(1000, {.user = "ann"}).error().code, Errc::exhausted);
  EXPECT_TRUE(authority->make_user_token(1001, {.user = "bob"}).has_value());
}

}  // namespace
}  // namespace drover::control
