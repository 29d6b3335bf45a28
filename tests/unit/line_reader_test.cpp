// tests/unit/line_reader_test.cpp - lines come out as they were written, or the file and the line are named.
#include "loaders/prepare/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_folder.h"

namespace salient {
namespace {

using testing::expect_error;
using testing::gzip;
using Lines = std::vector<std::string>;

Lines lines_of(const std::filesystem::path& path) {
  LineReader reader(path);
  Lines lines;
  for (std::string_view line; reader.next(line);) {
    lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), lines.size());
  }
  return lines;
}

Lines lines_by_block(const std::filesystem::path& path) {
  LineReader reader(path);
  Lines lines;
  for (LineBlock block; reader.next_block(block);) {
    EXPECT_EQ(block.first_line, lines.size() + 1);
    std::string_view rest = block.text;
    for (std::string_view line; take_line(rest, line);) lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), lines.size());
  }
  return lines;
}

std::string joined(const Lines& lines, const char* end) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append(end);
  return text;
}

/// Lengths around the block size, where a line lies across two or three reads.
Lines many_lines() {
  Lines lines;
  for (int i = 0; i < 100'000; ++i) lines.push_back(std::to_string(i * 7919) + "," + std::to_string(i));
  for (std::size_t length : {0u, 1u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3u << 20}) {
    lines.emplace_back(length, 'x');
    lines.emplace_back("after " + std::to_string(length));
  }
  return lines;
}

TEST(LineReader, PlainAndGzipGiveTheSameLines) {
  const testing::TempFolder folder;
  const Lines lines = many_lines();
  const std::string text = joined(lines, "\n");
  for (const auto& path : {folder.write("a.txt", text), folder.write("a.csv.gz", gzip(text)),
                           folder.write("windows.txt", joined(lines, "\r\n"))}) {
    EXPECT_EQ(lines_of(path), lines) << path;
    EXPECT_EQ(lines_by_block(path), lines) << path;
  }
}

TEST(LineReader, EndsOfLinesAndFiles) {
  const testing::TempFolder folder;
  const std::vector<std::pair<std::string, Lines>> cases = {{"", {}},
                                                            {"\n", {""}},
                                                            {"a", {"a"}},
                                                            {"a\nb", {"a", "b"}},
                                                            {"a\r\n", {"a"}},
                                                            {"a\r", {"a"}},
                                                            {"\n\na\n", {"", "", "a"}},
                                                            {"a\rb\n", {"a\rb"}},
                                                            {"a\r\r\n", {"a\r"}}};
  for (const auto& [text, expected] : cases) {
    const auto path = folder.write("case", text);
    EXPECT_EQ(lines_of(path), expected) << '"' << text << '"';
    EXPECT_EQ(lines_by_block(path), expected) << '"' << text << '"';
  }
}

TEST(LineReader, GzipMembersAreOneText) {
  const testing::TempFolder folder;
  const auto path = folder.write("pigz.gz", gzip("a\nb") + gzip("") + gzip("c\nd\n") + gzip(""));
  EXPECT_EQ(lines_of(path), (Lines{"a", "bc", "d"}));
}

TEST(LineReader, DamagedGzipNamesFileAndLine) {
  const testing::TempFolder folder;
  const std::string text = joined(many_lines(), "\n"), good = gzip(text);
  const auto read = [&](const std::string& bytes) { return [&] { lines_of(folder.write("f.gz", bytes)); }; };
  expect_error(ErrorKind::kBadData, "f.gz: byte ", read(good.substr(0, good.size() / 2)));
  expect_error(ErrorKind::kBadData, "end early; is the download complete? (after line ",
               read(good.substr(0, good.size() - 1)));
  expect_error(ErrorKind::kBadData, "end early", read(good.substr(0, 2)));
  expect_error(ErrorKind::kBadData, "other data follow the gzip data", read(good + "garbage"));
  expect_error(ErrorKind::kBadData, "other data follow the gzip data", read(good + std::string(512, '\0')));
  std::string flipped = good;
  flipped[good.size() - 6] = static_cast<char>(flipped[good.size() - 6] ^ 1);  // in the CRC-32
  expect_error(ErrorKind::kBadData, "incorrect data check", read(flipped));
}

TEST(LineReader, EndlessLinesAreRefused) {
  const testing::TempFolder folder;
  const auto path = folder.write("bomb.gz", gzip("first\n" + std::string(LineReader::kMaxLine + 1, 'x')));
  expect_error(ErrorKind::kBadData, "bomb.gz: line 2: is longer than 16777216 bytes", [&] { lines_of(path); });
}

TEST(LineReader, MissingFiles) {
  const testing::TempFolder folder;
  expect_error(ErrorKind::kNoInput, "none.csv.gz: cannot be opened: No such file",
               [&] { lines_of(folder.path() / "none.csv.gz"); });
  expect_error(ErrorKind::kNoInput, "is not a regular file", [&] { lines_of(folder.path()); });
}

}  // namespace
}  // namespace salient
