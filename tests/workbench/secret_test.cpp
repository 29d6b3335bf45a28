// tests/workbench/secret_test.cpp - workers find no API key in the memory that they inherit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/workbench/bench_support.h"
#include "workbench/generator/generator.h"

namespace salient::workbench::test {
namespace {

constexpr char kMask = 0x55;

/// A key that this process holds nowhere as it is: byte by byte, from a formula.
constexpr std::size_t kKeyBytes = 40;
char masked(std::size_t i) { return static_cast<char>(('a' + static_cast<int>(i * 7 % 26)) ^ kMask); }

void put_key_into(const char* variable) {
  std::array<char, kKeyBytes + 1> key{};
  for (std::size_t i = 0; i < kKeyBytes; ++i) key[i] = static_cast<char>(masked(i) ^ kMask);
  ASSERT_EQ(setenv(variable, key.data(), 1), 0);
  explicit_bzero(key.data(), key.size());
}

bool is_key(const char* at) {
  for (std::size_t i = 0; i < kKeyBytes; ++i)
    if ((at[i] ^ kMask) != masked(i)) return false;
  return true;
}

/// How often the key is in the private memory of this process that can be written.
int count_keys() {
  int found = 0;
  std::vector<char> block;
  const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char rights[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, rights) != 3 || std::strcmp(rights, "rw-p") != 0)
      continue;
    block.resize(end - begin);
    const ssize_t got = pread(memory, block.data(), block.size(), static_cast<off_t>(begin));
    for (ssize_t i = 0; i + static_cast<ssize_t>(kKeyBytes) <= got; ++i) found += is_key(block.data() + i) ? 1 : 0;
    explicit_bzero(block.data(), block.size());
  }
  (void)close(memory);
  return found;
}

TEST(Secret, WorkersFindNoKeyInTheMemoryThatTheyInherit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's memory has terabytes";
#endif
  put_key_into("SALIENT_TEST_KEY");
  const std::unique_ptr<Generator> generator = make_openai_generator(
      {.endpoint = "http://127.0.0.1:1/v1", .model = "m", .key_env = "SALIENT_TEST_KEY", .tries = 1});
  EXPECT_EQ(std::getenv("SALIENT_TEST_KEY"), nullptr);
  EXPECT_THROW((void)generator->ask({}), Waiting);  // the header was made, and nobody was there to read it
  put_key_into("SALIENT_OTHER_KEY");                // of other programs
  Arena shared(sizeof(int));
  int& found = *reinterpret_cast<int*>(shared.data());
  found = -1;
  Worker worker([] {}, [&](std::size_t) { found = count_keys(); }, {});
  ASSERT_EQ(worker.wait_until_ready(60).kind, Reply::Kind::kOk);
  ASSERT_EQ(worker.run(0, 60).kind, Reply::Kind::kOk);
  EXPECT_EQ(found, 0);
  EXPECT_GE(count_keys(), 2) << "in this process it is there: in the generator and in the other variable";
  (void)unsetenv("SALIENT_OTHER_KEY");
}

}  // namespace
}  // namespace salient::workbench::test
