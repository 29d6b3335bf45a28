// tests/core/files/folder_lock_test.cpp - one program at a time, also where the folder is replaced meanwhile.
#include "core/files/folder_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/files/file_io.h"
#include "core/files/staged_directory.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Scratch;

TEST(FolderLock, IsHeldByOne) {
  const Scratch scratch;
  std::optional<Descriptor> first = try_lock_folder(scratch.path());
  ASSERT_TRUE(first && *first);
  EXPECT_FALSE(try_lock_folder(scratch.path()).has_value());
  first.reset();
  EXPECT_TRUE(try_lock_folder(scratch.path()).has_value());
}

TEST(FolderLock, WhatIsNotThereNeedsNone) {
  const Scratch scratch;
  const std::optional<Descriptor> lock = try_lock_folder(scratch / "none");
  ASSERT_TRUE(lock.has_value());
  EXPECT_FALSE(bool(*lock));
}

TEST(FolderLock, AFolderIsReplacedOnceNoOneWritesToIt) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "out");
  write_text_file(scratch / "out/marker", "old");
  std::optional<Descriptor> lock = try_lock_folder(scratch / "out");
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_EQ(test::read_bytes(scratch / "out/marker"), "old");
    is_over = true;
    lock.reset();
  });
  StagedDirectory staged(scratch / "out", ReplaceExisting::kReplace, "marker");
  write_text_file(staged.path() / "marker", "new");
  staged.publish();
  EXPECT_TRUE(is_over);
  EXPECT_EQ(test::read_bytes(scratch / "out/marker"), "new");
  writer.join();
}

}  // namespace
}  // namespace salient
