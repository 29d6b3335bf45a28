// workbench/case/reference_program.cpp - see reference_program.h.
#include "workbench/case/reference_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "core/error.h"
#include "workbench/case/formula.h"
#include "workbench/referee/conversation.h"

namespace salient::workbench {
namespace {

using Json = nlohmann::json;

constexpr double kSeconds = 300;  // for one problem; the first one starts the program, too

struct Python {
  std::string interpreter = "python3";
  std::filesystem::path server{};
};
Python& python() {
  static Python how;
  return how;
}

const char* word_of(BufferRole role) {
  return role == BufferRole::kIn ? "in" : role == BufferRole::kOut ? "out" : "inout";
}

/// Right answers of one problem.
struct Answers {
  std::vector<std::vector<double>> values{}, magnitudes{};  ///< by buffer; empty of those that are only read
};

Json header_of(const Problem& problem) {
  Json buffers = Json::array();
  const Case& given = problem.definition();
  for (std::size_t b = 0; b < given.buffers.size(); ++b)
    buffers.push_back({{"name", given.buffers[b].name},
                       {"type", word_of(given.buffers[b].type)},
                       {"role", word_of(given.buffers[b].role)},
                       {"count", problem.elements(b)}});
  return {{"case", given.name}, {"dims", problem.spec().dims}, {"buffers", buffers}, {"seed", problem.spec().seed}};
}

class Program {
 public:
  explicit Program(const Case& given) : name_(given.name), talk_(reference_command(given), given.file.parent_path()) {}

  Answers ask(const Problem& problem) {
    std::string question = header_of(problem).dump() + "\n";
    const Case& given = problem.definition();
    for (std::size_t b = 0; b < given.buffers.size(); ++b) {
      if (given.buffers[b].role == BufferRole::kOut) continue;
      for (std::size_t i = 0; i < problem.elements(b); ++i) {
        const double value = problem.at(b, i);
        question.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
    talk_.send(question, kSeconds);
    const Json head = read_head();
    Answers answers{std::vector<std::vector<double>>(given.buffers.size()),
                    std::vector<std::vector<double>>(given.buffers.size())};
    read_arrays(problem, head.at("outputs"), answers.values);
    read_arrays(problem, head.value("magnitudes", Json::array()), answers.magnitudes);
    complete(given, answers);
    return answers;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kBadData, "the reference of case " + name_ + ": " + why);
  }

  Json read_head() {
    const std::string line = talk_.line(kSeconds);
    Json head = Json::parse(line, nullptr, false);
    if (!head.is_object()) refuse("its answer does not begin with a line of JSON: " + line.substr(0, 200));
    if (head.contains("error")) refuse(head["error"].is_string() ? head["error"].get<std::string>() : "an error");
    const auto is_list_of_names = [](const Json& list) {
      return list.is_array() &&
             std::all_of(list.begin(), list.end(), [](const Json& name) { return name.is_string(); });
    };
    if (!is_list_of_names(head.value("outputs", Json())) || !is_list_of_names(head.value("magnitudes", Json::array())))
      refuse("its answer lists outputs and magnitudes by name");
    return head;
  }

  void read_arrays(const Problem& problem, const Json& names, std::vector<std::vector<double>>& arrays) {
    for (const Json& name : names) {
      const std::vector<BufferSpec>& buffers = problem.definition().buffers;
      const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const BufferSpec& buffer) {
        return buffer.name == name.get<std::string>() && buffer.role != BufferRole::kIn;
      });
      if (found == buffers.end()) refuse("it answers " + name.get<std::string>() + ", which is no output");
      const auto b = static_cast<std::size_t>(found - buffers.begin());
      arrays[b].resize(problem.elements(b));
      talk_.read(std::as_writable_bytes(std::span(arrays[b])), kSeconds);
    }
  }

  /// @throws unless every output has values; magnitudes are made where none came
  void complete(const Case& given, Answers& answers) const {
    for (std::size_t b = 0; b < given.buffers.size(); ++b) {
      if (given.buffers[b].role == BufferRole::kIn || answers.values[b].size() == answers.magnitudes[b].size())
        continue;
      if (answers.values[b].empty()) refuse("it gives no " + given.buffers[b].name);
      double most = 0;
      for (const double value : answers.values[b])
        if (std::isfinite(value)) most = std::max(most, std::abs(value));
      answers.magnitudes[b].assign(answers.values[b].size(), most);
    }
  }

  std::string name_;
  Conversation talk_;
};

/// Asks the program of the last case, or starts another one: problems of one case follow each other. What has failed
/// is not asked again.
Answers ask_program(const Problem& problem) {
  static std::unique_ptr<Program> program;
  static std::string key_of_program;
  const Case& given = problem.definition();
  std::string key = given.file.string();
  for (const std::string& word : reference_command(given)) key += '\0' + word;
  std::unique_ptr<Program> asked = std::move(program);
  if (asked == nullptr || key != key_of_program) asked.reset();
  if (asked == nullptr) asked = std::make_unique<Program>(given);
  Answers answers = asked->ask(problem);
  program = std::move(asked);
  key_of_program = key;
  return answers;
}

class ProgramReference final : public Reference {
 public:
  ProgramReference(const Case& given, std::shared_ptr<const Answers> answers)
      : given_(given), answers_(std::move(answers)) {}

  std::vector<ResultPart> row(std::size_t row) const override {
    for (std::size_t b = 0; b < given_.buffers.size(); ++b) {
      const std::vector<double>& values = answers_->values[b];
      const std::size_t rows = (values.size() + kProgramRow - 1) / kProgramRow;
      if (row < rows) return {part_of(b, row)};
      row -= rows;
    }
    require(false, "a row of the reference");
    return {};
  }

 private:
  ResultPart part_of(std::size_t b, std::size_t row) const {
    const std::size_t first = row * kProgramRow, end = std::min(first + kProgramRow, answers_->values[b].size());
    ResultPart part{b, first};
    for (std::size_t i = first; i < end; ++i) part.add(answers_->values[b][i], answers_->magnitudes[b][i]);
    return part;
  }

  const Case& given_;
  std::shared_ptr<const Answers> answers_;
};

}  // namespace

void set_reference_python(std::string interpreter, const std::filesystem::path& server) {
  python() = {std::move(interpreter), server};
}

std::vector<std::string> reference_command(const Case& given) {
  std::vector<std::string> words = given.program;
  if (given.reference != "python") return words;
  words.insert(words.begin(), {python().interpreter, python().server.string()});
  return words;
}

std::optional<std::filesystem::path> reference_file(const Case& given) {
  if (given.reference != "python") return std::nullopt;
  return given.file.parent_path() / given.program.at(0);
}

std::unique_ptr<Reference> make_program_reference(const Problem& problem) {
  static std::string last_asked;  // two runs of one problem are judged one after the other
  static std::shared_ptr<const Answers> last;
  const std::string asked = problem.definition().file.string() + text_of(problem.spec());
  if (last == nullptr || asked != last_asked) {
    last.reset();
    last = std::make_shared<const Answers>(ask_program(problem));
    last_asked = asked;
  }
  return std::make_unique<ProgramReference>(problem.definition(), last);
}

}  // namespace salient::workbench
