// tests/apps/serve/http_server_test.cpp - requests whose reply does not come as it should; the rest is in
// salient_serve_test.py.
#include "apps/serve/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "apps/serve/listen.h"

namespace salient::serve {
namespace {

using namespace std::chrono_literals;

/// A client that has sent a request.
class Client {
 public:
  explicit Client(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::send(socket_.get(), request.data(), request.size(), 0), std::ssize(request));
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
  explicit Running(std::function<void(HttpRequest, Reply)> on_request) {
    Descriptor socket = listen_on("127.0.0.1", 0);
    address = address_of(socket);
    server = std::make_unique<HttpServer>(std::move(socket), HttpLimits{},
                                          HttpServer::Handlers{.on_request = std::move(on_request),
                                                               .on_answer = [](int, double) {},
                                                               .on_connections = [](std::size_t) {}});
  }
  std::string address;
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
  EXPECT_TRUE(running.server->wait_for_answers(10s));
}

}  // namespace
}  // namespace salient::serve
