// tests/core/host/program_test.cpp - closed descriptors become /dev/null; lost pages and results are errors.
#include "core/host/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <thread>

namespace salient {
namespace {

/// The exit code of a child process that runs `body`.
int exit_code_of(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Program, ClosedDescriptorsBecomeDevNull) {
  for (int mask = 0; mask < 8; ++mask) {
    const int code = exit_code_of([&] {
      for (const int descriptor : {0, 1, 2})
        if ((mask >> descriptor & 1) != 0) (void)close(descriptor);
      start_program();
      struct stat null {
      }, now{};
      if (stat("/dev/null", &null) != 0) return 1;
      for (const int descriptor : {0, 1, 2}) {
        if (fstat(descriptor, &now) != 0) return 2;
        if ((mask >> descriptor & 1) != 0 && now.st_rdev != null.st_rdev) return 3;
      }
      return open("/dev/null", O_RDONLY) > 2 ? 0 : 4;  // what a file of ours would get
    });
    EXPECT_EQ(code, 0) << "closed: " << mask;
  }
}

TEST(Program, AMappedFileThatIsCutIsAnErrorInOneLine) {
  const auto read_behind_the_end = [] {
    start_program();
    const int file = memfd_create("cut", 0);
    if (ftruncate(file, 1) != 0) std::exit(1);
    const auto* const bytes = static_cast<const volatile char*>(mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0));
    if (bytes[0] != 0 || ftruncate(file, 0) != 0) std::exit(2);
    std::exit(bytes[0]);
  };
  EXPECT_EXIT(read_behind_the_end(), testing::ExitedWithCode(74), "^core_unit: error: a file in use became shorter");
}

TEST(Program, ARemovedWorkingDirectoryIsAnErrorInOneLine) {
  const auto start_where_nothing_is = [] {
    char folder[] = "/tmp/salient-program-XXXXXX";
    if (mkdtemp(folder) == nullptr || chdir(folder) != 0 || rmdir(folder) != 0) std::exit(1);
    (void)execl("/proc/self/exe", "core_unit", "--gtest_list_tests", nullptr);
    std::exit(2);
  };
  EXPECT_EXIT(start_where_nothing_is(), testing::ExitedWithCode(66),
              "^core_unit: error: the working directory has been removed; change to one that exists\n$");
}

TEST(Program, AnExceptionThatNoThreadCatchesIsAnErrorInOneLine) {
  const auto throw_in_a_thread = [] {
    start_program();
    std::thread([] { throw std::bad_alloc(); }).join();
  };
  EXPECT_EXIT(throw_in_a_thread(), testing::ExitedWithCode(71), "^core_unit: error: out of host memory\n$");
}

TEST(Program, ResultsThatDoNotGetOutAreAnError) {
  const auto print_to = [](const char* path, int code) {
    return exit_code_of([&] {
      if (std::freopen(path, "w", stdout) == nullptr) return 99;
      (void)std::puts("a result");
      return end_program("test", code);
    });
  };
  EXPECT_EQ(print_to("/dev/null", 0), 0);
  EXPECT_EQ(print_to("/dev/full", 0), 74);
  EXPECT_EQ(print_to("/dev/full", 65), 65) << "the first error counts";
}

}  // namespace
}  // namespace salient
