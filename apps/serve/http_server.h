// apps/serve/http_server.h - HTTP: connections and their limits, requests in, answers out, now or later.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "apps/serve/http_message.h"
#include "apps/serve/request_rules.h"
#include "core/host/descriptor.h"

namespace salient::serve {

struct HttpLimits {
  HeadRules rules{};
  unsigned max_connections = 256;    ///< at a time; others wait to be accepted
  std::chrono::seconds timeout{10};  ///< for a client to send a request, or to take an answer
};

/// Gives the answer of one request, on any thread; the first counts. Copies are of the same request, and may outlive
/// the server.
using Reply = std::function<void(HttpAnswer)>;

/// One thread does all input and output; it waits in epoll, and closes connections of clients that are too slow, or
/// that left before their request was whole. A client that sends no more after a whole request still gets its answer.
class HttpServer {
 public:
  struct Handlers {
    /// On the server's thread, which it must not hold up. What it throws is an answer with code 500.
    std::function<void(HttpRequest request, Reply reply)> on_request{};
    /// Of every answer, refusals included. @param seconds  since the request was whole
    std::function<void(int status, double seconds)> on_answer{};
    /// The same with who asked and what for; null: nobody wants to know. On the server's thread.
    std::function<void(const HttpAccess& access)> on_access{};
    /// Of every connection that opens or closes. @param num_open  from now on
    std::function<void(std::size_t num_open)> on_connections{};
  };

  /// Accepts from now on. @param socket  listens, and does not block   @throws Error{kIo}; std::system_error
  HttpServer(Descriptor socket, HttpLimits limits, Handlers handlers);
  ~HttpServer();  ///< closes all connections; requests without a reply get 503
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// No more connections. Those that are open may go on.
  void stop_accepting();

  /// Waits until the answers that were given are sent. @return whether they were in time
  bool wait_for_answers(std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient::serve
