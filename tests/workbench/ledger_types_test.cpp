// tests/workbench/ledger_types_test.cpp - a ledger whose chain is whole and whose fields have wrong types is bad data.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/files/file_io.h"
#include "tests/support/scratch.h"
#include "workbench/ledger/report.h"
#include "workbench/method/driver.h"
#include "workbench/method/run_record.h"

namespace salient::workbench::test {
namespace {

const std::filesystem::path kWorkbench = SALIENT_WORKBENCH_DIR;

/// The ledger of these records, chained anew.
std::string chained(std::vector<Json> records) {
  std::string text, prev;
  for (Json& record : records) {
    record["prev"] = prev;
    record.erase("hash");
    prev = hash_of_record(record);
    record["hash"] = prev;
    text += record.dump() + "\n";
  }
  return text;
}

/// Everything that reads a run's folder. Errors are answers; whatever else is thrown reaches the test.
int readers_that_refuse(const std::filesystem::path& run) {
  const std::vector<std::function<void()>> readers = {
      [&] { verify_best(run, load_ledger(run)); },
      [&] { (void)replay_run(run, kWorkbench); },
      [&] { (void)markdown_report(run); },
      [&] { (void)make_replay_generator(run); },
      [&] { (void)read_recipe(run, first_record(run), kWorkbench); },
  };
  int refused = 0;
  for (const auto& reader : readers) {
    try {
      reader();
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::kBadData || error.kind() == ErrorKind::kNoInput ||
                  error.kind() == ErrorKind::kUsage)
          << error.what();
      ++refused;
    }
  }
  return refused;
}

TEST(LedgerTypes, AFieldOfAnotherTypeIsBadData) {
  const salient::test::Scratch scratch;
  const std::filesystem::path run = scratch / "run";
  std::filesystem::copy(kWorkbench / "examples/matmul-host", run, std::filesystem::copy_options::recursive);
  const std::vector<Json> records = load_ledger(run);
  ASSERT_EQ(readers_that_refuse(run), 0);
  int refused = 0;
  std::set<std::string> seen;  // one record of each kind is enough
  for (std::size_t r = 0; r < records.size(); ++r) {
    if (!seen.insert(records[r]["kind"].get<std::string>()).second) continue;
    for (const auto& [key, value] : records[r].items()) {
      if (key == "hash" || key == "prev") continue;
      for (const Json& other : {Json(3), Json(-1.5), Json("text"), Json(nullptr), Json::array({1}),
                                Json({{"a", Json::array()}}), Json(true)}) {
        std::vector<Json> changed = records;
        changed[r][key] = other;
        (void)std::filesystem::remove(run / "ledger.jsonl");
        (void)write_text_file(run / "ledger.jsonl", chained(changed));
        SCOPED_TRACE("record " + std::to_string(r) + ", " + key + " = " + other.dump());
        refused += readers_that_refuse(run);
      }
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace salient::workbench::test
