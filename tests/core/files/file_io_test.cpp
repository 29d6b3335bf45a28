// tests/core/files/file_io_test.cpp - whole files, their checksums, and errors in the system's words.
#include "core/files/file_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::read_bytes, test::Scratch;

TEST(OutputFile, HashesWhatItWrites) {
  const Scratch scratch;
  OutputFile file(scratch / "big");
  std::string expected;
  for (const std::size_t size : {1u, 70000u, 3u, 2000000u, 0u, 5u}) {
    const std::string block(size, static_cast<char>('a' + size % 26));
    file.write(block);
    expected += block;
  }
  const FileDigest digest = file.close();
  EXPECT_EQ(read_bytes(scratch / "big"), expected);
  EXPECT_EQ(digest, digest_of(std::as_bytes(std::span(expected))));
  EXPECT_EQ(digest, digest_file(scratch / "big"));
  EXPECT_EQ(to_hex(digest_of({}).xxh3), "2d06800538d394c2") << "published XXH3-64 of no bytes";
}

TEST(OutputFile, ReportsAFullDiskInTheSystemsWords) {  // a size limit fails the same call
  const Scratch scratch;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit tight{1 << 20, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  OutputFile file(scratch / "big");
  const test::Complaint complaint = test::complaint_of([&] { file.write(std::string(3 << 20, 'x')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(complaint.exit_code, 74);
  EXPECT_TRUE(complaint.mentions("big: cannot write: File too large")) << complaint.text;
}

TEST(TextFile, MissingIsNotTheSameAsUnreadable) {
  const Scratch scratch;
  EXPECT_COMPLAINT((void)read_text_file(scratch / "none"), 66, "No such file");
  EXPECT_COMPLAINT((void)read_text_file(scratch.path()), 65, "is a folder, not a file");
  EXPECT_COMPLAINT(write_text_file(scratch / "no/such/folder", ""), 74, "No such file");
  write_text_file(scratch / "text", "12345");
  EXPECT_COMPLAINT((void)read_text_file(scratch / "text", 4), 65, "larger than 4 bytes");
}

TEST(DigestFile, EndsAtTheSizeThatIsExpected) {
  const Scratch scratch;
  write_text_file(scratch / "text", "12345");
  EXPECT_EQ(digest_file(scratch / "text", 5), digest_file(scratch / "text"));
  EXPECT_EQ(digest_file(scratch / "text", 4), (FileDigest{5, 0}));
  std::filesystem::resize_file(scratch / "text", std::uintmax_t{1} << 42);  // sparse: hours of reading
  EXPECT_EQ(digest_file(scratch / "text", 5), (FileDigest{std::uint64_t{1} << 42, 0}));
  EXPECT_COMPLAINT((void)read_text_file(scratch / "text"), 65, "larger than");
}

TEST(WriteAll, WritesAtTheDescriptorsPosition) {
  const Scratch scratch;
  const Descriptor file(open((scratch / "text").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  const std::string one = "one ", two = "two";
  write_all(scratch / "text", file, std::as_bytes(std::span(one)));
  write_all(scratch / "text", file, {});
  write_all(scratch / "text", file, std::as_bytes(std::span(two)));
  EXPECT_EQ(read_bytes(scratch / "text"), "one two");
  EXPECT_COMPLAINT(write_all("NAME", Descriptor(), std::as_bytes(std::span(one))), 74, "NAME: cannot write: Bad file");
}

TEST(OverwriteStart, LeavesTheRest) {
  const Scratch scratch;
  write_text_file(scratch / "text", "0000 and the rest");
  overwrite_start(scratch / "text", "1234");
  EXPECT_EQ(read_bytes(scratch / "text"), "1234 and the rest");
  EXPECT_COMPLAINT(overwrite_start(scratch / "none", "1"), 74, "none: cannot open: No such file");
}

TEST(FsyncDirectory, WantsAFolder) {
  const Scratch scratch;
  fsync_directory(scratch.path());
  write_text_file(scratch / "text", "");
  EXPECT_COMPLAINT(fsync_directory(scratch / "text"), 74, "Not a directory");
}

}  // namespace
}  // namespace salient
