// tests/core/files/mapped_file_test.cpp - a file's bytes as memory, and what cannot be mapped.
#include "core/files/mapped_file.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;

TEST(MappedFile, HasTheFilesBytesWhereverItMoves) {
  const Scratch scratch;
  MappedFile file(write_bytes(scratch / "text", "seven b"));
  EXPECT_EQ(file.text(), "seven b");
  EXPECT_EQ(file.name(), (scratch / "text").string());
  const std::byte* const data = file.bytes().data();
  MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().data(), data);
  MappedFile other(write_bytes(scratch / "other", "x"));
  other = std::move(moved);
  EXPECT_EQ(other.text(), "seven b");
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const Scratch scratch;
  EXPECT_TRUE(MappedFile(write_bytes(scratch / "empty", "")).bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  const Scratch scratch;
  EXPECT_COMPLAINT(MappedFile file(scratch / "none"), 66, "none: cannot open: No such file");
  EXPECT_COMPLAINT(MappedFile file(scratch.path()), 65, "is a folder, not a file");
}

}  // namespace
}  // namespace salient
