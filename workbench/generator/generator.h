// workbench/generator/generator.h - who writes code: one question in, one answer out, whatever is behind it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace salient::workbench {

/// What an answer must contain.
enum class AnswerKind { kSource, kEdits, kText, kShapes };
const char* word_of(AnswerKind kind);  ///< "source", "edits", "text", "shapes"

struct Request {
  int id = 0;
  int round = 0;
  std::string role{};  ///< coder, diagnosis, repair, planner, tester, profiler
  AnswerKind answer = AnswerKind::kText;
  std::string system{};  ///< who is asked
  std::string prompt{};  ///< and what
};

/// As JSON: protocol, id, round, role, answer, system, prompt. What `command` gets on standard input.
std::string text_of(const Request& request);

/// An answer as it came, or why none came. A failed answer costs its round and never the run.
struct Answer {
  bool is_there = false;
  std::string text{};    ///< of the answer
  std::string error{};   ///< one line
  std::string author{};  ///< who wrote it: a model as the endpoint names it, or what the user said; "" = not known
  std::int64_t tokens_asked = 0, tokens_answered = 0;  ///< as the endpoint counts them; 0 = it does not
  double seconds = 0;                                  ///< that it was waited for, as whoever asked measured it
};

/// Thrown by what cannot go on now and can later: no error. Only verbs catch it.
struct Waiting {
  std::string reason{};  ///< one line: for what
};

inline constexpr std::size_t kMaxAnswerBytes = std::size_t{2} << 20;

class Generator {
 public:
  virtual ~Generator() = default;
  /// Blocks until there is an answer or the time limit is over. Never throws for a bad answer.
  /// @throws Waiting where no request can be answered now, Interrupted
  virtual Answer ask(const Request& request) = 0;
};

/// A program: the request as JSON on its standard input, its standard output is the answer.
/// @param command  program and arguments   @param author  who answers behind it; "" = not known
std::unique_ptr<Generator> make_command_generator(std::vector<std::string> command, double seconds,
                                                  std::string author = {});

/// Requests as files NNN-ROLE.request.md in `folder`, answers from NNN-ROLE.answer.md (or .txt, .json, .cu, .cpp).
/// Where the answer is not there yet, is empty, cannot be read or is none by `problem_of`, ask() throws Waiting, and
/// says why: the run stays open, and a slip can be mended.
/// @param problem_of  one line on what is wrong with an answer to a request; "" = nothing
std::unique_ptr<Generator> make_folder_generator(
    const std::filesystem::path& folder, std::string author,
    std::function<std::string(const Request&, const std::string& answer)> problem_of);

/// The answers of a recorded run, in its order; its ledger is verified first. @throws Error{kNoInput}, Error{kBadData}
std::unique_ptr<Generator> make_replay_generator(const std::filesystem::path& run);

struct HttpOptions {
  std::string endpoint{};  ///< URL up to and with /v1
  std::string model{};
  std::string key_env{};     ///< variable with the key, which is taken out of the environment; "" = there is no key
  double seconds = 600;      ///< of one try
  int tries = 3;             ///< for time-outs, 429 and 5xx
  double pause_seconds = 2;  ///< before the second try; doubled each time. Where the endpoint says when (Retry-After,
                             ///< seconds or a date), its time counts
  double temperature = -1;   ///< below 0: not sent
  int max_tokens = 0;        ///< 0: not sent
  std::string token_field = "max_tokens";  ///< under this name
};
/// Any endpoint that speaks POST /chat/completions as OpenAI's does. Where it refuses the key or the request (4xx but
/// 408 and 429), is still overloaded after the last try, or cannot be reached, ask() throws Waiting: no later request
/// would fare better. An answer that the endpoint cut at its limit of tokens is none.
std::unique_ptr<Generator> make_openai_generator(const HttpOptions& options);

}  // namespace salient::workbench
