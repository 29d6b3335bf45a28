// engine/report/run_directory.cpp - see run_directory.h.
#include "engine/report/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/folder_lock.h"
#include "core/files/is_there.h"
#include "core/files/replace_text_file.h"

namespace salient {
namespace {

nlohmann::ordered_json to_json(const Facts& facts) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& fact : facts) std::visit([&](const auto& value) { json[fact.first] = value; }, fact.second);
  return json;
}

/// The first of `base`, base-2, base-3, ... that is accepted.
template <class IsAccepted>
std::filesystem::path first_name(const std::filesystem::path& base, const IsAccepted& is_accepted) {
  std::filesystem::path name = base;
  for (int number = 2; !is_accepted(name); ++number) name = base.string() + "-" + std::to_string(number);
  return name;
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) fail(ErrorKind::kIo, path.string() + ": " + error.message());
}

/// Whether this call made the folder; false where that name is in use.
bool is_made(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::create_directory(path, error)) return true;
  if (error && !is_there(path)) fail(ErrorKind::kIo, path.string() + ": " + error.message());
  return false;
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
  return first_name(base, [](const std::filesystem::path& name) { return !std::filesystem::exists(name); });
}

void check_run_directory(const std::filesystem::path& wanted, bool is_resumed) {
  std::error_code error;
  if (is_resumed && !(is_there(wanted) && std::filesystem::is_directory(wanted, error)))
    fail(ErrorKind::kNoInput, wanted.string() + ": no such run directory", Topic::kRunDirectory);
  if (!is_resumed && std::filesystem::exists(wanted, error) && !std::filesystem::is_empty(wanted, error))
    fail(ErrorKind::kUsage, wanted.string() + ": is not empty", Topic::kRunDirectory);
  std::filesystem::path present = std::filesystem::absolute(wanted.empty() ? "runs" : wanted, error);
  while (!std::filesystem::exists(present, error) && present.has_relative_path()) present = present.parent_path();
  if (access(present.c_str(), W_OK | X_OK) != 0)
    fail(ErrorKind::kIo,
         (wanted.empty() ? "runs" : wanted.string()) + ": cannot write in " + present.string() + ": " +
             std::error_code(errno, std::generic_category()).message(),
         Topic::kRunDirectory);
}

std::filesystem::path make_run_directory(const std::filesystem::path& wanted, const std::string& name,
                                         bool is_resumed) {
  check_run_directory(wanted, is_resumed);
  if (is_resumed) return wanted;
  if (wanted.empty()) {
    const std::filesystem::path runs = "runs";
    make_directories(runs);
    return first_name(runs / (name + local_time("-%Y%m%d-%H%M%S")), is_made);
  }
  make_directories(wanted);
  return wanted;
}

RunLock::RunLock(const std::filesystem::path& directory) {
  std::optional<Descriptor> lock = try_lock_folder(directory);
  if (!lock) fail(ErrorKind::kUsage, directory.string() + ": another program is writing to this run directory");
  directory_ = std::move(*lock);
}

bool is_being_written(const std::filesystem::path& directory) {
  const Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return !opened || flock(opened.get(), LOCK_SH | LOCK_NB) != 0;
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
  if (!description.model.empty()) json["model"] = to_json(description.model);
  json["changed"] = description.changed;
  json["placement"] = description.placement;
  json["versions"] = description.versions;
  json["result"] = to_json(description.result);
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;  // paths are bytes, not always UTF-8
  replace_text_file(directory / "run.json", json.dump(2, ' ', false, replace) + "\n");
}

void mark_as_failed(const std::filesystem::path& directory) noexcept {
  try {
    const std::string running = R"("status": "running")", failed = R"("status": "failed" )";
    std::string text = read_text_file(directory / "run.json");
    const std::size_t at = text.find(running);
    if (at != std::string::npos) overwrite_start(directory / "run.json", text.replace(at, running.size(), failed));
  } catch (const std::exception&) {  // what failed before is the reason to name
  }
}

}  // namespace salient
