// workbench/generator/folder_generator.cpp - requests as readable files, answers picked up from files: for people, for
// assistants, for offline work; see generator.h.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/interrupt.h"
#include "workbench/generator/generator.h"

namespace salient::workbench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr unsigned kPauseMicroseconds = 200000;

class FolderGenerator final : public Generator {
 public:
  FolderGenerator(const std::filesystem::path& folder, double seconds) : folder_(folder), seconds_(seconds) {
    std::filesystem::create_directories(folder_);
  }

  Answer ask(const Request& request) override {
    char number[16];
    (void)std::snprintf(number, sizeof number, "%03d", request.id);
    const std::string stem = std::string(number) + "-" + request.role;
    const std::filesystem::path question = folder_ / (stem + ".request.md");
    if (!std::filesystem::exists(question))
      (void)write_text_file(question, request.system + "\n\n" + request.prompt + "\n\nAnswer as " +
                                          word_of(request.answer) + ", in the file " + stem +
                                          ".answer.md beside this one.\n");
    log_info("waiting for an answer to " + question.string());
    const auto end = Clock::now() + std::chrono::duration<double>(seconds_);
    while (true) {
      for (const char* extension : {".md", ".txt", ".json", ".cpp", ".cu"})
        if (const std::filesystem::path answer = folder_ / (stem + ".answer" + extension); is_finished(answer))
          return read(answer);
      if (Clock::now() >= end) return {false, {}, "no answer to " + question.string() + " in time"};
      stop_if_interrupted();
      (void)usleep(kPauseMicroseconds);
    }
  }

 private:
  /// There, and not longer than it was a moment ago: editors write in pieces.
  static bool is_finished(const std::filesystem::path& path) {
    std::error_code error;
    const std::uintmax_t before = std::filesystem::file_size(path, error);
    if (error || before == 0) return false;
    (void)usleep(kPauseMicroseconds / 4);
    return std::filesystem::file_size(path, error) == before && !error;
  }

  static Answer read(const std::filesystem::path& path) {
    try {
      std::string text = read_text_file(path, kMaxAnswerBytes);
      const std::string kind = path.extension();
      if (kind == ".cu" || kind == ".cpp") text = "```\n" + text + "\n```\n";  // a bare source
      return {true, std::move(text), {}};
    } catch (const Error& error) {
      return {false, {}, error.what()};
    }
  }

  std::filesystem::path folder_;
  double seconds_;
};

}  // namespace

std::unique_ptr<Generator> make_folder_generator(const std::filesystem::path& folder, double seconds) {
  return std::make_unique<FolderGenerator>(folder, seconds);
}

}  // namespace salient::workbench
