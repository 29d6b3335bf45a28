// engine/report/run_directory.cpp - see run_directory.h.
#include "engine/report/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {
namespace {

nlohmann::ordered_json to_json(const Facts& facts) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& fact : facts) std::visit([&](const auto& value) { json[fact.first] = value; }, fact.second);
  return json;
}

}  // namespace

std::string local_time(const char* pattern) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  (void)localtime_r(&now, &parts);
  std::array<char, 64> text{};
  (void)std::strftime(text.data(), text.size(), pattern, &parts);
  return text.data();
}

std::filesystem::path unused_name(const std::filesystem::path& base) {
  std::filesystem::path name = base;
  for (int number = 2; std::filesystem::exists(name); ++number) name = base.string() + "-" + std::to_string(number);
  return name;
}

void check_run_directory(const std::filesystem::path& wanted, bool is_resumed) {
  std::error_code error;
  if (is_resumed && !std::filesystem::is_directory(wanted, error))
    fail(ErrorKind::kNoInput, wanted.string() + ": no such run directory", Topic::kRunDirectory);
  if (!is_resumed && std::filesystem::exists(wanted, error) && !std::filesystem::is_empty(wanted, error))
    fail(ErrorKind::kUsage, wanted.string() + ": is not empty", Topic::kRunDirectory);
  std::filesystem::path present = std::filesystem::absolute(wanted.empty() ? "runs" : wanted, error);
  while (!std::filesystem::exists(present, error) && present.has_relative_path()) present = present.parent_path();
  if (access(present.c_str(), W_OK | X_OK) != 0)
    fail(ErrorKind::kIo, wanted.string() + ": cannot write in " + present.string() + ": " +
                             std::error_code(errno, std::generic_category()).message());
}

std::filesystem::path make_run_directory(const std::filesystem::path& wanted, const std::string& name,
                                         bool is_resumed) {
  check_run_directory(wanted, is_resumed);
  if (is_resumed) return wanted;
  std::filesystem::path path =
      wanted.empty() ? unused_name(std::filesystem::path("runs") / (name + local_time("-%Y%m%d-%H%M%S"))) : wanted;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(ErrorKind::kIo, path.string() + ": " + error.message());
  return path;
}

RunLock::RunLock(const std::filesystem::path& directory)
    : directory_(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!directory_ || flock(directory_.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  fail(ErrorKind::kUsage, directory.string() + ": another program is writing to this run directory");
}

bool is_being_written(const std::filesystem::path& directory) {
  const Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !opened || flock(opened.get(), LOCK_SH | LOCK_NB) != 0;
}

void replace_text_file(const std::filesystem::path& path, const std::string& text) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  std::error_code error;
  std::filesystem::remove(temporary, error);
  (void)write_text_file(temporary, text);
  std::filesystem::rename(temporary, path, error);
  if (error) fail(ErrorKind::kIo, path.string() + ": " + error.message());
}

void write_run_json(const std::filesystem::path& directory, const RunDescription& description,
                    const std::string& status) {
  nlohmann::ordered_json json;
  json["program"] = description.program;
  json["status"] = status;
  json["written"] = local_time("%Y-%m-%dT%H:%M:%S%z");
  json["dataset"] = to_json(description.dataset);
  json["machine"] = to_json(description.machine);
  json["resolved"] = to_json(description.resolved);
  json["placement"] = description.placement;
  json["versions"] = description.versions;
  json["result"] = to_json(description.result);
  replace_text_file(directory / "run.json", json.dump(2) + "\n");
}

}  // namespace salient
