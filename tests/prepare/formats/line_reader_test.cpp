// tests/prepare/formats/line_reader_test.cpp - lines come out as they were written, or the file and the line are named.
#include "prepare/formats/line_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::gzip;
using test::write_bytes;
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
  const test::Scratch folder;
  const Lines lines = many_lines();
  const std::string text = joined(lines, "\n");
  for (const auto& path : {write_bytes(folder / "a.txt", text), write_bytes(folder / "a.csv.gz", gzip(text)),
                           write_bytes(folder / "windows.txt", joined(lines, "\r\n"))}) {
    EXPECT_EQ(lines_of(path), lines) << path;
    EXPECT_EQ(lines_by_block(path), lines) << path;
  }
}

TEST(LineReader, EndsOfLinesAndFiles) {
  const test::Scratch folder;
  const std::vector<std::pair<std::string, Lines>> cases = {{"", {}},
                                                            {"\n", {""}},
                                                            {"a", {"a"}},
                                                            {"a\nb", {"a", "b"}},
                                                            {"a\r\n", {"a"}},
                                                            {"a\r", {"a"}},
                                                            {"\n\na\n", {"", "", "a"}},
                                                            {"\xEF\xBB\xBF", {}},
                                                            {"\xEF\xBB\xBF\r\n", {""}},
                                                            {"\xEF\xBB\xBF"
                                                             "a\nb",
                                                             {"a", "b"}}};
  for (const auto& [text, expected] : cases) {
    const auto path = write_bytes(folder / "case", text);
    EXPECT_EQ(lines_of(path), expected) << '"' << text << '"';
    EXPECT_EQ(lines_by_block(path), expected) << '"' << text << '"';
  }
}

TEST(LineReader, GzipMembersAreOneText) {
  const test::Scratch folder;
  const auto path = write_bytes(folder / "pigz.gz", gzip("a\nb") + gzip("") + gzip("c\nd\n") + gzip(""));
  EXPECT_EQ(lines_of(path), (Lines{"a", "bc", "d"}));
}

TEST(LineReader, DamagedGzipNamesFileAndLine) {
  const test::Scratch folder;
  const std::string text = joined(many_lines(), "\n"), good = gzip(text);
  const auto expect_bad = [&](const std::string& message, const std::string& bytes) {
    EXPECT_COMPLAINT(lines_of(write_bytes(folder / "f.gz", bytes)), ErrorKind::kBadData, message);
  };
  expect_bad("f.gz: byte ", good.substr(0, good.size() / 2));
  expect_bad("end early; is the download complete? (after line ", good.substr(0, good.size() - 1));
  expect_bad("end early", good.substr(0, 2));
  expect_bad("other data follow the gzip data", good + "garbage");
  expect_bad("other data follow the gzip data", good + std::string(512, '\0'));
  std::string flipped = good;
  flipped[good.size() - 6] = static_cast<char>(flipped[good.size() - 6] ^ 1);  // in the CRC-32
  expect_bad("incorrect data check", flipped);
}

TEST(LineReader, EndlessLinesAreRefused) {
  const test::Scratch folder;
  const auto path = write_bytes(folder / "bomb.gz", gzip("first\n" + std::string(LineReader::kMaxLine + 1, 'x')));
  EXPECT_COMPLAINT(lines_of(path), ErrorKind::kBadData, "bomb.gz: line 2: is longer than 16777216 bytes");
  const std::string longest(LineReader::kMaxLine, 'x');
  EXPECT_EQ(lines_of(write_bytes(folder / "long.gz", gzip("a\n" + longest + "\nb\n"))), (Lines{"a", longest, "b"}));
}

TEST(LineReader, OtherFormatsAreNoText) {
  const test::Scratch folder;
  const std::string npy = test::npy("<u1", "(3,)", "abc"), npz = test::zip({{"a.npy", npy}});
  const std::pair<std::string, const char*> cases[] = {
      {"\x28\xB5\x2F\xFD\4X\1\2,\3\n", "e.csv: not text, plain or gzip; it looks like zstd"},
      {npz, "looks like zip (npz)"},
      {npy, "looks like an npy array"},
      {gzip(npz), "looks like zip (npz)"},
      {"BZh91AY&SY 1\n", "looks like bzip2"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer; fetch"},
      {std::string("\xFF\xFE\0a\0,\0b\0\n", 10), "looks like text in UTF-16"},
      {std::string("a,b\n\0,c\n", 8),
       "e.csv: line 2: holds a NUL byte: binary data, or text that is not in UTF-8: '\\x00,c'"},
      {"a\rb\n", "e.csv: line 1: holds a carriage return that ends no line"},
      {"a\nb\r\r\n", "e.csv: line 2: holds a carriage return"},
      {"a\r\n"
       "b\rc",
       "e.csv: line 2: holds a carriage return"},
      {"a\n\xEF\xBB\xBF"
       "b\n",
       "e.csv: line 2: holds a byte order mark inside of the text"},
      {"\xEF\xBB\xBF\xEF\xBB\xBF"
       "b\n",
       "e.csv: line 1: holds a byte order mark"}};
  for (const auto& [bytes, message] : cases) {
    const auto path = write_bytes(folder / "e.csv", bytes);
    EXPECT_COMPLAINT(lines_of(path), ErrorKind::kBadData, message);
    EXPECT_COMPLAINT(lines_by_block(path), ErrorKind::kBadData, message);
  }
  EXPECT_EQ(lines_of(write_bytes(folder / "e.csv", "PK,name\nBZh,x\n")), (Lines{"PK,name", "BZh,x"}));
}

TEST(LineReader, MissingFiles) {
  const test::Scratch folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_COMPLAINT(lines_of(folder / "pipe"), ErrorKind::kBadData, "pipe: is a pipe, not a file");
  EXPECT_COMPLAINT(lines_of(folder / "none.csv.gz"), ErrorKind::kNoInput, "none.csv.gz: cannot open: No such file");
  EXPECT_COMPLAINT(lines_of(folder.path()), ErrorKind::kBadData, "is a folder, not a file");
}

}  // namespace
}  // namespace salient
