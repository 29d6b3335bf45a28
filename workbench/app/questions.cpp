// workbench/app/questions.cpp - see questions.h.
#include "workbench/app/questions.h"

#include <unistd.h>

#include <iostream>

#include "core/error.h"

namespace salient::workbench {

std::string said_or_asked(const std::string& said, const std::string& option, const std::string& question,
                          const std::string& otherwise) {
  if (!said.empty()) return said;
  std::cerr << question << (otherwise.empty() ? "" : " [" + otherwise + "]") << ": " << std::flush;
  std::string line;
  const bool has_come = static_cast<bool>(std::getline(std::cin, line));
  if (!has_come || isatty(STDIN_FILENO) == 0) std::cerr << '\n';
  if (line.empty()) line = otherwise;
  if (line.empty()) fail(ErrorKind::kUsage, "--" + option + ": is needed: " + question);
  return line;
}

}  // namespace salient::workbench
