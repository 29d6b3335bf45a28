// tests/prepare/formats/zip_archive_test.cpp - every dialect gives the bytes back; every lie in a directory is found
// out.
#include "prepare/formats/zip_archive.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/archives.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::u16;
using test::u32;
using test::u64;
using test::write_bytes;
using test::zip;
using test::ZipEntry;
using test::ZipStyle;

std::string content_of(const ZipArchive& archive, const std::string& name, std::size_t step) {
  const ZipMember* member = archive.find(name);
  if (member == nullptr) return "no member " + name;
  ZipMemberStream stream(archive, *member);
  std::string content, buffer(step, '\0');
  for (;;) {
    const std::size_t got = stream.read(std::as_writable_bytes(std::span(buffer)));
    content += buffer.substr(0, got);
    if (got < step) return content;
  }
}

std::string sample_text(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; text.size() < length; ++i) text += std::to_string(i * 2654435761u);
  return text.substr(0, length);
}

class ZipArchiveTest : public ::testing::Test {
 protected:
  void read_all(const std::string& bytes) {
    const ZipArchive archive(write_bytes(folder_ / "f.npz", bytes));
    for (const ZipMember& member : archive.members()) content_of(archive, member.name, 4096);
  }
  /// Replaces the first `from` behind `after`.
  static std::string patched(std::string bytes, const std::string& after, std::size_t offset,
                             const std::string& value) {
    const std::size_t at = bytes.find(after);
    EXPECT_NE(at, std::string::npos);
    return bytes.replace(at + offset, value.size(), value);
  }
  void expect_bad(const std::string& message, const std::string& bytes) {
    EXPECT_COMPLAINT(read_all(bytes), ErrorKind::kBadData, message);
  }

  const test::Scratch folder_;
  const std::vector<ZipEntry> entries_ = {{"a.npy", sample_text(300'000)}, {"empty.npy", ""}, {"b.npy", "hello"}};
};

const std::string kEntry = "PK\1\2", kEnd = "PK\5\6", kEnd64 = "PK\6\6", kLocator = "PK\6\7", kLocal = "PK\3\4";

TEST_F(ZipArchiveTest, ReadsEveryDialect) {
  for (const int method : {0, 8})
    for (const auto local : {ZipStyle::kPlain, ZipStyle::kNumpy, ZipStyle::kOldNumpy, ZipStyle::kDescriptor})
      for (const bool is_zip64 : {false, true})
        for (const std::string& comment : {std::string(), kEnd + std::string(65531, 'c')}) {
          const ZipStyle style{method, local, is_zip64, is_zip64, comment};
          const ZipArchive archive(write_bytes(folder_ / "f.npz", zip(entries_, style)));
          ASSERT_EQ(archive.members().size(), entries_.size());
          for (const ZipEntry& entry : entries_)
            for (const std::size_t step : {1000u, 1u << 20})
              EXPECT_EQ(content_of(archive, entry.name, step), entry.data) << entry.name << ' ' << method << local;
        }
}

TEST_F(ZipArchiveTest, TwoStreamsOfOneMemberAreIndependent) {
  const ZipArchive archive(write_bytes(folder_ / "f.npz", zip(entries_)));
  ZipMemberStream first(archive, archive.members()[0]), second(archive, archive.members()[0]);
  std::string a(1000, '\0'), b(1000, '\0');
  second.read(std::as_writable_bytes(std::span(b)));
  for (int i = 0; i < 300; ++i) {
    first.read(std::as_writable_bytes(std::span(a)));
    if (i == 1) {
      EXPECT_EQ(a, entries_[0].data.substr(1000, 1000));
    }
  }
  EXPECT_EQ(first.bytes_left(), 0u);
  EXPECT_EQ(second.bytes_left(), 299'000u);
}

TEST_F(ZipArchiveTest, WhatIsNoZipFile) {
  const std::string good = zip(entries_);
  for (const std::string& bytes : {std::string(), std::string("PK"), std::string(100, 'x'),
                                   good.substr(0, good.size() - 1), good + "x", good.substr(0, good.size() / 2)})
    expect_bad("f.npz: is not a zip file (npz), or its end is missing", bytes);
  EXPECT_COMPLAINT(ZipArchive archive(folder_.path() / "none.npz"), ErrorKind::kNoInput, "cannot open");
}

TEST_F(ZipArchiveTest, LiesOfTheDirectory) {
  const std::string good = zip(entries_), stored = zip(entries_, {.method = 0});
  expect_bad("the zip directory lies behind the end of the file", patched(good, kEnd, 16, u32(good.size() + 1)));
  expect_bad("the zip directory lies behind the end of the file", patched(good, kEnd, 12, u32(0xFFFFFFFE)));
  expect_bad("the zip directory is too small for its entries", patched(good, kEnd, 10, u16(60000)));
  expect_bad("entry 0 of the zip directory is damaged", patched(good, kEntry, 0, "xxxx"));
  expect_bad("entry 0 of the zip directory is damaged", patched(good, kEnd, 16, u32(1)));
  expect_bad("entry 0 of the zip directory is cut short", patched(good, kEntry, 28, u16(65535)));
  expect_bad("is one part of several", patched(good, kEnd, 4, u16(1)));
  expect_bad("member 'a.npy' lies behind the end of the file", patched(good, kEntry, 42, u32(good.size())));
  expect_bad("member 'a.npy' lies behind the end of the file", patched(good, kEntry, 20, u32(good.size())));
  expect_bad("member 'a.npy' claims 4294967294 bytes, which cannot come out of",
             patched(good, kEntry, 24, u32(0xFFFFFFFE)));
  expect_bad("member 'a.npy' claims 299999 bytes, which cannot come out of 300000",
             patched(stored, kEntry, 24, u32(299'999)));
  expect_bad("member 'a.npy': a 64-bit size is missing", patched(good, kEntry, 24, u32(0xFFFFFFFF)));
  expect_bad("member 'a.npy' is not where the directory says", patched(good, kEntry, 42, u32(1)));
  expect_bad("member 'b.npy' is cut short", patched(zip({{"b.npy", "hello"}}), kLocal, 28, u16(65535)));
  expect_bad("has two members 'b.npy'", zip({{"b.npy", "1"}, {"b.npy", "2"}}));
  expect_bad("is encrypted", patched(good, kEntry, 8, u16(1)));
  expect_bad("'a.npy' has compression method 12; 0 (stored) and 8 (deflated) can be read",
             patched(good, kEntry, 10, u16(12)));
}

TEST_F(ZipArchiveTest, LiesOfTheZip64Records) {
  const std::string good = zip(entries_, {.zip64_entries = true, .zip64_end = true});
  expect_bad("the zip64 locator is missing", patched(good, kLocator, 0, "xxxx"));
  expect_bad("the zip64 end record lies behind the end of the file", patched(good, kLocator, 8, u64(~std::size_t{0})));
  expect_bad("the zip64 end record is missing", patched(good, kLocator, 8, u64(0)));
  expect_bad("the zip directory lies behind the end of the file", patched(good, kEnd64, 48, u64(~std::size_t{0})));
  expect_bad("the zip directory lies behind the end of the file", patched(good, kEnd64, 40, u64(~std::size_t{0})));
  expect_bad("the zip directory is too small for its entries", patched(good, kEnd64, 32, u64(~std::size_t{0})));
  const std::size_t extra = 46 + 5 + 7 + 4;  // entry, name, someone else's field, head of the zip64 field
  expect_bad("which cannot come out of", patched(good, kEntry, extra, u64(~std::size_t{0})));
  expect_bad("lies behind the end of the file", patched(good, kEntry, extra + 8, u64(~std::size_t{0})));
  expect_bad("lies behind the end of the file", patched(good, kEntry, extra + 16, u64(~std::size_t{0})));
  expect_bad("a 64-bit size is missing", patched(good, kEntry, extra - 2, u16(16)));
}

TEST_F(ZipArchiveTest, DamagedDataNamesTheMember) {
  const std::string good = zip(entries_), stored = zip(entries_, {.method = 0});
  expect_bad("f.npz: 'a.npy': the checksum (CRC-32) is wrong", patched(stored, kLocal, 100, "x"));
  expect_bad("'b.npy': the checksum (CRC-32) is wrong", patched(zip({{"b.npy", "hello"}}), kEntry, 16, u32(1)));
  expect_bad("'b.npy': ends after 5 of 6 bytes", patched(zip({{"b.npy", "hello"}}), kEntry, 24, u32(6)));
  expect_bad("'b.npy': holds more than the 4 bytes it claims", patched(zip({{"b.npy", "hello"}}), kEntry, 24, u32(4)));
  expect_bad("the compressed data end early", patched(zip({{"b.npy", "hello"}}), kEntry, 20, u32(5)));
  expect_bad("other data follow the compressed data",
             patched(zip({{"b.npy", "hello"}}, {.local = ZipStyle::kDescriptor}), kEntry, 20, u32(9)));
  expect_bad("the compressed data are damaged (zlib: ", patched(good, kLocal, 5000, std::string(50, '\xFF')));
}

}  // namespace
}  // namespace salient
