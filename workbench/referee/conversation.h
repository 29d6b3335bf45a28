// workbench/referee/conversation.h - a program of the user that stays, and answers on its standard output what it is
// asked on its standard input.
#pragma once

#include <sys/types.h>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/descriptor.h"

namespace salient::workbench {

/// It has this process's environment and standard error, and ends with this process.
class Conversation {
 public:
  /// @param command  [0] is found by PATH   @param folder  that it runs in; empty = this process's
  /// @throws Error{kNoInput} if the program cannot be started, Error{kIo}
  Conversation(const std::vector<std::string>& command, const std::filesystem::path& folder);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// Sends `question`, all of it, and reads what comes meanwhile. @throws Error{kBadData} if the program has ended or
  /// takes longer than `seconds`
  void send(std::string_view question, double seconds);
  /// The next line, without its end. @throws likewise; for more than `most_bytes`
  std::string line(double seconds, std::size_t most_bytes = std::size_t{64} << 20);
  /// The next bytes, as many as fit. @throws likewise
  void read(std::span<std::byte> to, double seconds);

 private:
  /// Waits until something came or, if `question` is not empty, some of it was taken.
  void exchange(std::string_view& question, double until);
  [[noreturn]] void fail_with(const std::string& why) const;

  std::string name_;
  pid_t child_ = -1;
  Descriptor to_child_{}, from_child_{};
  std::string came_{};
  std::size_t used_ = 0;  ///< of what came
};

}  // namespace salient::workbench
