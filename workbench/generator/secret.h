// workbench/generator/secret.h - a key that no child process gets a copy of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace salient::workbench {

/// The value of an environment variable, taken away from there, in memory that a fork leaves out.
class Secret {
 public:
  /// Empty if the variable is not set. @throws Error{kHostMemory}
  explicit Secret(const std::string& variable);
  ~Secret();
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;

  /// Whoever copies it wipes the copy, or ends with it.
  std::string_view text() const { return {page_, size_}; }

 private:
  char* page_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace salient::workbench
