// apps/serve/http_server.cpp - see http_server.h.
#include "apps/serve/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/serve/http_conversation.h"
#include "apps/serve/http_date.h"
#include "apps/serve/listen.h"
#include "apps/serve/prediction_json.h"
#include "apps/serve/reply_box.h"
#include "core/error.h"
#include "core/timer.h"

namespace salient::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeToEnd{2};   // for answers to requests that had no reply at the server's end
constexpr std::chrono::seconds kTimeToHear{1};  // for a client to hear a last answer and to close
constexpr std::chrono::milliseconds kLookInterval{500};  // between looks at the deadlines
constexpr int kMaxEvents = 64;
constexpr std::uint64_t kListening = 0, kReplies = 1, kFirstConnection = 2;  // what an event is of

struct Connection {
  std::uint64_t id;
  Descriptor socket;
  HttpConversation talk;
  Clock::time_point deadline;  // by when the client must have done what the server waits for
  Timer timer{};               // since the request was whole
  std::uint64_t asked = 0;     // the request that a reply is expected for; 0: none
  bool is_reply_due = false;   // a reply was taken, and is not sent yet
  bool is_answered = false;    // an answer, of a reply or a refusal, is not sent yet
  bool is_draining = false;    // the last answer is sent; what the client still sends is thrown away
  bool is_lost = false;        // to be closed
  std::uint32_t events = EPOLLIN;

  bool wants_input() const { return is_draining || talk.wants_input(); }
};

/// Of an answer that has none. Allocates nothing: no memory may be its reason.
std::string_view body_of(const HttpAnswer& answer) {
  if (!answer.body.empty() || answer.status < 500) return answer.body;
  return answer.status == 503 ? R"({"error":"the server is stopping"})" : R"({"error":"the server failed"})";
}

void report(const Connection& connection, const HttpAnswer& answer, const HttpServer::Handlers& handlers) {
  const double seconds = connection.timer.seconds();
  handlers.on_answer(answer.status, seconds);
  if (handlers.on_access)
    handlers.on_access({.client = peer_of(connection.socket),
                        .method = connection.talk.method(),
                        .path = connection.talk.path(),
                        .status = answer.status,
                        .num_bytes = body_of(answer).size(),
                        .seconds = seconds});
}

}  // namespace

/// All but the members named first runs on `thread` alone.
struct HttpServer::Impl {
  Impl(Descriptor socket, HttpLimits its_limits, Handlers its_handlers)
      : limits(std::move(its_limits)), handlers(std::move(its_handlers)), listening(std::move(socket)) {
    if (!poll || !watch(EPOLL_CTL_ADD, listening.get(), kListening, EPOLLIN) ||
        !watch(EPOLL_CTL_ADD, replies->descriptor(), kReplies, EPOLLIN))
      fail(ErrorKind::kIo, "the HTTP server cannot start: no descriptor is left");
    thread = std::jthread([this] { run(); });
  }

  ~Impl() {
    if (replies->close(503)) (void)replies->wait_until_done(kTimeToEnd);
    is_ending = true;
    replies->wake();
    thread.join();
    for (auto& [id, connection] : connections) connection.is_lost = true;
    close_lost();
  }

  void run() {
    while (!is_ending) {
      std::array<epoll_event, kMaxEvents> events{};
      const bool is_idle = connections.empty() && !is_exhausted;
      const int wait_ms = is_idle ? -1 : static_cast<int>(kLookInterval.count());
      const int count = ::epoll_wait(poll.get(), events.data(), kMaxEvents, wait_ms);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.u64 == kListening) accept_some();
        if (event.data.u64 == kReplies) replies->hear();
        if (const auto found = connections.find(event.data.u64); found != connections.end())
          attend(found->second, event.events);
      }
      for (const ReplyBox::Reply& reply : replies->take()) deliver(reply);
      look_at_deadlines();
      close_lost();
      listen_again();
    }
  }

  bool watch(int operation, int descriptor, std::uint64_t id, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.u64 = id}};
    return ::epoll_ctl(poll.get(), operation, descriptor, &event) == 0;
  }

  /// Without descriptors or memory it waits: new clients stay where they are.
  void accept_some() {
    for (int i = 0; i < kMaxEvents && connections.size() < limits.max_connections; ++i) {
      Descriptor socket(::accept4(listening.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket && (errno == EINTR || errno == ECONNABORTED)) continue;
      is_exhausted = !socket && errno != EAGAIN;
      if (!socket) return;
      const int number = socket.get(), yes = 1;
      (void)::setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      try {
        const std::uint64_t id = next_id++;
        connections.emplace(
            id, Connection{id, std::move(socket), HttpConversation(limits.rules), Clock::now() + limits.timeout});
        if (!watch(EPOLL_CTL_ADD, number, id, EPOLLIN)) connections.erase(id);
      } catch (const std::exception&) {
        is_exhausted = true;
        return;
      }
      handlers.on_connections(connections.size());
    }
  }

  /// Beyond the limit connections wait in the system's queue.
  void listen_again() {
    const bool wanted = !is_refusing && !is_exhausted && connections.size() < limits.max_connections;
    if (wanted == is_listening) return;
    is_listening = wanted;
    (void)watch(EPOLL_CTL_MOD, listening.get(), kListening, wanted ? EPOLLIN : 0U);
  }

  void attend(Connection& connection, std::uint32_t events) {
    const bool is_early = (events & EPOLLIN) != 0 && !connection.wants_input();
    const std::uint32_t ends = EPOLLERR | (connection.is_draining ? 0U : EPOLLHUP);  // then both sides are shut
    if ((events & ends) != 0) connection.is_lost = true;
    guarded(connection, [&] {
      if ((events & EPOLLOUT) != 0) flush(connection);
      if ((events & EPOLLIN) != 0 && connection.wants_input() && !is_early) read(connection);
    });
    set_events(connection, is_early);
  }

  void deliver(const ReplyBox::Reply& reply) {
    const auto found = connections.find(reply.connection);
    if (found == connections.end() || found->second.is_lost) return replies->count_done();
    found->second.asked = 0;
    found->second.is_reply_due = true;
    guarded(found->second, [&] { send(found->second, reply.answer); });
    set_events(found->second, false);
  }

  template <class Action>
  void guarded(Connection& connection, Action action) {
    try {
      if (!connection.is_lost) action();
    } catch (const std::exception&) {  // no memory
      connection.is_lost = true;
    }
  }

  /// Input that comes before it is wanted is left where it is, and only then not looked for: mostly there is none.
  void set_events(Connection& connection, bool has_early_input) {
    if (connection.is_lost) return;
    const bool looks = connection.wants_input() || ((connection.events & EPOLLIN) != 0 && !has_early_input);
    const std::uint32_t wanted = (looks ? EPOLLIN : 0U) | (connection.talk.output().empty() ? 0U : EPOLLOUT);
    if (wanted == connection.events) return;
    connection.events = wanted;
    if (!watch(EPOLL_CTL_MOD, connection.socket.get(), connection.id, wanted)) connection.is_lost = true;
  }

  void read(Connection& connection) {
    const ssize_t count = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    connection.is_lost = count <= 0;  // the rest of a request, if it has begun, will not come
    if (connection.is_lost || connection.is_draining) return;
    connection.talk.take({buffer.data(), static_cast<std::size_t>(count)});
    advance(connection);
  }

  void advance(Connection& connection) {
    auto next = connection.talk.next();
    connection.timer = Timer();
    if (auto* const request = std::get_if<HttpRequest>(&next)) return ask(connection, std::move(*request));
    if (const auto* const refusal = std::get_if<HttpRefusal>(&next))
      return send(connection, {.status = refusal->status, .body = error_json(refusal->what)});
    if (!connection.talk.output().empty()) flush(connection);  // 100 Continue
  }

  void ask(Connection& connection, HttpRequest request) {
    const std::uint64_t number = ++num_asked;
    if (!replies->expect(number, connection.id)) {  // the server ends
      connection.talk.end_with_answer();
      return send(connection, {.status = 503});
    }
    connection.asked = number;
    connection.deadline = Clock::time_point::max();
    const Reply reply = [box = replies, number](HttpAnswer answer) { box->post(number, std::move(answer)); };
    try {
      handlers.on_request(std::move(request), reply);
    } catch (const std::exception&) {
      reply({.status = 500});
    }
  }

  void send(Connection& connection, const HttpAnswer& answer) {
    connection.deadline = Clock::now() + limits.timeout;
    report(connection, answer, handlers);
    connection.talk.answer(answer, body_of(answer), http_date());
    connection.is_answered = true;
    flush(connection);
  }

  void flush(Connection& connection) {
    HttpConversation& talk = connection.talk;
    while (!talk.output().empty()) {
      const std::string_view bytes = talk.output();
      const ssize_t count = ::send(connection.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return;
      if (count < 0) connection.is_lost = true;
      if (count < 0) return;
      talk.count_sent(static_cast<std::size_t>(count));
    }
    if (!std::exchange(connection.is_answered, false)) return;  // that was 100 Continue
    if (std::exchange(connection.is_reply_due, false)) replies->count_done();
    if (talk.is_over()) return drain(connection);
    connection.deadline = Clock::now() + limits.timeout;
    advance(connection);  // the next request may be there already
  }

  /// Bytes that nobody reads would make close() take the answer back from the client.
  void drain(Connection& connection) {
    (void)::shutdown(connection.socket.get(), SHUT_WR);
    connection.is_draining = true;
    connection.deadline = Clock::now() + kTimeToHear;
  }

  void look_at_deadlines() {
    const auto now = Clock::now();
    if (now < next_look) return;
    next_look = now + kLookInterval;
    is_exhausted = false;
    for (auto& [id, connection] : connections) connection.is_lost |= connection.deadline <= now;
  }

  void close_lost() {
    const std::size_t num_lost = std::erase_if(connections, [this](const auto& entry) {
      const Connection& connection = entry.second;
      if (!connection.is_lost) return false;
      if (connection.is_reply_due) replies->count_done();
      if (connection.asked != 0) replies->forget(connection.asked);
      return true;
    });
    if (num_lost == 0) return;
    is_exhausted = false;
    handlers.on_connections(connections.size());
  }

  const HttpLimits limits;
  const Handlers handlers;
  const std::shared_ptr<ReplyBox> replies = std::make_shared<ReplyBox>();
  std::atomic<bool> is_ending{false}, is_refusing{false};

  const Descriptor listening;
  const Descriptor poll{::epoll_create1(EPOLL_CLOEXEC)};
  std::unordered_map<std::uint64_t, Connection> connections;
  std::uint64_t next_id = kFirstConnection, num_asked = 0;
  Clock::time_point next_look{};
  bool is_listening = true, is_exhausted = false;
  std::array<char, 64 << 10> buffer{};
  std::jthread thread;  // last: it uses all of the above
};

HttpServer::HttpServer(Descriptor socket, HttpLimits limits, Handlers handlers)
    : impl_(std::make_unique<Impl>(std::move(socket), std::move(limits), std::move(handlers))) {}
HttpServer::~HttpServer() = default;

void HttpServer::stop_accepting() {
  impl_->is_refusing = true;
  impl_->replies->wake();
}

bool HttpServer::wait_for_answers(std::chrono::milliseconds limit) { return impl_->replies->wait_until_done(limit); }

}  // namespace salient::serve
