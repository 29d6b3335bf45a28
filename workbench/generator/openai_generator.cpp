// workbench/generator/openai_generator.cpp - POST /chat/completions through libcurl; see generator.h.
//
// The key goes into one header and nowhere else: not into logs, errors, ledgers, or the environment of child processes.
// Every transfer is a process of its own, which gets the key through a pipe: what libcurl keeps of it ends there and is
// not in the memory that the workers of candidates inherit.
#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/console/log.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/printable.h"
#include "workbench/generator/generator.h"
#include "workbench/generator/secret.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;
constexpr int kMostTokens = 1 << 30;                   // of an answer; a ledger's numbers are int
constexpr std::size_t kMaxBody = 2 * kMaxAnswerBytes;  // JSON escapes make a text longer

struct Body {
  std::string text{};
  bool is_cut = false;
};

std::size_t take(char* data, std::size_t size, std::size_t count, void* to) {
  auto& body = *static_cast<Body*>(to);
  if (body.text.size() + size * count > kMaxBody) {
    body.is_cut = true;
    return 0;  // ends the transfer
  }
  body.text.append(data, size * count);
  return size * count;
}

/// For curl's progress callback: Ctrl-C ends a transfer.
int is_interrupted(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return interrupt_signal() != 0 ? 1 : 0; }

/// libcurl's functions, found at run time: who asks no server needs no libcurl.
struct Curl {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) set;
  decltype(&::curl_easy_getinfo) get;
  decltype(&::curl_easy_perform) perform;
  decltype(&::curl_easy_strerror) text_of;
  decltype(&::curl_slist_append) append;
  decltype(&::curl_slist_free_all) free_all;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) fail(ErrorKind::kNoInput, std::string("libcurl has no ") + name + "; it is too old");
}

/// Loads it once, for good. @throws Error{kNoInput}
const Curl& libcurl() {
  static const Curl loaded = [] {
    void* const library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(ErrorKind::kNoInput, "the library libcurl (libcurl.so.4) is not on this machine");
    Curl c{};
    find(library, "curl_global_init", c.global_init);
    find(library, "curl_easy_init", c.easy_init);
    find(library, "curl_easy_cleanup", c.easy_cleanup);
    find(library, "curl_easy_setopt", c.set);
    find(library, "curl_easy_getinfo", c.get);
    find(library, "curl_easy_perform", c.perform);
    find(library, "curl_easy_strerror", c.text_of);
    find(library, "curl_slist_append", c.append);
    find(library, "curl_slist_free_all", c.free_all);
    if (c.global_init(CURL_GLOBAL_DEFAULT) != 0) fail(ErrorKind::kInternal, "libcurl does not start");
    return c;
  }();
  return loaded;
}

struct FreeCurl {
  void operator()(CURL* handle) const noexcept { libcurl().easy_cleanup(handle); }
};
struct FreeHeaders {
  void operator()(curl_slist* list) const noexcept { libcurl().free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeHeaders>;

struct Transfer {
  CURLcode code = CURLE_OK;
  long status = 0;
  long again_after_s = 0;  // as the endpoint says; 0 = it does not
  Body body{};
  bool may_try_again() const {
    if (code != CURLE_OK)
      return code == CURLE_OPERATION_TIMEDOUT || code == CURLE_COULDNT_CONNECT || code == CURLE_RECV_ERROR ||
             code == CURLE_GOT_NOTHING;
    return is_overload();
  }
  bool is_overload() const { return code == CURLE_OK && (status == 408 || status == 429 || status >= 500); }
  bool is_key_refused() const { return code == CURLE_OK && (status == 401 || status == 403); }
  bool is_request_refused() const { return code == CURLE_OK && status >= 300 && !is_overload(); }
  bool is_unreachable() const {
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY;
  }
};

/// Of a transfer, as it goes through a pipe before the body.
struct TransferHead {
  CURLcode code = CURLE_OK;
  long status = 0;
  long again_after_s = 0;
  bool is_cut = false;
};

void send_all(int to, const void* data, std::size_t size) {
  for (const char* at = static_cast<const char*>(data); size > 0;) {
    const ssize_t sent = write(to, at, size);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;  // who should read it is gone
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

/// All that comes until the other side closes; less if the program is to end.
std::string receive_all(int from) {
  std::string text;
  char block[1 << 14];
  while (interrupt_signal() == 0) {
    pollfd wait{from, POLLIN, 0};
    if (poll(&wait, 1, 1000) <= 0) continue;
    const ssize_t got = read(from, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(block, static_cast<std::size_t>(got));
  }
  return text;
}

/// What `run(key)` returns in a process of its own; less, or nothing, if that ends early.
template <class Run>
std::string in_a_child(std::string_view key, const Run& run) {
  int down[2], up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0) fail(ErrorKind::kIo, "cannot make a pipe");
  (void)std::fflush(nullptr);  // else the child would write it again
  const pid_t child = fork();
  if (child < 0) fail(ErrorKind::kIo, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)close(down[1]);
    const std::string result = run(receive_all(down[0]));
    send_all(up[1], result.data(), result.size());
    _exit(0);
  }
  (void)close(down[0]);
  (void)close(up[1]);
  send_all(down[1], key.data(), key.size());
  (void)close(down[1]);
  std::string result = receive_all(up[0]);
  (void)close(up[0]);
  (void)kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return result;
}

/// Endpoints may show the key that they refuse; what they say goes to the ledger and to the terminal.
void remove_key(const std::string& key, std::string& text) {
  if (key.empty()) return;
  for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
    text.replace(at, key.size(), "*");
}

std::string text_field(const Json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : std::string();
}

/// The text of a message's content: a string, or a list of parts of which those of type "text" count.
std::string text_of_content(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array())
    for (const Json& part : content)
      if (part.is_object() && text_field(part, "type") == "text") text += text_field(part, "text");
  return text;
}

std::int64_t count_field(const Json& object, const char* name) {
  const bool is_count = object.contains(name) && object[name].is_number_unsigned() && object[name] <= kMostTokens;
  return is_count ? object[name].get<std::int64_t>() : 0;
}

/// The answer in choices[0] of a reply, or why there is none.
Answer read_choice(const Json& reply) {
  if (!reply.is_object() || !reply.contains("choices") || !reply["choices"].is_array() || reply["choices"].empty() ||
      !reply["choices"][0].is_object() || !reply["choices"][0].contains("message") ||
      !reply["choices"][0]["message"].is_object())
    return {false, {}, "the endpoint's answer has no choices[0].message"};
  const Json& choice = reply["choices"][0];
  if (text_field(choice, "finish_reason") == "length")
    return {false, {}, "the answer was cut at its limit of tokens, the endpoint's or the run's"};
  std::string text = text_of_content(choice["message"].value("content", Json()));
  if (text.empty()) {
    const std::string refusal = text_field(choice["message"], "refusal");
    return {false, {}, refusal.empty() ? "the model answered nothing" : "the model refused: " + printable(refusal)};
  }
  if (text.size() > kMaxAnswerBytes) return {false, {}, "the answer is too large"};
  Answer answer{true, std::move(text), {}, text_field(reply, "model")};
  if (reply.contains("usage") && reply["usage"].is_object()) {
    answer.tokens_asked = count_field(reply["usage"], "prompt_tokens");
    answer.tokens_answered = count_field(reply["usage"], "completion_tokens");
  }
  return answer;
}

/// The answer of a transfer, or why there is none.
Answer read_body(const Transfer& transfer) {
  if (transfer.body.is_cut) return {false, {}, "the answer is larger than " + std::to_string(kMaxBody) + " bytes"};
  if (transfer.code != CURLE_OK) return {false, {}, std::string("the endpoint: ") + libcurl().text_of(transfer.code)};
  const Json json = Json::parse(transfer.body.text, nullptr, false);
  if (transfer.status != 200) {
    std::string why = "the endpoint answered " + std::to_string(transfer.status);
    if (json.is_object() && json.contains("error") && json["error"].is_object() && json["error"].contains("message") &&
        json["error"]["message"].is_string())
      why += ": " + json["error"]["message"].get<std::string>().substr(0, 200);
    return {false, {}, printable(why)};
  }
  if (json.is_discarded()) return {false, {}, "the endpoint's answer is no JSON"};
  return read_choice(json);
}

class OpenAiGenerator final : public Generator {
 public:
  explicit OpenAiGenerator(const HttpOptions& options) : options_(options), key_(options.key_env) {
    if (options_.endpoint.empty() || options_.model.empty())
      fail(ErrorKind::kUsage, "an endpoint and a model are needed");
    (void)libcurl();
    while (options_.endpoint.ends_with('/')) options_.endpoint.pop_back();
  }

  Answer ask(const Request& request) override {
    const std::string text = body_of(request).dump(-1, ' ', false, Json::error_handler_t::replace);
    double pause = options_.pause_seconds;
    for (int attempt = 1;; ++attempt) {
      const Transfer transfer = post(text);
      stop_if_interrupted();
      Answer answer = read_body(transfer);
      if (answer.is_there && answer.author.empty()) answer.author = options_.model;
      if (transfer.is_key_refused())
        throw Waiting{answer.error + "; the key is read from the environment variable " + options_.key_env};
      if (transfer.is_request_refused()) throw Waiting{answer.error};
      const bool is_last = transfer.body.is_cut || !transfer.may_try_again() || attempt >= options_.tries;
      if (is_last && transfer.is_unreachable()) throw Waiting{answer.error + ": " + options_.endpoint};
      if (is_last && transfer.is_overload()) throw Waiting{answer.error};
      if (answer.is_there || is_last) return answer;
      const double asked = std::min(static_cast<double>(transfer.again_after_s), options_.seconds);
      log_info("try " + std::to_string(attempt) + " of " + std::to_string(options_.tries) + " failed: " + answer.error);
      wait(std::max(asked, pause));
      pause *= 2;
    }
  }

 private:
  /// What was not asked for is not sent: models differ in what they take.
  Json body_of(const Request& request) const {
    Json body = {{"model", options_.model},
                 {"messages", Json::array({{{"role", "system"}, {"content", request.system}},
                                           {{"role", "user"}, {"content", request.prompt}}})}};
    if (options_.temperature >= 0) body["temperature"] = options_.temperature;
    if (options_.max_tokens > 0) body[options_.token_field] = options_.max_tokens;
    return body;
  }

  /// @throws Interrupted
  static void wait(double seconds) {
    for (double left = seconds; left > 0; left -= 0.1) {
      (void)usleep(static_cast<useconds_t>(std::min(left, 0.1) * 1e6));
      stop_if_interrupted();
    }
  }

  Transfer post(const std::string& body) const {
    const std::string bytes = in_a_child(key_.text(), [&](const std::string& key) {
      Transfer made = transfer_with(key, body);
      remove_key(key, made.body.text);
      const TransferHead head{made.code, made.status, made.again_after_s, made.body.is_cut};
      return std::string(reinterpret_cast<const char*>(&head), sizeof head) + made.body.text;
    });
    if (bytes.size() < sizeof(TransferHead)) return {.code = CURLE_RECV_ERROR};
    TransferHead head;
    std::memcpy(&head, bytes.data(), sizeof head);
    return {head.code, head.status, head.again_after_s, {bytes.substr(sizeof head), head.is_cut}};
  }

  Transfer transfer_with(const std::string& key, const std::string& body) const {
    Transfer transfer;
    const std::unique_ptr<CURL, FreeCurl> handle(libcurl().easy_init());
    if (handle == nullptr) fail(ErrorKind::kInternal, "libcurl does not start");
    Headers headers(libcurl().append(nullptr, "Content-Type: application/json"));
    if (!key.empty()) (void)libcurl().append(headers.get(), ("Authorization: Bearer " + key).c_str());
    const std::string url = options_.endpoint + "/chat/completions";
    const auto set = [&](CURLoption option, auto value) { (void)libcurl().set(handle.get(), option, value); };
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_POSTFIELDS, body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(CURLOPT_WRITEFUNCTION, &take);
    set(CURLOPT_WRITEDATA, &transfer.body);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &is_interrupted);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(std::min(options_.seconds, 30.0) * 1000));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.seconds * 1000));
    transfer.code = libcurl().perform(handle.get());
    (void)libcurl().get(handle.get(), CURLINFO_RESPONSE_CODE, &transfer.status);
    curl_off_t again_after_s = 0;
    (void)libcurl().get(handle.get(), CURLINFO_RETRY_AFTER, &again_after_s);  // a date becomes seconds from now
    transfer.again_after_s = static_cast<long>(again_after_s);
    return transfer;
  }

  HttpOptions options_;
  Secret key_;
};

}  // namespace

std::unique_ptr<Generator> make_openai_generator(const HttpOptions& options) {
  return std::make_unique<OpenAiGenerator>(options);
}

}  // namespace salient::workbench
