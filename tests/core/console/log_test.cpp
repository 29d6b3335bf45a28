// tests/core/console/log_test.cpp - a line of the log is one line, whatever the names in it hold.
#include "core/console/log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

/// In a process of its own, whose log nothing else uses: what the log's file has, as the exit code's line.
[[noreturn]] void log_to(const std::filesystem::path& file) {
  log_to_file(file.string());
  log_warning("runs/a\x1b[31m\nforged: line");
  log_result("run directory runs/a\nb");
  log_lines("two\nlines\n", log_info);
  std::exit(0);
}

TEST(Log, HasNoControlCharacters) {
  const test::Scratch scratch;
  EXPECT_EXIT(log_to(scratch / "log.txt"), testing::ExitedWithCode(0),
              "^warning: runs/a\\\\x1b\\[31m\\\\nforged: line\ntwo\nlines\n$");
  std::string text = test::read_bytes(scratch / "log.txt"), lines;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1))
    lines += text.substr(24, end + 1 - 24);  // without the time
  EXPECT_EQ(lines, "warning: runs/a\\x1b[31m\\nforged: line\nrun directory runs/a\\nb\ntwo\nlines\n");
}

TEST(Log, WaitsForNoReaderOfAPipe) {
  const test::Scratch scratch;
  ASSERT_EQ(mkfifo((scratch / "log.txt").c_str(), 0600), 0);
  EXPECT_COMPLAINT(log_to_file((scratch / "log.txt").string()), 65, "log.txt: is a pipe");
}

}  // namespace
}  // namespace salient
