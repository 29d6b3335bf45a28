// tests/apps/serve/http_conversation_test.cpp - one client's bytes in, answers out, whole requests between them.
#include "apps/serve/http_conversation.h"

#include <gtest/gtest.h>

namespace salient::serve {
namespace {

const HeadRules kRules{.max_body = 1000, .hosts = HostNames("127.0.0.1:80", "127.0.0.1", {})};
constexpr std::string_view kHost = "Host: localhost\r\n";

/// What a server would send that answers each request with its path and body.
std::string conversation(std::string_view bytes, std::size_t step) {
  HttpConversation talk(kRules);
  std::string sent;
  while (true) {
    auto next = talk.next();
    if (const auto* const request = std::get_if<HttpRequest>(&next))
      talk.answer({.type = "text/plain"}, request->path + request->body, "now");
    else if (const auto* const refusal = std::get_if<HttpRefusal>(&next))
      talk.answer({.status = refusal->status, .type = "text/plain"}, refusal->what, "now");
    sent += talk.output();
    while (!talk.output().empty()) talk.count_sent(1);
    if (talk.is_over() || (next.index() == 0 && bytes.empty())) return sent;
    if (next.index() != 0) continue;
    talk.take(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
}

std::string answer_of(const std::string& status, const std::string& end, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nDate: now\r\nConnection: " + end +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nContent-Type: text/plain\r\n\r\n" + body;
}

TEST(HttpConversation, RequestsThatComeTogetherOrInPiecesAreAnsweredInTurn) {
  const std::string bytes = std::string("POST /a HTTP/1.1\r\n").append(kHost).append("Content-Length: 3\r\n\r\nabc") +
                            std::string("GET /b HTTP/1.1\r\n").append(kHost).append("Connection: close\r\n\r\nGET /c");
  const std::string expected = answer_of("200 OK", "keep-alive", "/aabc") + answer_of("200 OK", "close", "/b");
  for (const std::size_t step : {1U, 2U, 5U, 60U, 1000U}) EXPECT_EQ(conversation(bytes, step), expected) << step;
}

TEST(HttpConversation, ARefusalIsTheLastAnswer) {
  const std::string bytes = std::string("POST /a HTTP/1.1\r\nContent-Length: +3\r\n").append(kHost).append("\r\n") +
                            std::string("GET /b HTTP/1.1\r\n").append(kHost).append("\r\n");
  const std::string expected = answer_of("400 Bad Request", "close", "a Content-Length that is no number");
  for (const std::size_t step : {1U, 7U, 1000U}) EXPECT_EQ(conversation(bytes, step), expected) << step;
}

TEST(HttpConversation, AHeadRequestGetsNoBodyNeitherWhereItIsRefused) {
  EXPECT_EQ(
      conversation(std::string("HEAD /a HTTP/1.0\r\n\r\n"), 1000),
      "HTTP/1.1 200 OK\r\nDate: now\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\n");
  const std::string refused = conversation("HEAD /a HTTP/1.1\r\n\r\n", 1000);
  EXPECT_EQ(refused.substr(0, 12), "HTTP/1.1 400");
  EXPECT_TRUE(refused.ends_with("\r\n\r\n"));
  const std::string then = conversation(std::string("HEAD /a HTTP/1.1\r\n").append(kHost).append("\r\nx\r\n"), 1000);
  EXPECT_TRUE(then.ends_with("the first line is not: method, path, HTTP/1.1"));  // of the second, which is no HEAD
}

TEST(HttpConversation, AClientThatWaitsForItIsToldToSendItsBody) {
  const std::string head =
      std::string("POST /a HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n").append(kHost) + "\r\n";
  const std::string answer = answer_of("200 OK", "keep-alive", "/aabc");
  EXPECT_EQ(conversation(head + "abc", 1), "HTTP/1.1 100 Continue\r\n\r\n" + answer);
  EXPECT_EQ(conversation(head + "abc", 1000), answer);  // it did not wait
  const std::string refused = conversation(
      std::string("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n").append(kHost).append("\r\n"),
      1000);
  EXPECT_EQ(refused.substr(0, 12), "HTTP/1.1 413");
}

}  // namespace
}  // namespace salient::serve
