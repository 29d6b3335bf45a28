// tests/fuzz/kernel_source_fuzz.cpp - any text as a candidate: refused by a verdict, never by a crash.
#include "tests/fuzz/fuzz_target.h"
#include "workbench/case/case.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/static_gate.h"

namespace salient::fuzz {

std::vector<std::string> seeds() {
  return {
      "// launch k block=256 grid=min(sm*8, ceil(n, 256)) smem=TILE*4\n// param TILE=64 values=32,64\n",
      "// launch k grid=ceil(n, 4096) grid_y=2\n// scratch part f32 ceil(n, 256)\n#include <cmath>\nint a = '\\'';\n",
      "// launch k grid=1\n#define A R\"x(/*)x\" \\\n <: 1'000 '\\'' [ [nodiscard(\"x\")]]\n",
      "// launch k grid=1\n.visible .entry k(.param .u64 a)\n{ .reg .b32 %r<2>; l: ld.global.u32 %r1, [a]; }\n",
      "case c\nclass k\n| t\nreference relu\ndims n\nbuffer x f32 in n\nbuffer o i32 out n\nrows 1\nrow_cost 1\nbound "
      "1\n"
      "bytes n\nflops n\npublic host n=4\nhidden n=1..9\n"};
}

}  // namespace salient::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace salient;
  using namespace salient::workbench;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const BackendKind backend : {BackendKind::kHost, BackendKind::kCuda})
    if (const auto reason = reject_text(text, backend)) fuzz::claim(!reason->empty(), "a rejection has a reason");
  Candidate candidate;
  if (fuzz::succeeds([&] { candidate = parse_candidate(text); })) {
    if (const auto reason = reject_ptx(text, candidate, 3)) fuzz::claim(!reason->empty(), "a rejection has a reason");
    fuzz::succeeds([&] {
      for (const Launch& launch : resolve_launches(candidate, {{"n", 1000}}, 132))
        fuzz::claim(launch.grid[0] > 0 && launch.block[0] * launch.block[1] <= 1024, "a launch fits a device");
    });
    fuzz::succeeds([&] {
      for (const BufferSpec& scratch : candidate.scratch)
        fuzz::claim(scratch_elements(scratch, candidate, {{"n", 1000}}, 132) <= (std::size_t{1} << 33),
                    "scratch is limited");
    });
  }
  fuzz::succeeds([&] { fuzz::claim(!parse_case(text, "f.case").shapes.empty(), "a case has shapes"); });
  return 0;
}
