// workbench/generator/generator.cpp - requests as JSON, and the generators command and replay; see generator.h.
#include "workbench/generator/generator.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/host/interrupt.h"
#include "workbench/ledger/ledger.h"
#include "workbench/referee/process.h"

namespace salient::workbench {
namespace {

class CommandGenerator final : public Generator {
 public:
  CommandGenerator(std::vector<std::string> command, double seconds, std::string author)
      : command_(std::move(command)), seconds_(seconds), author_(std::move(author)) {}

  Answer ask(const Request& request) override {
    const ProcessResult result = run_process(command_, text_of(request) + "\n",
                                             {.seconds = seconds_,
                                              .output_bytes = kMaxAnswerBytes,
                                              .ends_when_interrupted = true,
                                              .environment = Environment::kWhole});
    if (result.exit_code != 0) stop_if_interrupted();
    if (result.timed_out) return {false, {}, "the command gave no answer in time"};
    if (result.cut) return {false, {}, "the answer is larger than " + std::to_string(kMaxAnswerBytes) + " bytes"};
    if (result.exit_code != 0) {
      const std::string first = result.errors.substr(0, std::min<std::size_t>(result.errors.find('\n'), 200));
      return {false,
              {},
              "the command ended with " + std::to_string(result.exit_code) + (first.empty() ? "" : ": " + first)};
    }
    if (result.output.empty()) return {false, {}, "the command answered nothing"};
    return {true, result.output, {}, author_};
  }

 private:
  std::vector<std::string> command_;
  double seconds_;
  std::string author_;
};

class ReplayGenerator final : public Generator {
 public:
  explicit ReplayGenerator(const std::filesystem::path& run) {
    std::map<int, std::string> roles;
    for (const Json& record : load_ledger(run)) {
      const std::string kind = record["kind"];
      if (kind == "request") roles[number_of(record, "id")] = text_of(record, "role");
      if (kind != "answer") continue;
      const std::string error = text_of(record, "error");
      Answer answer{error.empty(), read_object(run, text_of(record, "answer")), error, text_of(record, "author")};
      by_role_[roles[number_of(record, "id")]].push_back(std::move(answer));
    }
  }

  /// The next recorded answer of the same role: timings may lead a new run another way than the recorded one.
  Answer ask(const Request& request) override {
    std::vector<Answer>& answers = by_role_[request.role];
    std::size_t& next = next_[request.role];
    if (next == answers.size()) return {false, {}, "the recorded run has no more answers of a " + request.role};
    return answers[next++];
  }

 private:
  std::map<std::string, std::vector<Answer>> by_role_;
  std::map<std::string, std::size_t> next_;
};

}  // namespace

const char* word_of(AnswerKind kind) {
  constexpr const char* kWords[] = {"source", "edits", "text", "shapes"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string text_of(const Request& request) {
  const Json json = {{"protocol", 1},
                     {"id", request.id},
                     {"round", request.round},
                     {"role", request.role},
                     {"answer", word_of(request.answer)},
                     {"system", request.system},
                     {"prompt", request.prompt}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unique_ptr<Generator> make_command_generator(std::vector<std::string> command, double seconds,
                                                  std::string author) {
  if (command.empty()) fail(ErrorKind::kUsage, "a command generator without a command");
  return std::make_unique<CommandGenerator>(std::move(command), seconds, std::move(author));
}

std::unique_ptr<Generator> make_replay_generator(const std::filesystem::path& run) {
  return std::make_unique<ReplayGenerator>(run);
}

}  // namespace salient::workbench
