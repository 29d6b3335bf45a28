// apps/serve/http_server.cpp - see http_server.h.
#include "apps/serve/http_server.h"

#include <microhttpd.h>
#include <strings.h>
#include <sys/socket.h>

#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "apps/serve/prediction_json.h"
#include "core/error.h"
#include "core/timer.h"

namespace salient::serve {
namespace {

constexpr std::size_t kConnectionMemory = 32 << 10;  // of libmicrohttpd: headers longer than this are refused
constexpr std::chrono::seconds kTimeToEnd{2};        // for answers to requests that had no reply at the server's end

using Clock = std::chrono::steady_clock;

/// A request from its headers to the end of its answer.
struct Exchange {
  HttpRequest request{};
  Timer timer{};
  bool is_asked = false;
  std::optional<HttpAnswer> answer{};
};

/// Exchanges that were asked for and have no answer yet; their connections are suspended. Shared with the replies, of
/// which one may come twice, or after the server's end: it finds nothing.
class WaitingExchanges {
 public:
  /// Suspends the connection. @return false, and it is not suspended: after close()
  bool add(std::uint64_t number, MHD_Connection* connection, Exchange* exchange) {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return false;
    waiting_.emplace(number, Suspended{connection, exchange});
    MHD_suspend_connection(connection);
    return true;
  }

  void answer(std::uint64_t number, HttpAnswer answer) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) return;
    resume(found->second, std::move(answer));
    waiting_.erase(found);
  }

  /// Answers all, and takes no more. @return whether there was one
  bool close(int status) {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (const auto& [number, suspended] : waiting_) resume(suspended, {.status = status});
    return !std::exchange(waiting_, {}).empty();
  }

  void count_sent() {
    const std::lock_guard lock(mutex_);
    --num_unsent_;
    all_sent_.notify_all();
  }

  bool wait_until_sent(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return all_sent_.wait_for(lock, limit, [this] { return num_unsent_ == 0; });
  }

 private:
  struct Suspended {
    MHD_Connection* connection;
    Exchange* exchange;
  };

  void resume(const Suspended& suspended, HttpAnswer answer) {
    suspended.exchange->answer = std::move(answer);
    ++num_unsent_;
    MHD_resume_connection(suspended.connection);
  }

  std::mutex mutex_;
  std::condition_variable all_sent_;
  std::unordered_map<std::uint64_t, Suspended> waiting_;
  int num_unsent_ = 0;  // answers that were given and are not sent yet
  bool is_closed_ = false;
};

struct ResponseEnd {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};

/// What a request's headers say of where its body ends.
struct Framing {
  bool is_chunked = false;
  int num_lengths = 0;
  bool is_sound = true;
};

bool is_name(std::string_view text) {
  constexpr std::string_view kLettersAndMarks =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
  return !text.empty() && text.find_first_not_of(kLettersAndMarks) == std::string_view::npos;
}

/// libmicrohttpd calls it for each header.
MHD_Result look_at_header(void* found, MHD_ValueKind, const char* name, std::size_t name_size, const char* value,
                          std::size_t value_size) noexcept {
  auto* const framing = static_cast<Framing*>(found);
  const std::string_view text(name, name_size), line(value == nullptr ? "" : value, value == nullptr ? 0 : value_size);
  const auto is_called = [text](std::string_view other) {
    return text.size() == other.size() && ::strncasecmp(text.data(), other.data(), text.size()) == 0;
  };
  if (is_called("Content-Length")) ++framing->num_lengths;
  if (is_called("Transfer-Encoding")) framing->is_chunked = true;
  if (!is_name(text) || line.find_first_of("\r\n") != std::string_view::npos) framing->is_sound = false;
  return MHD_YES;
}

std::optional<std::uint64_t> content_length(MHD_Connection* connection) {
  const char* const text = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
  std::uint64_t length = 0;
  if (text == nullptr || std::from_chars(text, text + std::strlen(text), length).ec != std::errc{}) return std::nullopt;
  return length;
}

/// Of an answer that has none. Allocates nothing: no memory may be its reason.
std::string_view body_of(const HttpAnswer& answer) {
  if (!answer.body.empty() || answer.status < 500) return answer.body;
  return answer.status == 503 ? R"({"error":"the server is stopping"})" : R"({"error":"the server failed"})";
}

}  // namespace

struct HttpServer::Impl {
  Impl(Descriptor socket, HttpLimits its_limits, Handlers its_handlers)
      : limits(its_limits), handlers(std::move(its_handlers)), listening(std::move(socket)) {
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &on_access,
                              this, MHD_OPTION_LISTEN_SOCKET, listening.get(), MHD_OPTION_CONNECTION_LIMIT,
                              limits.max_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory,
                              MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(limits.timeout.count()),
                              MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this, MHD_OPTION_NOTIFY_COMPLETED,
                              &on_completed, this, MHD_OPTION_END);
    if (daemon == nullptr) fail(ErrorKind::kIo, "the HTTP server cannot start: no thread or descriptor is left");
  }

  ~Impl() {
    // The library ends the process where a connection is still suspended, and sends nothing any more.
    if (waiting->close(503)) (void)waiting->wait_until_sent(kTimeToEnd);
    MHD_stop_daemon(daemon);
  }

  // libmicrohttpd gives the parameters.
  static MHD_Result on_access(void* self, MHD_Connection* connection, const char* url, const char* method,
                              const char* /*version*/, const char* data, std::size_t* data_size, void** state) {
    try {
      return static_cast<Impl*>(self)->advance(connection, {method, url, {}}, {data, *data_size}, data_size, state);
    } catch (const std::exception&) {  // no memory: nothing may pass through the library's C
      return MHD_NO;
    }
  }

  /// The library calls this when headers are there, with each part of a body, at its end, and after a resume.
  MHD_Result advance(MHD_Connection* connection, HttpRequest head, std::string_view part, std::size_t* part_left,
                     void** state) {
    auto* exchange = static_cast<Exchange*>(*state);
    if (exchange == nullptr) {
      exchange = new Exchange{.request = std::move(head)};
      *state = exchange;  // on_completed() deletes it
      exchange->answer = refusal_of(connection);
      return exchange->answer ? send(connection, *exchange) : MHD_YES;
    }
    if (!part.empty()) {
      exchange->request.body.append(part);
      *part_left = 0;
      return exchange->request.body.size() <= limits.max_body ? MHD_YES : MHD_NO;
    }
    if (exchange->answer) return send(connection, *exchange);
    if (exchange->is_asked) return MHD_YES;
    if (ask(connection, *exchange)) return MHD_YES;
    exchange->answer = HttpAnswer{.status = 503};
    return send(connection, *exchange);
  }

  /// @return false where the server ends
  bool ask(MHD_Connection* connection, Exchange& exchange) {
    const std::uint64_t number = num_asked++;
    const Reply reply = [all = waiting, number](HttpAnswer answer) { all->answer(number, std::move(answer)); };
    set_deadline(connection, std::nullopt);
    if (!waiting->add(number, connection, &exchange)) return false;
    exchange.is_asked = true;
    try {
      handlers.on_request(std::move(exchange.request), reply);
    } catch (const std::exception&) {
      reply({.status = 500});
    }
    return true;
  }

  /// Before the body is read; the library closes the connection then. A proxy may read headers that are not sound in
  /// another way than the library, and pass on as a body what would be a request here.
  std::optional<HttpAnswer> refusal_of(MHD_Connection* connection) const {
    Framing framing;
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &look_at_header, &framing);
    if (!framing.is_sound || framing.num_lengths > 1) {
      const char* const what = framing.is_sound ? "more than one Content-Length" : "a header that is no name: value";
      return HttpAnswer{.status = 400, .body = error_json(what)};
    }
    if (framing.is_chunked)
      return HttpAnswer{.status = 411, .body = error_json("send a Content-Length instead of chunks")};
    if (content_length(connection).value_or(0) <= limits.max_body) return std::nullopt;
    return HttpAnswer{.status = 413,
                      .body = error_json("the body has more than " + std::to_string(limits.max_body) + " bytes")};
  }

  MHD_Result send(MHD_Connection* connection, Exchange& exchange) {
    const HttpAnswer& answer = *exchange.answer;
    const std::string_view body = body_of(answer);
    const std::unique_ptr<MHD_Response, ResponseEnd> response(
        MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()), MHD_RESPMEM_MUST_COPY));
    if (response == nullptr) return MHD_NO;
    MHD_add_response_header(response.get(), "Content-Type", answer.type);
    if (answer.allow != nullptr) MHD_add_response_header(response.get(), "Allow", answer.allow);
    if (answer.status == 503) MHD_add_response_header(response.get(), "Retry-After", "1");
    set_deadline(connection, Clock::now() + limits.timeout);
    handlers.on_answer(answer.status, exchange.timer.seconds());
    return MHD_queue_response(connection, static_cast<unsigned>(answer.status), response.get());
  }

  static void on_completed(void* self, MHD_Connection* connection, void** state, MHD_RequestTerminationCode) {
    auto* const impl = static_cast<Impl*>(self);
    const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(*state));
    *state = nullptr;
    impl->set_deadline(connection, Clock::now() + impl->limits.timeout);
    if (exchange && exchange->is_asked) impl->waiting->count_sent();
  }

  static void on_connection(void* self, MHD_Connection* connection, void**, MHD_ConnectionNotificationCode code) {
    auto* const impl = static_cast<Impl*>(self);
    const std::lock_guard lock(impl->mutex);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
      impl->deadlines[connection] = Clock::now() + impl->limits.timeout;
    else
      impl->deadlines.erase(connection);
    impl->handlers.on_connections(impl->deadlines.size());
  }

  /// By when the client must have done what the server waits for; none while a prediction is waited for. The library's
  /// own time-out begins anew with every byte.
  void set_deadline(MHD_Connection* connection, std::optional<Clock::time_point> deadline) {
    const std::lock_guard lock(mutex);
    if (const auto found = deadlines.find(connection); found != deadlines.end())
      found->second = deadline.value_or(Clock::time_point::max());
  }

  const HttpLimits limits;
  const Handlers handlers;
  Descriptor listening;
  MHD_Daemon* daemon = nullptr;
  std::uint64_t num_asked = 0;
  const std::shared_ptr<WaitingExchanges> waiting = std::make_shared<WaitingExchanges>();
  std::mutex mutex;
  std::unordered_map<MHD_Connection*, Clock::time_point> deadlines;  // of the open connections
};

HttpServer::HttpServer(Descriptor socket, HttpLimits limits, Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(socket), limits, std::move(handlers))) {}
HttpServer::~HttpServer() = default;

void HttpServer::drop_slow() {
  const auto now = Clock::now();
  const std::lock_guard lock(impl_->mutex);  // a connection is closed after it has left the map
  for (const auto& [connection, deadline] : impl_->deadlines) {
    if (deadline > now) continue;
    const MHD_ConnectionInfo* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr) (void)::shutdown(info->connect_fd, SHUT_RDWR);
  }
}

void HttpServer::stop_accepting() { (void)MHD_quiesce_daemon(impl_->daemon); }

bool HttpServer::wait_for_answers(std::chrono::milliseconds limit) { return impl_->waiting->wait_until_sent(limit); }

}  // namespace salient::serve
