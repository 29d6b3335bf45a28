// tests/fuzz/http_head_fuzz.cpp - any bytes as a client's: the same answers however they are cut, and no request that
// breaks a rule.
#include <algorithm>

#include "apps/serve/http_conversation.h"
#include "tests/fuzz/fuzz_target.h"

namespace salient::fuzz {
namespace {

using namespace salient::serve;

const HeadRules kRules{.max_body = 64, .hosts = HostNames("127.0.0.1:80", "127.0.0.1", {"models.example"})};

void check(const HttpRequest& request) {
  claim(is_token(request.method), "a method is a token");
  claim(request.path == "*" || request.path.starts_with('/'), "a path begins with /");
  claim(request.path.find('\0') == std::string::npos, "no path has a NUL");
  claim(request.body.size() <= kRules.max_body, "no body is too long");
}

struct Outcome {
  std::string sent{};  ///< to the client
  std::string asked{};
  bool operator==(const Outcome&) const = default;
};

Outcome conversation(std::string_view bytes, std::size_t step) {
  HttpConversation talk(kRules);
  Outcome found;
  int num_answers = 0;
  while (true) {
    const auto next = talk.next();
    if (const auto* const request = std::get_if<HttpRequest>(&next)) {
      check(*request);
      found.asked += request->method + " " + request->path + " " + request->body + "\n";
      talk.answer({}, "{}", "now");
    } else if (const auto* const refusal = std::get_if<HttpRefusal>(&next)) {
      claim(refusal->status >= 400 && refusal->status <= 505, "a refusal is an error");
      claim(refusal->what.find('\n') == std::string::npos, "and says why in one line");
      talk.answer({.status = refusal->status}, refusal->what, "now");
    }
    num_answers += next.index() != 0;
    const std::string_view sent = talk.output();
    if (next.index() != 0) found.sent += sent;  // 100 Continue depends on what came together
    talk.count_sent(sent.size());
    if (next.index() == 2) claim(talk.is_over() && !talk.wants_input(), "a refusal ends it");
    if (talk.is_over() || (next.index() == 0 && bytes.empty())) break;
    if (next.index() != 0) continue;
    claim(talk.wants_input(), "it waits for the client alone");
    talk.take(bytes.substr(0, step));
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  int num_lines = 0;
  for (std::size_t at = 0; (at = found.sent.find("\r\nDate: now\r\n", at)) != std::string::npos; ++at) ++num_lines;
  claim(num_lines == num_answers, "each is answered once");
  return found;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string host = "Host: localhost:8080\r\n";
  return {
      "POST /predict HTTP/1.1\r\n" + host + "Content-Length: 15\r\n\r\n{\"nodes\": [17]}GET /healthz HTTP/1.1\r\n" +
          host + "Connection: close\r\n\r\n",
      "GET /%6d?a=%20 HTTP/1.0\r\nConnection: keep-alive, te\r\n\r\n\r\nHEAD * HTTP/1.1\r\n" + host + "\r\n",
      "POST http://models.example/predict HTTP/1.1\r\nhost: [::ffff:7f00:1]\r\nOrigin: http://LOCALHOST.\r\n"
      "Expect: 100-continue\r\nContent-Type: application/json; a=b\r\nContent-Length: 2\r\n\r\n{}",
      "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient::fuzz;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Outcome whole = conversation(bytes, bytes.size());
  claim(conversation(bytes, 1) == whole && conversation(bytes, 7) == whole, "cuts change nothing");
  return 0;
}
