// tests/prepare/formats/zip_writer_test.cpp - what the writer makes, the reader reads: any blocks, any number of
// threads.
#include "prepare/formats/zip_writer.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <string>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

std::string content_of(const ZipArchive& archive, const std::string& name) {
  ZipMemberStream stream(archive, *archive.find(name));
  std::string content(stream.bytes_left(), '\0');
  stream.read(std::as_writable_bytes(std::span(content)));
  return content;
}

std::string block(std::uint64_t b) {
  std::string bytes;
  for (std::uint64_t i = 0; i < b * 1000; ++i) bytes += static_cast<char>(i * i * (b + 1) >> 3);
  return bytes;
}

TEST(ZipWriter, MembersComeBack) {
  const test::Scratch scratch;
  std::vector<std::string> files;
  for (const int threads : {1, 4}) {
    const auto path = scratch / ("threads-" + std::to_string(threads));
    ZipWriter zip(path);
    oneapi::tbb::task_arena(threads).execute(
        [&] { zip.add("blocks", 50, [](std::uint64_t b, std::string& bytes) { bytes = block(b); }); });
    zip.add("none", 0, [](std::uint64_t, std::string&) {});
    zip.add("text", "a line\n");
    zip.close();
    std::string expected;
    for (std::uint64_t b = 0; b < 50; ++b) expected += block(b);
    const ZipArchive archive(path);
    EXPECT_EQ(archive.members().size(), 3U);
    EXPECT_TRUE(content_of(archive, "blocks") == expected);
    EXPECT_EQ(content_of(archive, "none"), "");
    EXPECT_EQ(content_of(archive, "text"), "a line\n");
    EXPECT_EQ(zip.bytes_written(), std::filesystem::file_size(path));
    files.push_back(test::read_bytes(path));
  }
  EXPECT_TRUE(files[0] == files[1]) << "threads make no difference";
}

TEST(ZipWriter, ErrorsOfABlockArePassedOn) {
  const test::Scratch scratch;
  ZipWriter zip(scratch / "file");
  EXPECT_COMPLAINT(zip.add("blocks", 9, [](std::uint64_t b, std::string&) { require(b < 5, "five blocks"); }),
                   ErrorKind::kInternal, "five blocks");
}

}  // namespace
}  // namespace salient
