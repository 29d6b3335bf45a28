// core/error.cpp - see error.h.
#include "core/error.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "core/printable.h"

namespace salient {
namespace {

/// Without the topic of a run's memory: smaller batches or models need as many threads.
Error of_missing_thread() {
  return {ErrorKind::kHostMemory,
          "no further thread can be started; `ulimit -u` or -v, or the container (pids.max), allows no more"};
}

/// "cannot remove: " of libstdc++'s "filesystem error: cannot remove: Read-only file system [PATH]".
std::string action_of(std::string_view what) {
  constexpr std::string_view kStart = "filesystem error: ";
  if (what.starts_with(kStart)) what.remove_prefix(kStart.size());
  const std::size_t colon = what.find(": ");
  return colon == std::string_view::npos ? "" : std::string(what.substr(0, colon + 2));
}

/// What the standard library throws: std::filesystem for a path, std::thread for a thread.
Error of_system_error(const std::system_error& error) {
  const std::error_code code = error.code();
  if (code == std::errc::resource_unavailable_try_again) return of_missing_thread();
  if (code == std::errc::not_enough_memory)
    return {ErrorKind::kHostMemory, "out of host memory", Topic::kTrainingMemory};
  const bool is_missing = code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory ||
                          code == std::errc::filename_too_long;
  const ErrorKind kind = is_missing ? ErrorKind::kNoInput : ErrorKind::kIo;
  if (const auto* of_path = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return {kind, of_path->path1().string() + ": " + action_of(error.what()) + code.message()};
  return {kind, error.what()};
}

}  // namespace

Error as_error(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kHostMemory, "out of host memory", Topic::kTrainingMemory};
  } catch (const std::system_error& error) {
    return of_system_error(error);
  } catch (const std::exception& error) {
    if (std::strstr(error.what(), "can't allocate memory") != nullptr)  // what LibTorch throws for std::bad_alloc
      return {ErrorKind::kHostMemory, "out of host memory", Topic::kTrainingMemory};
    if (std::strstr(error.what(), "pthread_create has failed") != nullptr)  // what oneTBB throws
      return of_missing_thread();
    const std::string what = error.what();
    return {ErrorKind::kInternal, what.substr(0, what.find('\n'))};  // LibTorch adds lines of backtrace to its own
  } catch (...) {
    return {ErrorKind::kInternal, "unknown exception"};
  }
}

int report(const char* program, const Error& error, Advice advice) noexcept {
  const char* const next = advice == nullptr ? nullptr : advice(error.kind(), error.topic());
  const bool has_advice = next != nullptr && *next != '\0';
  std::string what;
  try {
    what = printable(error.what());
  } catch (const std::bad_alloc&) {
    what = "";  // the kind is the exit code
  }
  std::fprintf(stderr, "%s: error: %s%s%s\n", program, what.c_str(), has_advice ? "; " : "", has_advice ? next : "");
  std::fflush(stderr);
  return static_cast<int>(error.kind());
}

int report_current_exception(const char* program, Advice advice) noexcept {
  try {
    return report(program, as_error(std::current_exception()), advice);
  } catch (...) {  // no memory left for the words
    std::fprintf(stderr, "%s: error: out of host memory\n", program);
    return static_cast<int>(ErrorKind::kHostMemory);
  }
}

}  // namespace salient
