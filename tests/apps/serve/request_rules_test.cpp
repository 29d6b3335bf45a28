// tests/apps/serve/request_rules_test.cpp - which heads become requests, and what they ask for.
#include "apps/serve/request_rules.h"

#include <gtest/gtest.h>

namespace salient::serve {
namespace {

const HeadRules kLoopback{.max_body = 100, .hosts = HostNames("127.0.0.1:80", "127.0.0.1", {"models.example"})};
const HeadRules kOpen{.max_body = 100, .hosts = HostNames("0.0.0.0:80", "0.0.0.0", {})};

/// "/path 4" with the size of the body, or the status of a refusal and its words.
std::string outcome(const std::string& bytes, const HeadRules& rules = kLoopback) {
  try {
    HeadReader reader;
    std::string_view left = bytes;
    if (!reader.take(left)) return "not whole";
    const RequestPlan plan = check_head(reader.release(), rules);
    return plan.path + " " + std::to_string(plan.body_size) + (plan.keeps_open ? "" : " close");
  } catch (const HttpRefusal& refusal) {
    EXPECT_EQ(refusal.what.find('\n'), std::string::npos);
    return std::to_string(refusal.status) + " " + refusal.what;
  }
}

std::string with(const std::string& fields) {
  return outcome("POST /predict HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n");
}

std::string status_of_target(const std::string& target, const HeadRules& rules = kLoopback) {
  return outcome("GET " + target + " HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", rules).substr(0, 3);
}

TEST(RequestRules, OneContentLengthThatIsADecimalNumber) {
  EXPECT_EQ(with(""), "/predict 0");
  for (const std::string value : {"4", "004", " 4\t"})
    EXPECT_EQ(with("Content-Length:" + value + "\r\n"), "/predict 4");
  EXPECT_EQ(with("content-length: 100\r\n"), "/predict 100");
  for (const std::string value :
       {"", "+4", "-4", "-0", "4 4", "4, 4", "4,", "0x4", "4abc", "4.0", "1e1", "\xC2\xB2", "four"})
    EXPECT_EQ(with("Content-Length: " + value + "\r\n"), "400 a Content-Length that is no number") << value;
  for (const std::string& value : {std::string("101"), std::string("18446744073709551615"),
                                   std::string("18446744073709551620"), std::string(400, '9')})
    EXPECT_EQ(with("Content-Length: " + value + "\r\n"), "413 the body has more than 100 bytes") << value;
  for (const std::string second : {"4", "5", ""})
    EXPECT_EQ(with("Content-Length: 4\r\ncontent-LENGTH: " + second + "\r\n"), "400 more than one Content-Length");
  for (const std::string coding : {"chunked", "identity", "gzip, chunked", ""})
    for (const std::string length : {"", "Content-Length: 4\r\n", "Content-Length: x\r\n"})
      EXPECT_EQ(with(length + "Transfer-Encoding: " + coding + "\r\n").substr(0, 3), "411") << coding;
}

TEST(RequestRules, OneHostOfThisServer) {
  const auto at = [](const std::string& fields, const HeadRules& rules = kLoopback,
                     const std::string& version = "1.1") {
    return outcome("GET / HTTP/" + version + "\r\n" + fields + "\r\n", rules);
  };
  for (const std::string host : {"127.0.0.1", "127.0.0.1:8080", "localhost", "LOCALHOST.:1", "models.example:443"}) {
    EXPECT_EQ(at("Host: " + host + "\r\n"), "/ 0") << host;
    EXPECT_EQ(at("Host: " + host + "\r\n", kLoopback, "1.0"), "/ 0 close") << host;
  }
  for (const std::string host :
       {"attacker.example", "attacker.example:8080", "[::1]", "127.0.0.2", "a.localhost", "127.1"}) {
    EXPECT_EQ(at("Host: " + host + "\r\n").substr(0, 3), "421") << host;
    EXPECT_EQ(at("Host: " + host + "\r\n", kLoopback, "1.0").substr(0, 3), "421") << host;
    EXPECT_EQ(at("Host: " + host + "\r\n", kOpen), "/ 0") << host;
  }
  for (const HeadRules& rules : {kLoopback, kOpen}) {
    EXPECT_EQ(at("", rules), "400 no Host");
    EXPECT_EQ(at("", rules, "1.0"), "/ 0 close");
    for (const std::string version : {"1.1", "1.0"})
      EXPECT_EQ(at("Host: localhost\r\nhost: localhost\r\n", rules, version), "400 more than one Host");
    for (const std::string host :
         {"", "a b", "localhost, localhost", "http://localhost", "user@localhost", "localhost:x"})
      EXPECT_EQ(at("Host: " + host + "\r\n", rules), "400 a Host that is no name or address") << host;
  }
  EXPECT_NE(at("Host: b.example\r\n").find("--allow-host b.example"), std::string::npos);
}

TEST(RequestRules, ATargetWithAHostIsHeldToTheSameRule) {
  EXPECT_EQ(status_of_target("http://127.0.0.1:8080/healthz"), "/he");
  EXPECT_EQ(status_of_target("HTTP://localhost"), "/ 0");
  EXPECT_EQ(status_of_target("http://localhost?a=b"), "/ 0");
  EXPECT_EQ(status_of_target("http://attacker.example/healthz"), "421");
  EXPECT_EQ(status_of_target("http://attacker.example/healthz", kOpen), "/he");
  for (const std::string wrong : {"http://", "http:///healthz", "http://user@localhost/", "http:/healthz",
                                  "https://localhost/", "ftp://localhost/", "localhost:80", "healthz", "?", "#"})
    EXPECT_EQ(status_of_target(wrong), "400") << wrong;
  EXPECT_EQ(outcome("GET http://localhost/ HTTP/1.1\r\nHost: attacker.example\r\n\r\n").substr(0, 3), "421");
}

TEST(RequestRules, APathIsDecodedOnceAndHasNoNul) {
  EXPECT_EQ(status_of_target("/%68ealthz"), "/he");
  EXPECT_EQ(outcome("GET /%2568?%41 HTTP/1.1\r\nHost: localhost\r\n\r\n"), "/%68 0");
  EXPECT_EQ(outcome("GET /a%2Fb+c?d HTTP/1.1\r\nHost: localhost\r\n\r\n"), "/a/b+c 0");
  EXPECT_EQ(outcome("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"), "* 0");
  for (const std::string wrong : {"/healthz%00", "/healthz%00x", "/%00", "/a?b=%00", "http://localhost/%00", "/%",
                                  "/%4", "/%4g", "/%-1", "/a%", "/%%41"})
    EXPECT_EQ(status_of_target(wrong), "400") << wrong;
}

TEST(RequestRules, APageOfAnotherSiteIsRefusedAndSoIsWhatIsNoJson) {
  for (const std::string origin : {"http://localhost:3000", "https://models.example", "http://127.0.0.1:8080"})
    EXPECT_EQ(with("Origin: " + origin + "\r\n"), "/predict 0") << origin;
  for (const std::string origin :
       {"http://attacker.example", "null", "", "localhost", "http://localhost.attacker.example",
        "chrome-extension://abcdef", "http://localhost@attacker.example", "://"})
    EXPECT_EQ(with("Origin: " + origin + "\r\n").substr(0, 3), "403") << origin;
  EXPECT_EQ(with("Origin: http://localhost\r\nOrigin: http://attacker.example\r\n").substr(0, 3), "403");
  EXPECT_EQ(outcome("POST / HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\n\r\n", kOpen), "/ 0");
  for (const std::string type :
       {"application/json", "Application/JSON; charset=utf-8", "application/x-www-form-urlencoded"})
    EXPECT_EQ(with("Content-Type: " + type + "\r\n"), "/predict 0") << type;
  for (const std::string type : {"text/plain", "text/plain;charset=UTF-8", "multipart/form-data; boundary=a", "",
                                 "application/jsonx", "text/plain; application/json", "application/json, text/plain"})
    EXPECT_EQ(with("Content-Type: " + type + "\r\n"), "415 send JSON, as application/json") << type;
}

TEST(RequestRules, AConnectionStaysOpenAsItsVersionAndHeadersSay) {
  EXPECT_EQ(with("Connection: keep-alive\r\n"), "/predict 0");
  for (const std::string value : {"close", "Close", "te, close", "close ,te"})
    EXPECT_EQ(with("Connection: " + value + "\r\n"), "/predict 0 close") << value;
  EXPECT_EQ(with("Connection: te\r\nConnection: close\r\n"), "/predict 0 close");
  EXPECT_EQ(outcome("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), "/ 0");
}

}  // namespace
}  // namespace salient::serve
