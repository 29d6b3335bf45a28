// tests/core/files/is_there_test.cpp - "no" and "may not look" are two answers.
#include "core/files/is_there.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch, test::write_bytes;

TEST(IsThere, YesAndNo) {
  const Scratch scratch;
  write_bytes(scratch / "file", "");
  EXPECT_TRUE(is_there(scratch / "file"));
  EXPECT_TRUE(is_there(scratch.path()));
  EXPECT_FALSE(is_there(scratch / "none"));
  EXPECT_FALSE(is_there(scratch / "none/deeper"));
  EXPECT_FALSE(is_there(scratch / "file/inside"));
  EXPECT_FALSE(is_there(scratch / std::string(300, 'x'))) << "no file has such a name";
}

TEST(IsThere, AFolderThatMayNotBeEnteredIsAnError) {
  if (geteuid() == 0 && setegid(65534) == 0 && seteuid(65534) != 0) GTEST_SKIP() << "root may enter every folder";
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "closed");
  std::filesystem::permissions(scratch / "closed", std::filesystem::perms::none);
  EXPECT_COMPLAINT((void)is_there(scratch / "closed/file"), 74, "closed/file: cannot open: Permission denied");
  std::filesystem::permissions(scratch / "closed", std::filesystem::perms::owner_all);
  if (getuid() == 0) {
    EXPECT_EQ(seteuid(0) + setegid(0), 0);
  }
}

TEST(TextIfThere, OnlyWhatIsMissingIsEmpty) {
  const Scratch scratch;
  write_bytes(scratch / "file", "a\nb");
  EXPECT_EQ(text_if_there(scratch / "file"), "a\nb");
  EXPECT_EQ(text_if_there(scratch / "none"), "");
  EXPECT_COMPLAINT((void)text_if_there(scratch.path()), 65, "is a folder, not a file");
}

}  // namespace
}  // namespace salient
