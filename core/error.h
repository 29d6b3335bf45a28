// core/error.h - the one exception type, the two functions that throw it, and what main() makes of it.
#pragma once

#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace salient {

/// Who has to act, as the exit code of the process. Values follow sysexits.h where it has one.
enum class ErrorKind {
  kDiverged = 1,       ///< training failed: the loss is not a number
  kUsage = 2,          ///< option or configuration; the message names it and what is allowed
  kBadData = 65,       ///< a file has the wrong content; the message names file, record and rule
  kNoInput = 66,       ///< a file is missing; the message says how to get it
  kNoDevice = 69,      ///< no usable GPU
  kInternal = 70,      ///< our own contract is broken: please report
  kHostMemory = 71,    ///< the message says which option lowers the need
  kDeviceMemory = 72,  ///< likewise
  kIo = 74,            ///< read or write failed, disk full
  kComm = 75,          ///< a peer or the network failed; starting again may help
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// For what the world got wrong. `what` is one line: what, where, what to do next.
[[noreturn]] inline void fail(ErrorKind kind, const std::string& what) { throw Error(kind, what); }

/// The caller's file and line. Stands in for std::source_location, which clang 14 cannot use with libstdc++ 12.
struct Spot {
  const char* file;
  int line;
  static constexpr Spot here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

/// For what we got wrong: throws Error{kInternal}. On in every build, so keep it out of inner loops. `rule` says what
/// must hold; it is a literal, so that a check that holds costs nothing.
inline void require(bool holds, const char* rule, Spot spot = Spot::here()) {
  if (!holds) [[unlikely]]
    fail(ErrorKind::kInternal, std::string(spot.file) + ":" + std::to_string(spot.line) + ": broken rule: " + rule);
}

/// For main() alone, inside `catch (...)`: prints one line to standard error and returns the exit code.
inline int report_current_exception(const char* program) noexcept {
  const auto report = [program](ErrorKind kind, const char* what) {
    const int length = static_cast<int>(std::strcspn(what, "\n"));  // LibTorch adds lines of backtrace to its own
    std::fprintf(stderr, "%s: error: %.*s\n", program, length, what);
    return static_cast<int>(kind);
  };
  try {
    throw;
  } catch (const Error& error) {
    return report(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::kHostMemory, "out of host memory; lower --batch-size, --workers or --slots");
  } catch (const std::exception& error) {
    if (std::strstr(error.what(), "can't allocate memory") != nullptr)  // what LibTorch throws for std::bad_alloc
      return report(ErrorKind::kHostMemory, "out of host memory; lower --batch-size, --hidden, --workers or --slots");
    return report(ErrorKind::kInternal, error.what());
  } catch (...) {
    return report(ErrorKind::kInternal, "unknown exception");
  }
}

}  // namespace salient
