// tests/apps/serve/http_server_test.cpp - requests whose reply does not come as it should; the rest is in
// salient_serve_test.py.
#include "apps/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/serve/listen.h"
#include "apps/serve/prediction_json.h"

namespace salient::serve {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPlain = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

/// A client that has sent a request.
class Client {
 public:
  explicit Client(const std::string& address, const std::string& request = kPlain)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    EXPECT_EQ(::send(socket_.get(), request.data(), request.size(), 0), std::ssize(request));
  }

  /// Sends no more, but still reads.
  void close_half() const { EXPECT_EQ(::shutdown(socket_.get(), SHUT_WR), 0); }

  /// Closes by a reset, as the system does for a process that dies with unread bytes.
  void reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    EXPECT_EQ(::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
    EXPECT_TRUE(socket_.close());
  }

  /// What the server sends until it closes the connection.
  std::string answer() const {
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t count = 1; count > 0; all.append(part.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))))
      count = ::recv(socket_.get(), part.data(), part.size(), 0);
    return all;
  }

 private:
  Descriptor socket_;
};

std::string body_of(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

/// A server whose requests are handled by `on_request`.
struct Running {
  explicit Running(std::function<void(HttpRequest, Reply)> on_request, HttpLimits limits = {}) {
    Descriptor socket = listen_on("127.0.0.1", 0);
    address = address_of(socket);
    server = std::make_unique<HttpServer>(
        std::move(socket), limits,
        HttpServer::Handlers{.on_request = std::move(on_request),
                             .on_answer = [](int, double) {},
                             .on_connections = [this](std::size_t count) { num_open = count; }});
  }

  /// @return whether that many connections are open before half of the server's own limit for a client is over
  bool has_open(std::size_t count) const {
    const auto end = std::chrono::steady_clock::now() + HttpLimits{}.timeout / 2;
    while (num_open != count && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(5ms);
    return num_open == count;
  }

  std::string address;
  std::atomic<std::size_t> num_open{0};
  std::unique_ptr<HttpServer> server;
};

TEST(HttpServer, ARequestWithoutReplyEndsWithTheServerAndItsReplyMayComeLater) {
  std::promise<Reply> kept;
  Running running([&](const HttpRequest&, Reply reply) { kept.set_value(std::move(reply)); });
  const Client client(running.address);
  const Reply reply = kept.get_future().get();
  running.server.reset();  // as an exception in salient-serve does; this ended the process once
  reply({.status = 200, .body = "late"});
  const std::string answer = client.answer();
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 503");
  EXPECT_EQ(body_of(answer), R"({"error":"the server is stopping"})");
}

TEST(HttpServer, ARequestThatComesWhileTheServerEndsDoesNotStopTheProcess) {
  std::promise<void> is_asked, may_go_on;
  bool is_first = true;
  Running running([&](const HttpRequest&, const Reply&) {  // which has no reply
    if (!std::exchange(is_first, false)) return;
    is_asked.set_value();
    may_go_on.get_future().wait();
  });
  const Client first(running.address);
  is_asked.get_future().wait();
  const Client second(running.address);
  std::jthread end([&] { running.server.reset(); });
  std::this_thread::sleep_for(100ms);  // so that the end has begun, as a rule
  may_go_on.set_value();
  EXPECT_EQ(first.answer().substr(0, 12), "HTTP/1.1 503");
  end.join();
}

TEST(HttpServer, AnExceptionOfTheHandlerIsAnAnswerAndNotTheEnd) {
  int count = 0;
  Running running([&](const HttpRequest&, const Reply& reply) {
    if (++count == 1) throw std::runtime_error("broken");
    reply({.status = 200, .body = "sound"});
  });
  const std::string answer = Client(running.address).answer();
  EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 500");
  EXPECT_EQ(body_of(answer), R"({"error":"the server failed"})");
  EXPECT_EQ(Client(running.address).answer().substr(0, 12), "HTTP/1.1 200");
}

TEST(HttpServer, TheFirstReplyCounts) {
  Running running([&](const HttpRequest&, const Reply& reply) {
    reply({.status = 200, .body = "first"});
    reply({.status = 500, .body = "second"});
  });
  const std::string answer = Client(running.address).answer();
  EXPECT_NE(answer.find("first"), std::string::npos);
  EXPECT_TRUE(running.server->wait_for_answers(100s));
}

/// The answers, each as code and body, to a request with these headers, four bytes that may be its body, and kPlain.
std::string answers_to(const std::string& address, const std::string& method, const std::string& headers) {
  const Client client(address, method + " /first HTTP/1.1\r\nHost: a\r\n" + headers + "\r\nabcd" + kPlain);
  const std::string all = client.answer();
  std::string found;
  for (std::size_t at = all.find("HTTP/1.1 "); at != std::string::npos;) {
    const std::size_t next = all.find("HTTP/1.1 ", at + 1);
    found += all.substr(at + 9, 3) + body_of(all.substr(at, next - at));
    at = next;
  }
  return found;
}

TEST(HttpServer, HeadersThatAProxyMayReadInAnotherWayAreRefusedAndTheRestIsNoRequest) {
  Running running([](const HttpRequest& request, const Reply& reply) { reply({.body = request.path + request.body}); });
  for (const std::string method : {"POST", "PUT", "GET"}) {
    for (const std::string sound : {"Content-Length: 4\r\n", "X-Note_1: y, \tz\r\ncontent-length:4\r\n"})
      EXPECT_EQ(answers_to(running.address, method, sound), "200/firstabcd200/") << method << sound;
    for (const std::string lengths :
         {"Content-Length: 4\r\nContent-Length: 0\r\n", "Content-Length: 0\r\nX: y\r\ncontent-length: 4\r\n",
          "Content-Length: 4\r\nContent-Length: 4\r\nContent-Length: 4\r\n"})
      EXPECT_EQ(answers_to(running.address, method, lengths), "400" + error_json("more than one Content-Length"))
          << method << lengths;
    for (const std::string unsound :
         {"Content-Length : 4\r\n", "Content-Length\t: 4\r\n", "Transfer-Encoding : chunked\r\n",
          "X: y\rContent-Length: 4\r\n", "(X): y\r\nContent-Length: 4\r\n"})
      EXPECT_EQ(answers_to(running.address, method, unsound), "400" + error_json("a header that is no name: value"))
          << method << unsound;
    const std::string both = answers_to(running.address, method, "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n");
    EXPECT_EQ(both.substr(0, 3), "411");
    EXPECT_EQ(both.find("200"), std::string::npos) << method;
  }
}

constexpr const char* kParts[] = {"",
                                  "G",
                                  "GET / HTTP/1.1\r\n",
                                  "GET / HTTP/1.1\r\nHost: a\r\nX: ",
                                  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
                                  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabcd"};

TEST(HttpServer, AClientThatLeavesBeforeItsRequestIsWholeGivesItsPlaceBackAtOnce) {
  Running running([](const HttpRequest&, const Reply& reply) { reply({.body = "sound"}); }, {.max_connections = 60});
  for (const bool is_reset : {false, true}) {
    std::vector<std::unique_ptr<Client>> clients;
    for (std::size_t i = 0; i < 60; ++i)
      clients.push_back(std::make_unique<Client>(running.address, kParts[i % std::size(kParts)]));
    EXPECT_TRUE(running.has_open(60));
    const Client next(running.address);  // waits for a place
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(running.num_open, 60U);
    if (is_reset)
      for (const auto& client : clients) client->reset();
    clients.clear();
    EXPECT_TRUE(running.has_open(0));  // `next` too: it asked to be closed behind its answer
    EXPECT_EQ(next.answer().substr(0, 12), "HTTP/1.1 200");
  }
}

TEST(HttpServer, AClientThatClosesOneWayGetsTheAnswerToAWholeRequestAlone) {
  std::promise<Reply> kept;
  Running running([&](const HttpRequest& request, const Reply& reply) {
    request.path == "/late" ? kept.set_value(reply) : reply({.body = request.path});
  });
  for (const char* part : kParts) {
    const Client client(running.address, part);
    client.close_half();
    EXPECT_EQ(client.answer(), "") << part;
  }
  const Client late(running.address, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
  late.close_half();
  const Reply reply = kept.get_future().get();
  std::this_thread::sleep_for(50ms);  // it has seen the end of the client's bytes
  EXPECT_EQ(running.num_open, 1U);
  reply({.body = "late"});
  EXPECT_EQ(body_of(late.answer()), "late");
  const Client two(running.address, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /3");
  two.close_half();
  const std::string answers = two.answer();
  EXPECT_NE(answers.find("/1"), std::string::npos);
  EXPECT_NE(answers.find("/2"), std::string::npos);
  EXPECT_TRUE(running.has_open(0));
}

TEST(HttpServer, AClientThatIsResetWhileItsRequestWaitsIsForgotten) {
  std::promise<Reply> kept;
  Running running([&](const HttpRequest&, Reply reply) { kept.set_value(std::move(reply)); });
  Client client(running.address);
  const Reply reply = kept.get_future().get();
  client.reset();
  EXPECT_TRUE(running.has_open(0));
  reply({.body = "for nobody"});
  EXPECT_TRUE(running.server->wait_for_answers(100s));
}

TEST(HttpServer, AClientThatIsTooSlowIsClosedWhateverItSends) {
  Running running([](const HttpRequest&, const Reply& reply) { reply({}); }, {.timeout = 1s});
  std::vector<std::unique_ptr<Client>> clients;
  for (const char* part : kParts) clients.push_back(std::make_unique<Client>(running.address, part));
  for (const auto& client : clients) EXPECT_EQ(client->answer(), "");
  EXPECT_TRUE(running.has_open(0));
}

TEST(HttpServer, AnAnswerLargerThanTheSystemsBuffersArrivesWhole) {
  const std::string body(16 << 20, 'x');
  Running running([&](const HttpRequest&, const Reply& reply) { reply({.body = body}); }, {.timeout = 60s});
  const Client client(running.address);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(body_of(client.answer()).size(), body.size());
}

TEST(HttpServer, ARefusalReachesAClientThatStillSends) {
  Running running([](const HttpRequest&, const Reply& reply) { reply({}); });
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\n";
  for (int i = 0; i < 20; ++i) {
    const std::string answer = Client(running.address, head + std::string(200'000, 'x')).answer();
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 413");
  }
}

}  // namespace
}  // namespace salient::serve
