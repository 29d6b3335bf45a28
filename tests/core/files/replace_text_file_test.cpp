// tests/core/files/replace_text_file_test.cpp - old or new text, never half, by any number of writers.
#include "core/files/replace_text_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::read_bytes, test::Scratch, test::write_bytes;

TEST(ReplaceTextFile, TheNewTextHasTheName) {
  const Scratch scratch;
  for (const char* text : {"one, which is longer", "two"}) {
    replace_text_file(scratch / "file", text);
    EXPECT_EQ(read_bytes(scratch / "file"), text);
  }
  EXPECT_FALSE(std::filesystem::exists(scratch / "file.tmp"));
}

TEST(ReplaceTextFile, WhatACrashLeftIsUsedUp) {
  const Scratch scratch;
  write_bytes(scratch / "file.tmp", "half of something longer than the text");
  replace_text_file(scratch / "file", "whole");
  EXPECT_EQ(read_bytes(scratch / "file"), "whole");
  EXPECT_FALSE(std::filesystem::exists(scratch / "file.tmp"));
}

TEST(ReplaceTextFile, ManyAtATimeAllSucceed) {
  const Scratch scratch;
  std::vector<std::string> texts;
  for (char c = 'a'; c < 'a' + 8; ++c) texts.emplace_back(100'000U + static_cast<unsigned>(c) * 1000U, c);
  {
    std::vector<std::jthread> writers;
    for (const std::string& text : texts)
      writers.emplace_back([&] {
        for (int i = 0; i < 20; ++i) replace_text_file(scratch / "file", text);
      });
  }
  EXPECT_NE(std::ranges::find(texts, read_bytes(scratch / "file")), texts.end()) << "one writer's text, whole";
  EXPECT_FALSE(std::filesystem::exists(scratch / "file.tmp"));
}

TEST(ReplaceTextFile, AFailureLeavesTheOldTextAlone) {
  const Scratch scratch;
  replace_text_file(scratch / "file", "old");
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit tight{1000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const test::Complaint complaint =
      test::complaint_of([&] { replace_text_file(scratch / "file", std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(complaint.exit_code, 74);
  EXPECT_TRUE(complaint.mentions("file.tmp: cannot write: File too large")) << complaint.text;
  EXPECT_EQ(read_bytes(scratch / "file"), "old");
  EXPECT_FALSE(std::filesystem::exists(scratch / "file.tmp"));
}

TEST(ReplaceTextFile, AMissingFolderIsNamed) {
  const Scratch scratch;
  EXPECT_COMPLAINT(replace_text_file(scratch / "no/folder", ""), 74, "cannot create: No such file");
}

}  // namespace
}  // namespace salient
