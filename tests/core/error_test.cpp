// tests/core/error_test.cpp - which exception ends in which exit code.
#include "core/error.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace salient {
namespace {

template <class Throw>
int exit_code_after(Throw action) {
  try {
    action();
  } catch (...) {
    return report_current_exception("error_test");
  }
  return 0;
}

TEST(Error, KindIsTheExitCode) {
  EXPECT_EQ(exit_code_after([] { fail(ErrorKind::kUsage, "--lr: above 0"); }), 2);
  EXPECT_EQ(exit_code_after([] { fail(ErrorKind::kNoInput, "data/arxiv: not found"); }), 66);
  EXPECT_EQ(exit_code_after([] { require(false, "rows are sorted"); }), 70);
  EXPECT_EQ(exit_code_after([] { throw std::bad_alloc(); }), 71);
  EXPECT_EQ(exit_code_after([] { throw std::logic_error("from a library"); }), 70);
  EXPECT_EQ(exit_code_after([] { throw 1; }), 70);
}

TEST(Error, TheReportIsOneLine) {
  ::testing::internal::CaptureStderr();
  (void)exit_code_after([] { throw std::runtime_error("device mismatch\nframe #0: ..."); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error_test: error: device mismatch\n");
}

TEST(Error, TheReportHasNoControlCharacters) {
  ::testing::internal::CaptureStderr();
  (void)exit_code_after([] { fail(ErrorKind::kNoInput, "runs/a\x1b[31m\nwarning: b: not found"); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "error_test: error: runs/a\\x1b[31m\\nwarning: b: not found\n");
}

TEST(Error, AnErrorOfTheFileSystemNamesThePathFirst) {
  const auto missing = std::make_error_code(std::errc::no_such_file_or_directory);
  const std::filesystem::filesystem_error thrown("cannot remove", "store/owner.npy", missing);
  const Error error = as_error(std::make_exception_ptr(thrown));
  EXPECT_EQ(error.kind(), ErrorKind::kNoInput);
  EXPECT_STREQ(error.what(), "store/owner.npy: cannot remove: No such file or directory");
}

TEST(Error, AThreadThatIsRefusedIsNotAMatterOfMemory) {
  const std::system_error of_std_thread(std::make_error_code(std::errc::resource_unavailable_try_again));
  const std::runtime_error of_tbb("pthread_create has failed");
  for (const std::exception_ptr& refused : {std::make_exception_ptr(of_std_thread), std::make_exception_ptr(of_tbb)}) {
    const Error error = as_error(refused);
    EXPECT_EQ(error.kind(), ErrorKind::kHostMemory);
    EXPECT_EQ(error.topic(), Topic::kNone);
    EXPECT_TRUE(std::string_view(error.what()).starts_with("no further thread can be started")) << error.what();
  }
}

TEST(Error, RequireNamesTheCallersLine) {
  try {
    require(false, "rows are sorted");
  } catch (const Error& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("tests/core/error_test.cpp:")) << error.what();
  }
}

}  // namespace
}  // namespace salient
