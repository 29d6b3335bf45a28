// tests/fuzz/kernel_ledger_fuzz.cpp - any bytes as a ledger: refused, or a chain that is whole.
#include "tests/fuzz/fuzz_target.h"
#include "workbench/ledger/ledger.h"
#include "workbench/ledger/records.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  workbench::Json first = {{"n", 0}, {"kind", "run"}, {"prev", ""}, {"case", "relu"}};
  first["hash"] = workbench::hash_of_record(first);
  workbench::Json second = {{"n", 1}, {"kind", "end"}, {"prev", first["hash"]}};
  second["hash"] = workbench::hash_of_record(second);
  return {first.dump() + "\n" + second.dump() + "\n",
          R"({"verdict": "NOISE", "reason": "", "seed": 1, "problems": 2, "notes": "", )"
          R"("timing": [{"shape": "n=1", "bytes": 1,)"
          R"("flops": 1, "copy_rate": 1, "floor": 1, "start": [1], "best": [1], "best_again": [1], "candidate": [1]}],)"
          R"("gain": 1, "of_start": 1, "noise": 0})"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  using namespace salient::workbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::succeeds([&] {
    const std::vector<Json> records = parse_ledger(text, "l");
    for (std::size_t i = 1; i < records.size(); ++i)
      fuzz::claim(records[i]["prev"] == records[i - 1]["hash"], "each record has the hash of the one before");
  });
  fuzz::succeeds([&] {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_discarded()) (void)decide(assessment_of(json).timing);
  });
  return 0;
}
