// workbench/generator/folder_generator.cpp - requests as readable files, answers picked up from files: for people, for
// assistants, for offline work; see generator.h.
#include <algorithm>
#include <cstdio>

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

class FolderGenerator final : public Generator {
 public:
  explicit FolderGenerator(const std::filesystem::path& folder) : folder_(folder) {
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
    for (const char* extension : {".md", ".txt", ".json", ".cpp", ".cu"})
      if (const std::filesystem::path answer = folder_ / (stem + ".answer" + extension);
          std::filesystem::exists(answer))
        if (const Answer there = read(answer); !is_blank(there)) return there;  // else it is being written
    throw Waiting{"waiting for " + (folder_ / (stem + ".answer.md")).string() + ", the answer to " +
                  question.filename().string()};
  }

 private:
  static constexpr const char* kBlanks = " \t\r\n";

  static bool is_blank(const Answer& answer) {
    return answer.is_there && answer.text.find_first_not_of(kBlanks) == std::string::npos;
  }

  static Answer read(const std::filesystem::path& path) {
    try {
      std::string text = read_text_file(path, kMaxAnswerBytes);
      const std::string kind = path.extension();
      if ((kind == ".cu" || kind == ".cpp") && text.find_first_not_of(kBlanks) != std::string::npos)
        text = "```\n" + text + "\n```\n";  // a bare source
      return {true, std::move(text), {}};
    } catch (const Error& error) {
      return {false, {}, error.what()};
    }
  }

  std::filesystem::path folder_;
};

}  // namespace

std::unique_ptr<Generator> make_folder_generator(const std::filesystem::path& folder) {
  return std::make_unique<FolderGenerator>(folder);
}

}  // namespace salient::workbench
