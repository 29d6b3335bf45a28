// tests/prepare/formats/line_blocks_test.cpp - several threads, yet everything in the order of the file, errors
// included.
#include "prepare/formats/line_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "prepare/formats/text_fields.h"
#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::uint64_t kLines = 200'000;

/// Lines that compress well: a small file is read in small blocks, a hundred or so of them.
std::filesystem::path write_lines(const test::Scratch& folder) {
  std::string text;
  for (std::uint64_t line = 1; line <= kLines; ++line) text += "a line of text\n";
  return test::write_bytes(folder / "lines.gz", test::gzip(text));
}

/// Every other block takes long, so that the next one overtakes it if it can.
void dawdle(const LineBlock& block) {
  if (block.first_line % 2 == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

TEST(LineBlocks, ResultsComeInTheOrderOfTheFile) {
  const test::Scratch folder;
  for (const int num_threads : {1, 2, 5}) {
    LineReader reader(write_lines(folder));
    std::uint64_t next_line = 1, num_blocks = 0;
    for_each_line_block<std::pair<std::uint64_t, std::uint64_t>>(
        reader, num_threads, "lines",
        [](const LineBlock& block) {
          dawdle(block);
          return std::pair{block.first_line, static_cast<std::uint64_t>(std::ranges::count(block.text, '\n'))};
        },
        [&](std::pair<std::uint64_t, std::uint64_t> first_and_count) {
          EXPECT_EQ(first_and_count.first, next_line);
          next_line += first_and_count.second;
          ++num_blocks;
        });
    EXPECT_EQ(next_line, kLines + 1);
    EXPECT_GT(num_blocks, 50u);
  }
}

TEST(LineBlocks, TheFirstErrorOfTheFileIsReported) {
  const test::Scratch folder;
  const auto path = write_lines(folder);
  const auto read_until = [&](std::uint64_t first_bad_line) {
    LineReader reader(path);
    for_each_line_block<int>(
        reader, 4, "lines",
        [&](const LineBlock& block) {
          if (block.first_line < first_bad_line) return dawdle(block), 0;
          if (block.first_line < first_bad_line + 20'000) std::this_thread::sleep_for(std::chrono::milliseconds(5));
          fail_at_line(path, block.first_line / 1000, "x", "bad");
        },
        [](int) {});
  };
  EXPECT_COMPLAINT(read_until(1), ErrorKind::kBadData, "lines.gz: line 0: bad");
  const std::string bytes = test::read_bytes(path);
  test::write_bytes(path, bytes.substr(0, bytes.size() - 20));  // found out by the reader, at the end
  EXPECT_COMPLAINT(read_until(1), ErrorKind::kBadData, "lines.gz: line 0: bad");
  EXPECT_COMPLAINT(read_until(2 * kLines), ErrorKind::kBadData, "end early");
}

}  // namespace
}  // namespace salient
