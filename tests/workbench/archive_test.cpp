// tests/workbench/archive_test.cpp - archives of recorded runs: what they hold is read, anything else is refused.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/workbench/bench_support.h"
#include "workbench/ledger/archive.h"
#include "workbench/ledger/ledger.h"

namespace salient::workbench::test {
namespace {

constexpr std::size_t kBlock = 512;

/// A tar archive made field by field, so that it can be wrong.
class Tar {
 public:
  Tar& add(const std::string& path, const std::string& text, char type = '0', std::size_t size_said = SIZE_MAX) {
    std::string header(kBlock, '\0');
    const auto put = [&](std::size_t at, const std::string& field) { header.replace(at, field.size(), field); };
    put(0, path.substr(0, 100));
    char size[12];
    (void)std::snprintf(size, sizeof size, "%011zo", size_said == SIZE_MAX ? text.size() : size_said);
    put(124, size);
    put(148, "        ");
    put(156, std::string(1, type));
    put(157, "../../elsewhere");  // where a link would lead
    put(257, std::string("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    char check[8];
    (void)std::snprintf(check, sizeof check, "%06o", sum);
    put(148, std::string(check, 7));
    bytes_ += header + text + std::string((kBlock - text.size() % kBlock) % kBlock, '\0');
    return *this;
  }
  std::string end() const { return bytes_ + std::string(2 * kBlock, '\0'); }
  std::string without_end() const { return bytes_; }

 private:
  std::string bytes_{};
};

const std::string kHash(64, 'a');

TEST(RunArchive, HasTheFilesOfRuns) {
  const auto files = parse_run_archive(
      Tar().add("a/ledger.jsonl", "{}\n").add("a/objects/" + kHash, std::string(600, 'x')).end(), "A");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files.at("a/ledger.jsonl"), "{}\n");
  EXPECT_EQ(files.at("a/objects/" + kHash).size(), 600U);
  EXPECT_TRUE(parse_run_archive(Tar().end(), "A").empty());
}

TEST(RunArchive, AnythingElseInItIsRefused) {
  for (const char* path : {"../a/ledger.jsonl", "/a/ledger.jsonl", "a/../../ledger.jsonl", "..", "a", "ledger.jsonl",
                           "a/b/ledger.jsonl", "./a/ledger.jsonl", ".a/ledger.jsonl", "-a/ledger.jsonl", "a/best.cu",
                           "a/objects/aa", "a/objects/../best.json", "a\x1b[2J/ledger.jsonl", "a//ledger.jsonl", ""})
    EXPECT_COMPLAINT(parse_run_archive(Tar().add(path, "x").end(), "A"), ErrorKind::kBadData,
                     "is no file of a recorded run");
  for (const char type : {'1', '2', '3', '4', '5', '6', '7', 'x', 'g', 'L', '\0'})
    EXPECT_COMPLAINT(parse_run_archive(Tar().add("a/ledger.jsonl", "", type).end(), "A"), ErrorKind::kBadData,
                     "is no file of a recorded run");
  EXPECT_COMPLAINT(parse_run_archive(Tar().add("a/best.json", "x").add("a/best.json", "y").end(), "A"),
                   ErrorKind::kBadData, "comes twice");
}

TEST(RunArchive, ADamagedOneIsRefused) {
  const std::string whole = Tar().add("a/ledger.jsonl", std::string(700, 'x')).add("a/best.json", "{}").end();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, kBlock, kBlock + 300, 3 * kBlock, 4 * kBlock})
    EXPECT_COMPLAINT(parse_run_archive(whole.substr(0, bytes), "A"), ErrorKind::kBadData, "A: ");
  for (std::size_t at = 0; at < kBlock; at += 7) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x11);
    EXPECT_COMPLAINT(parse_run_archive(changed, "A"), ErrorKind::kBadData, "A: ");
  }
  for (const std::size_t size : {std::size_t{3000}, std::size_t{1} << 31})
    EXPECT_COMPLAINT(parse_run_archive(Tar().add("a/best.json", "x", '0', size).end(), "A"), ErrorKind::kBadData,
                     "is cut off");
  EXPECT_COMPLAINT(parse_run_archive(Tar().add("a/best.json", "x").without_end(), "A"), ErrorKind::kBadData,
                   "its end is missing");
}

TEST(RunArchive, ThePublishedOneHasWholeRuns) {
  const salient::test::Scratch scratch;
  const RunArchive archive(std::filesystem::path(SALIENT_WORKBENCH_DIR) / "results");
  EXPECT_GE(archive.runs().size(), 27U);
  for (const std::string& run : archive.runs()) {
    const std::filesystem::path folder = archive.unpack(run, scratch.path());
    verify_best(folder, load_ledger(folder));
  }
  EXPECT_COMPLAINT(archive.unpack("..", scratch.path()), ErrorKind::kNoInput, "holds no run '..'");
  EXPECT_COMPLAINT(RunArchive(scratch.path()), ErrorKind::kNoInput, "runs.tar.xz");
}

}  // namespace
}  // namespace salient::workbench::test
