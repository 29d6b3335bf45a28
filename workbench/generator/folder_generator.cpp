// workbench/generator/folder_generator.cpp - requests as readable files, answers picked up from files: for people, for
// assistants, for offline work; see generator.h.
#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "workbench/generator/generator.h"

namespace salient::workbench {
namespace {

std::string form_of(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kSource: return "one fenced block with the complete source file, or JSON {\"source\": \"...\"}";
    case AnswerKind::kEdits: return "JSON {\"edits\": [{\"from\": 3, \"to\": 5, \"lines\": [\"...\"]}]}";
    case AnswerKind::kShapes: return "JSON {\"shapes\": [{\"NAME\": 17, ...}]}";
    case AnswerKind::kText: break;
  }
  return "plain text";
}

/// Everything that the one who answers needs, in one file.
std::string page_of(const Request& request, const std::string& stem) {
  return "# Request " + std::to_string(request.id) + ", round " + std::to_string(request.round) + ": you are the " +
         request.role + "\n\n" + request.system + "\nThe answer goes into the file " + stem +
         ".answer.md beside this one, as " + form_of(request.answer) + ".\n\n" + request.prompt;
}

using ProblemOf = std::function<std::string(const Request&, const std::string&)>;

class FolderGenerator final : public Generator {
 public:
  FolderGenerator(const std::filesystem::path& folder, std::string author, ProblemOf problem_of)
      : folder_(folder), author_(std::move(author)), problem_of_(std::move(problem_of)) {
    std::filesystem::create_directories(folder_);
  }

  Answer ask(const Request& request) override {
    char number[16];
    (void)std::snprintf(number, sizeof number, "%03d", request.id);
    const std::string stem = std::string(number) + "-" + request.role;
    const std::filesystem::path question = folder_ / (stem + ".request.md");
    if (!std::filesystem::exists(question)) {
      const std::filesystem::path part = question.string() + ".part";
      (void)std::filesystem::remove(part);
      (void)write_text_file(part, page_of(request, stem));
      std::filesystem::rename(part, question);
    }
    for (const char* extension : {".md", ".txt", ".json", ".cpp", ".cu", ".ptx", ".py"})
      if (const std::filesystem::path answer = folder_ / (stem + ".answer" + extension);
          std::filesystem::exists(answer))
        if (std::string text = read(answer); text.find_first_not_of(kBlanks) != std::string::npos) {
          if (const std::string problem = problem_of_(request, text); !problem.empty())
            throw Waiting{answer.string() + ": " + problem + "; the run waits until it is mended"};
          return {true, std::move(text), {}, author_};
        }  // else it is being written
    throw Waiting{"waiting for " + (folder_ / (stem + ".answer.md")).string() + ", the answer to " +
                  question.filename().string()};
  }

 private:
  static constexpr const char* kBlanks = " \t\r\n";
  static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

  /// Without a byte order mark. @throws Waiting if it is too large, no text file, or cannot be read
  static std::string read(const std::filesystem::path& path) {
    try {
      std::string text = read_text_file(path, kMaxAnswerBytes);
      if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
      const std::string kind = path.extension();
      const bool is_source = kind == ".cu" || kind == ".cpp" || kind == ".ptx" || kind == ".py";
      const bool is_bare_source = is_source && !has_fence(text);
      if (is_bare_source && text.find_first_not_of(kBlanks) != std::string::npos) text = "```\n" + text + "\n```\n";
      return text;
    } catch (const Error& error) {
      throw Waiting{std::string(error.what()) + "; the run waits for an answer that can be read"};
    }
  }

  /// Whether a line begins a block: then the file is an answer with prose, whatever its name.
  static bool has_fence(const std::string& text) {
    for (const char* fence : {"```", "~~~"})
      if (text.starts_with(fence) || text.find(std::string("\n") + fence) != std::string::npos) return true;
    return false;
  }

  std::filesystem::path folder_;
  std::string author_;
  ProblemOf problem_of_;
};

}  // namespace

std::unique_ptr<Generator> make_folder_generator(const std::filesystem::path& folder, std::string author,
                                                 ProblemOf problem_of) {
  return std::make_unique<FolderGenerator>(folder, std::move(author), std::move(problem_of));
}

}  // namespace salient::workbench
