// apps/serve/http_conversation.cpp - see http_conversation.h.
#include "apps/serve/http_conversation.h"

#include <utility>

namespace salient::serve {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string_view reason_of(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 411: return "Length Required";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
  }
  return "Unknown";  // clients go by the number
}

}  // namespace

/// @return whether the head is whole   @throws HttpRefusal
bool HttpConversation::read_head() {
  plan_ = {.method = {}, .path = {}, .keeps_open = false};  // of a refusal
  std::string_view bytes = input_;
  const bool is_whole = reader_.take(bytes);
  input_.erase(0, input_.size() - bytes.size());
  if (!is_whole) return false;
  const RequestHead head = reader_.release();
  plan_.method = head.method;
  plan_ = check_head(head, *rules_);
  stage_ = Stage::kBody;
  if (plan_.is_awaited && input_.empty()) output_ += kContinue;
  return true;
}

std::variant<std::monostate, HttpRequest, HttpRefusal> HttpConversation::next() {
  try {
    if (stage_ == Stage::kHead) (void)read_head();
  } catch (HttpRefusal& refusal) {
    stage_ = Stage::kAsked;
    return std::move(refusal);
  }
  if (stage_ != Stage::kBody || input_.size() < plan_.body_size) return {};
  stage_ = Stage::kAsked;
  HttpRequest request{plan_.method, plan_.path, input_.substr(0, plan_.body_size)};
  input_ = input_.substr(plan_.body_size);  // gives memory back
  return request;
}

void HttpConversation::answer(const HttpAnswer& answer, std::string_view body, std::string_view date) {
  const auto add = [this](std::string_view name, std::string_view value) {
    output_.append(name).append(": ").append(value).append("\r\n");
  };
  output_.append("HTTP/1.1 ").append(std::to_string(answer.status)).append(" ").append(reason_of(answer.status));
  output_ += "\r\n";
  add("Date", date);
  add("Connection", plan_.keeps_open ? "keep-alive" : "close");
  add("Content-Length", std::to_string(body.size()));
  add("Content-Type", answer.type);
  if (answer.allow != nullptr) add("Allow", answer.allow);
  if (answer.status == 503) add("Retry-After", "1");
  output_ += "\r\n";
  if (plan_.method != "HEAD") output_ += body;
  stage_ = Stage::kAnswered;
}

void HttpConversation::count_sent(std::size_t count) {
  num_sent_ += count;
  if (num_sent_ < output_.size()) return;
  num_sent_ = 0;
  output_ = std::string();  // gives memory back
  if (stage_ == Stage::kAnswered) stage_ = plan_.keeps_open ? Stage::kHead : Stage::kOver;
}

}  // namespace salient::serve
