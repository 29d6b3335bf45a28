// tests/core/files/staged_directory_test.cpp - results appear whole or not at all; other folders are never replaced.
#include "core/files/staged_directory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/files/file_io.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::read_bytes, test::Scratch, test::write_bytes;

void publish(const std::filesystem::path& out, const std::string& content, ReplaceExisting replace) {
  StagedDirectory staged(out, replace, "marker");
  write_text_file(staged.path() / "marker", content);
  staged.publish();
}

TEST(StagedDirectory, PublishesUnderTheName) {
  const Scratch scratch;
  publish(scratch / "deep/er/out/", "one", ReplaceExisting::kRefuse);
  EXPECT_EQ(read_bytes(scratch / "deep/er/out/marker"), "one");
  EXPECT_TRUE(leftovers_of(scratch / "deep/er/out").empty());
}

TEST(StagedDirectory, ReplacesOnlyOnRequestAndOnlyItsOwnKind) {
  const Scratch scratch;
  publish(scratch / "out", "one", ReplaceExisting::kRefuse);
  EXPECT_COMPLAINT(publish(scratch / "out", "two", ReplaceExisting::kRefuse), 2, "out exists");
  publish(scratch / "out", "two", ReplaceExisting::kReplace);
  EXPECT_EQ(read_bytes(scratch / "out/marker"), "two");
  EXPECT_TRUE(leftovers_of(scratch / "out").empty()) << "the old one is gone";

  std::filesystem::create_directory(scratch / "home");
  write_bytes(scratch / "home/thesis.tex", "years of work");
  EXPECT_COMPLAINT(publish(scratch / "home", "two", ReplaceExisting::kReplace), 2, "holds no");
  EXPECT_EQ(read_bytes(scratch / "home/thesis.tex"), "years of work");
}

TEST(StagedDirectory, TakesAnEmptyFolder) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "out");
  publish(scratch / "out", "one", ReplaceExisting::kRefuse);
  EXPECT_EQ(read_bytes(scratch / "out/marker"), "one");
  EXPECT_TRUE(leftovers_of(scratch / "out").empty());
}

TEST(StagedDirectory, ALinkStaysAndItsFolderIsReplaced) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "disk/store");
  std::filesystem::create_directory_symlink("disk/store", scratch / "out");
  for (const char* content : {"one", "two"}) {  // into the empty folder, then in place of its result
    StagedDirectory staged(scratch / "out/", ReplaceExisting::kReplace, "marker");
    EXPECT_EQ(staged.path().parent_path(), std::filesystem::canonical(scratch / "disk")) << "staged on that disk";
    EXPECT_EQ(leftovers_of(scratch / "out").size(), 1u) << "found beside the folder";
    write_text_file(staged.path() / "marker", content);
    staged.publish();
    EXPECT_TRUE(std::filesystem::is_symlink(scratch / "out"));
    EXPECT_EQ(read_bytes(scratch / "disk/store/marker"), content);
  }
  EXPECT_TRUE(leftovers_of(scratch / "out").empty());

  std::filesystem::create_directory_symlink("none", scratch / "dangling");
  std::filesystem::create_directory_symlink("loop", scratch / "loop");
  for (const char* nowhere : {"dangling", "loop"})
    EXPECT_COMPLAINT(publish(scratch / nowhere, "three", ReplaceExisting::kReplace), 2, "leads to no folder");
}

TEST(StagedDirectory, AMountPointIsRefusedBeforeTheWork) {
  const auto start = [](const char* out) { const StagedDirectory staged(out, ReplaceExisting::kReplace, "marker"); };
  EXPECT_COMPLAINT(start("/proc/"), 2, "/proc/ is a mount point and cannot be replaced; name a new folder inside it");
  EXPECT_COMPLAINT(start("/"), 2, "name a new folder inside it: /NAME");
}

TEST(StagedDirectory, TheWorkingDirectoryIsRefusedByAnyName) {
  const Scratch scratch;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directories(scratch / "above/here");
  std::filesystem::create_directory_symlink("above/here", scratch / "link");
  std::filesystem::current_path(scratch / "above/here");
  for (const std::filesystem::path& out :
       {std::filesystem::path("."), std::filesystem::path("./"), std::filesystem::path("../here"),
        std::filesystem::path(".."), scratch / "above/", scratch / "link"})
    EXPECT_COMPLAINT(publish(out, "one", ReplaceExisting::kRefuse), 2,
                     out.string() + " is the working directory, or holds it, and cannot be replaced");
  publish("new", "one", ReplaceExisting::kRefuse);
  publish("../beside", "two", ReplaceExisting::kRefuse);
  std::filesystem::current_path(before);
  EXPECT_EQ(read_bytes(scratch / "above/here/new/marker"), "one");
  EXPECT_EQ(read_bytes(scratch / "above/beside/marker"), "two");
}

TEST(StagedDirectory, WhatAppearsInTheMeantimeStaysAndTheResultsAreNamed) {
  const Scratch scratch;
  for (const auto replace : {ReplaceExisting::kRefuse, ReplaceExisting::kReplace}) {
    for (const char* theirs : {"thesis.tex", "marker"}) {
      const bool may_replace = replace == ReplaceExisting::kReplace && std::string_view(theirs) == "marker";
      StagedDirectory staged(scratch / "out", replace, "marker");
      write_text_file(staged.path() / "marker", "ours");
      std::filesystem::create_directory(scratch / "out");
      write_bytes(scratch / "out" / theirs, "theirs");
      if (may_replace) {
        staged.publish();
        EXPECT_EQ(read_bytes(scratch / "out/marker"), "ours");
      } else {
        EXPECT_COMPLAINT(staged.publish(), 2, "they are in " + staged.path().string());
        EXPECT_EQ(read_bytes(scratch / "out" / theirs), "theirs");
        EXPECT_EQ(read_bytes(staged.path() / "marker"), "ours");
      }
      std::filesystem::remove_all(scratch / "out");
      std::filesystem::remove_all(staged.path());
    }
  }
}

TEST(StagedDirectory, TheSecondOfTwoWritersSaysSo) {
  const Scratch scratch;
  StagedDirectory first(scratch / "out", ReplaceExisting::kRefuse, "marker");
  write_text_file(first.path() / "marker", "first");
  const pid_t child = fork();  // its folder is named by its process
  if (child == 0) {
    publish(scratch / "out", "second", ReplaceExisting::kRefuse);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_COMPLAINT(first.publish(), 2, "appeared while");
  EXPECT_EQ(read_bytes(scratch / "out/marker"), "second");
}

TEST(StagedDirectory, AbandonedWorkDisappears) {
  const Scratch scratch;
  {
    const StagedDirectory staged(scratch / "out", ReplaceExisting::kRefuse, "marker");
    write_text_file(staged.path() / "half", "x");
    EXPECT_EQ(leftovers_of(scratch / "out").size(), 1u);
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(StagedDirectory, ACrashLeavesOnlyAFolderThatIsReported) {
  const Scratch scratch;
  publish(scratch / "out", "one", ReplaceExisting::kRefuse);
  const pid_t child = fork();
  if (child == 0) {
    StagedDirectory staged(scratch / "out", ReplaceExisting::kReplace, "marker");
    write_text_file(staged.path() / "half", "x");
    _exit(9);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(WEXITSTATUS(status), 9);
  EXPECT_EQ(read_bytes(scratch / "out/marker"), "one") << "untouched";
  ASSERT_EQ(leftovers_of(scratch / "out").size(), 1u);
  EXPECT_NE(leftovers_of(scratch / "out")[0].string().find("out.tmp-"), std::string::npos);
}

}  // namespace
}  // namespace salient
