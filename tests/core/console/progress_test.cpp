// tests/core/console/progress_test.cpp - quick jobs print nothing, long ones a bar, and no thread's count is lost.
#include "core/console/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/host/descriptor.h"

namespace salient {
namespace {

/// What `job` writes to standard error when that is a terminal of so many columns. A terminal passes it on in its own
/// time and in pieces: a last character says that all of it has come.
template <class Job>
std::string shown_on_terminal(Job job, unsigned short columns = 120) {
  constexpr char kEnd = '\x01';
  const Descriptor screen(posix_openpt(O_RDWR | O_NOCTTY));
  if (!screen || grantpt(screen.get()) != 0 || unlockpt(screen.get()) != 0) return "no terminal";
  const Descriptor before(dup(STDERR_FILENO)), terminal(open(ptsname(screen.get()), O_RDWR | O_NOCTTY));
  const winsize window{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  (void)ioctl(terminal.get(), TIOCSWINSZ, &window);
  (void)dup2(terminal.get(), STDERR_FILENO);
  job();
  (void)dup2(before.get(), STDERR_FILENO);
  if (write(terminal.get(), &kEnd, 1) != 1) return "cannot write";
  std::string shown;
  while (!shown.ends_with(kEnd)) {
    std::array<char, 4096> text{};
    const ssize_t size = read(screen.get(), text.data(), text.size());
    if (size <= 0) return "cannot read";
    shown.append(text.data(), static_cast<std::size_t>(size));
  }
  shown.pop_back();
  return shown;
}

TEST(Progress, AQuickJobPrintsNothing) {
  for (const ProgressMode mode : {ProgressMode::kAuto, ProgressMode::kPlain, ProgressMode::kNone}) {
    set_progress_mode(mode);
    EXPECT_EQ(shown_on_terminal([] {
                Progress progress("reading", 10, "rows");
                progress.add(10);
              }),
              "");
  }
  set_progress_mode(ProgressMode::kAuto);
}

TEST(Progress, TheBarCountsWhatAllThreadsDidAndIsWipedAtTheEnd) {
  const std::string shown = shown_on_terminal([] {
    Progress progress("reading", 4'000'001, "rows");
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 1000; ++i) progress.add(500);
      });
    threads.clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(110));  // drawn at most every 100 ms
    progress.add(1);
  });
  EXPECT_NE(shown.find("reading [############            ] 50% 2.0 M/4.0 M, "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" left"), std::string::npos) << shown;
  EXPECT_TRUE(shown.ends_with("\r\033[K")) << shown;
}

TEST(Progress, TheBarOfAnEpochSaysWhenTheRunEnds) {
  const std::string shown = shown_on_terminal([] {
    Progress progress("epoch 1/5", 69, "batches", 4 * 69);
    progress.add(19);
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    progress.add(1);
  });
  EXPECT_NE(shown.find("epoch 1/5 [######                  ] 28% 20/69, "), std::string::npos) << shown;
  EXPECT_NE(shown.find(" left, run 0:0"), std::string::npos) << shown;  // 325 batches at 182/s are 1.8 s
}

TEST(Progress, ABarFitsTheTerminalAndSaysItsNote) {
  const auto line_at = [](unsigned short columns) {
    const auto job = [] {
      Progress progress("epoch 1/50", 69, "batches", 49 * 69, [] { return std::string("loss 1.21"); });
      progress.add(19);
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
      progress.add(1);
    };
    std::string shown = shown_on_terminal(job, columns);
    shown = shown.substr(shown.find('\r') + 1);
    return shown.substr(0, shown.find("\033[K"));
  };
  EXPECT_NE(line_at(120).find("[######                  ] 28% 20/69, "), std::string::npos) << line_at(120);
  for (const int columns : {100, 80, 60, 40, 20}) {
    const std::string line = line_at(static_cast<unsigned short>(columns));
    EXPECT_LT(line.size(), static_cast<std::size_t>(columns)) << line;
    EXPECT_EQ(line.find('[') != std::string::npos, columns >= 80) << line;
    EXPECT_TRUE(line.starts_with("epoch 1/50 ")) << line;
    EXPECT_EQ(line.find(" batches/s, loss 1.21, 0:00 left, run 0:") != std::string::npos, columns >= 80) << line;
  }
}

TEST(Progress, OffPrintsNothingHoweverLong) {
  set_progress_mode(ProgressMode::kNone);
  const std::string shown = shown_on_terminal([] {
    Progress progress("reading", 0, "bytes");
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
    progress.add(1);
  });
  set_progress_mode(ProgressMode::kAuto);
  EXPECT_EQ(shown, "");
}

}  // namespace
}  // namespace salient
