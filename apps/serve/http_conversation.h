// apps/serve/http_conversation.h - HTTP/1 with one client, as bytes: no socket, no clock, no thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "apps/serve/http_message.h"
#include "apps/serve/request_head.h"
#include "apps/serve/request_rules.h"

namespace salient::serve {

/// Requests are answered one after the other: next(), answer(), all of output() sent, next(). What comes in does not
/// depend on how the bytes were cut. After a refusal nothing of the client is read any more.
class HttpConversation {
 public:
  /// @param rules  outlives this
  explicit HttpConversation(const HeadRules& rules) : rules_(&rules) {}

  /// Bytes of the client, in order.
  void take(std::string_view bytes) { input_ += bytes; }

  /// What the client asks for, once that is whole; nothing while it is not, or while the last answer is due or unsent.
  std::variant<std::monostate, HttpRequest, HttpRefusal> next();

  /// Of the last request or refusal. A body is there for every status. @param date  as HTTP writes it
  void answer(const HttpAnswer& answer, std::string_view body, std::string_view date);

  /// The next answer is the last.
  void end_with_answer() { plan_.keeps_open = false; }

  /// What the last request asked for; empty where its head was refused.
  const std::string& method() const { return plan_.method; }
  const std::string& path() const { return plan_.path; }

  /// Bytes for the client; `count` of them, from the front, are sent.
  std::string_view output() const { return std::string_view(output_).substr(num_sent_); }
  void count_sent(std::size_t count);

  /// Whether bytes of the client are of use now.
  bool wants_input() const { return stage_ == Stage::kHead || stage_ == Stage::kBody; }

  /// Whether the last answer is sent and was the last.
  bool is_over() const { return stage_ == Stage::kOver; }

 private:
  enum class Stage { kHead, kBody, kAsked, kAnswered, kOver };

  bool read_head();

  const HeadRules* rules_;
  Stage stage_ = Stage::kHead;
  HeadReader reader_{};
  RequestPlan plan_{};
  std::string input_{}, output_{};
  std::size_t num_sent_ = 0;
};

}  // namespace salient::serve
