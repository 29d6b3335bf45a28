// tests/workbench/parts_test.cpp - expressions, launch lines, case files, SHA-256, element types, layouts and
// decisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "tests/support/scratch.h"
#include "tests/workbench/bench_support.h"
#include "workbench/backend/ncu_profile.h"
#include "workbench/case/case.h"
#include "workbench/case/problem.h"
#include "workbench/ledger/sha256.h"
#include "workbench/referee/arena.h"
#include "workbench/referee/candidate.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/timing.h"

namespace salient::workbench {
namespace {

TEST(Expression, IsWholeNumberArithmetic) {
  const Variables values = {{"n", 1000}, {"sm", 132}};
  EXPECT_EQ(evaluate("min(sm*8, ceil(n, 256))", values), 4);
  EXPECT_EQ(evaluate("2+3*4-10/3%2", values), 13);
  EXPECT_EQ(evaluate("-(n-1)", values), -999);
  EXPECT_EQ(evaluate("ceil(7,2)+ceil(-7,2)", values), 1);
  for (const char* text :
       {"", "n n", "1/0", "m", "max(1)", "f(1,2)", "n*n*n*n*n*n*n", "(1", "1+", "99999999999999999999"})
    EXPECT_COMPLAINT(evaluate(text, values), ErrorKind::kBadData, "expression");
  EXPECT_COMPLAINT(evaluate(std::string(100000, '('), values), ErrorKind::kBadData, "64 levels");
  EXPECT_COMPLAINT(evaluate(std::string(100000, '-') + "1", values), ErrorKind::kBadData, "64 levels");
}

TEST(Candidate, DeclarationsBecomeLaunches) {
  const Candidate made = parse_candidate(
      "// a kernel\n// param TILE=64 values=32,64\n  // launch k block=TILE grid=min(sm*8, ceil(n, TILE)) smem=TILE*4\n"
      "// scratch part f32 ceil(n,TILE)\n// launch skipped grid=n-10\n");
  const std::vector<Launch> launches = resolve_launches(made, {{"n", 10}}, 2);
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].block[0], 64);
  EXPECT_EQ(launches[0].grid[0], 1);
  EXPECT_EQ(launches[0].smem, 256);
  EXPECT_EQ(scratch_elements(made.scratch[0], made, {{"n", 100}}, 2), 2U);
  EXPECT_EQ(made.parameters[0].values.size(), 2U);
}

TEST(Candidate, OfTritonSaysItsWarps) {
  const Candidate made = parse_candidate(
      "# language triton\n# param WARPS=2 values=2,4\n# launch k grid=ceil(n,64) warps=2*WARPS stages=2\n");
  EXPECT_EQ(made.language, Language::kTriton);
  const std::vector<Launch> launches = resolve_launches(made, {{"n", 100}}, 2);
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_EQ(launches[0].block[0], 4 * 32);
  EXPECT_EQ(launches[0].grid[0], 2);
  EXPECT_EQ(parse_candidate("// language ptx\n// launch k grid=1").language, Language::kPtx);
  EXPECT_EQ(parse_candidate("// language models wrote this\n// launch k grid=1").language, Language::kCpp);
  EXPECT_COMPLAINT(parse_candidate("# language triton\n# launch k grid=1 block=32"), ErrorKind::kBadData,
                   "line 2: unknown launch key 'block'; grid, grid_y, grid_z, stages, warps");
  EXPECT_COMPLAINT(parse_candidate("// launch k grid=1 warps=4"), ErrorKind::kBadData, "unknown launch key 'warps'");
  EXPECT_COMPLAINT(parse_candidate("// language fortran\n// launch k grid=1"), ErrorKind::kBadData, "cpp, ptx, triton");
  EXPECT_COMPLAINT(parse_candidate("// launch k grid=1\n// language ptx"), ErrorKind::kBadData, "before the launches");
  EXPECT_COMPLAINT(parse_candidate("// language ptx\n// param A=1\n// launch k grid=1"), ErrorKind::kBadData, "macros");
}

TEST(Candidate, ArraysAreAPointerWithExtentsAndStrides) {
  const Case given = load_case(test::cases_folder(), "matmul_bf16");
  const Candidate made = parse_candidate(
      "# language cutile\n# param T=64\n# array a m k\n# array b k n\n# scratch part f32 2*T\n# launch matmul "
      "grid=m\n");
  EXPECT_EQ(made.language, Language::kCutile);
  EXPECT_EQ(num_parameters(made, given), 5U + 5 + 3 + 3 + 3);
  EXPECT_EQ(extents_of(made, given.buffers[2]), std::vector<std::string>{given.buffers[2].count});
  const Variables dims{{"m", 3}, {"n", 5}, {"k", 7}};
  Layout layout;
  for (std::size_t b = 0; b < 4; ++b) layout.buffers.push_back({b * 256, 64});
  std::vector<std::int64_t> values;
  for (const Argument& one : make_order({given, dims}, made, layout, 0, 1).arguments) values.push_back(one.value);
  EXPECT_EQ(values, (std::vector<std::int64_t>{0, 3, 7, 7, 1, 256, 7, 5, 5, 1, 512, 15, 1, 3, 5, 7, 768, 128, 1}));
  EXPECT_EQ(num_parameters(parse_candidate("# language triton\n# launch k grid=1"), given), 3U + 3 + 2);
  EXPECT_EQ(num_parameters(parse_candidate("# language cute-dsl\n# launch k grid=1 block=32"), given), 3U + 3);
  EXPECT_COMPLAINT(parse_candidate("# language cutile\n# launch k grid=1 block=32"), ErrorKind::kBadData,
                   "unknown launch key 'block'; grid, grid_y, grid_z");
  EXPECT_COMPLAINT(parse_candidate("# language cutile\n# array a\n# launch k grid=1"), ErrorKind::kBadData,
                   "array NAME");
  EXPECT_COMPLAINT(parse_candidate("# language cutile\n# array a n\n# array a m\n# launch k grid=1"),
                   ErrorKind::kBadData, "a second time");
  EXPECT_COMPLAINT(parse_candidate("# array a m k\n# language cutile\n# launch k grid=1"), ErrorKind::kBadData,
                   "the language comes before the arrays");
  EXPECT_TRUE(parse_candidate("// array of sums\n// launch k grid=1").arrays.empty()) << "a comment";
  for (const char* extents : {"4611686018427387904 4", "-3 4", "3 4611686018427387904 -1", "1 0-m"}) {
    const Candidate bad =
        parse_candidate(std::string("# language cutile\n# array a ") + extents + "\n# launch matmul grid=m\n");
    EXPECT_COMPLAINT((void)make_order({given, dims}, bad, layout, 0, 1), ErrorKind::kBadData, "array a: an extent");
  }
}

TEST(Candidate, WhatItsCompilerChoseCompletesALaunch) {
  const Artifact made{.shared = {{"k", 100}}, .threads = {{"k", 384}}};
  const std::vector<Launch> launches =
      made.completed({{.kernel = "k", .smem = 8}, {.kernel = "other", .block = {32, 2}}});
  EXPECT_EQ(launches[0].smem, 108);
  EXPECT_EQ(launches[0].block[0], 384);
  EXPECT_EQ(launches[1].block[0], 32);
  EXPECT_EQ(launches[1].block[1], 2);
}

TEST(Candidate, OfAnotherLanguageIsNoneOfTheHost) {
  const salient::test::Scratch scratch;
  const auto host = make_host_backend(test::cases_folder() / "kernels", scratch.path());
  const Finding found = test::verdict_of_source(*host, load_case(test::cases_folder(), "softsign"),
                                                read_text_file(test::cases_folder() / "kernels/softsign.ptx"));
  EXPECT_EQ(found.verdict, Verdict::kStaticReject);
  EXPECT_EQ(found.reason, "the back end host compiles C++, not ptx");
}

TEST(Candidate, WhatCannotBeLaunchedIsRefused) {
  for (const char* source : {"int x;", "// launch k", "// launch 3k grid=1", "// launch k grid=", "// param A=x\n",
                             "// launch k grid=1 stream=2", "// scratch s f64 10\n"})
    EXPECT_COMPLAINT(parse_candidate(source), ErrorKind::kBadData, "");
  EXPECT_COMPLAINT(parse_candidate(std::string((1 << 20) + 1, ' ')), ErrorKind::kBadData, "1 MiB");
  EXPECT_COMPLAINT(resolve_launches(parse_candidate("// launch k grid=1 block=0"), {}, 1), ErrorKind::kBadData,
                   "block");
  EXPECT_COMPLAINT(resolve_launches(parse_candidate("// launch k grid=1 grid_y=70000"), {}, 1), ErrorKind::kBadData,
                   "grid");
}

TEST(CaseFile, ErrorsNameFileAndLine) {
  const std::string head =
      "case c\nclass k\n| t\nreference relu\ndims n\nbuffer x f32 in n\nbuffer out f32 out n\nrows 1\n"
      "row_cost 1\nbound 1\nbytes n\nflops n\n";
  EXPECT_EQ(parse_case(head + "public n=4\n", "c.case").buffers.size(), 2U);
  EXPECT_COMPLAINT(parse_case(head, "c.case"), ErrorKind::kBadData, "c.case:12: missing");
  EXPECT_COMPLAINT(parse_case(head + "public m=4\n", "c.case"), ErrorKind::kBadData, "c.case:13: the shape gives n");
  EXPECT_COMPLAINT(parse_case(head + "what\n", "c.case"), ErrorKind::kBadData, "unknown keyword");
  EXPECT_COMPLAINT(parse_case(head + "public n=1..4\n", "c.case"), ErrorKind::kBadData, "only hidden");
}

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ElementType, ShortFormatsRoundToNearestEven) {
  EXPECT_EQ(float_to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(float_to_bf16(1.00390625F), 0x3F80);  // halfway: to even
  EXPECT_EQ(float_to_bf16(1.01171875F), 0x3F82);
  EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(NAN))));
}

TEST(Layout, BuffersAreApartAndGuardsAreSeen) {
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    const Layout layout = lay_out({1000, 0, 4, 100000}, 512, seed);
    Arena arena(layout.end);
    const std::byte guard = kDirt[0].guard;
    arena.fill(layout.begin, layout.end, guard);
    for (const Placement& place : layout.buffers) arena.fill(place.offset, place.offset + place.bytes, std::byte{1});
    EXPECT_EQ(arena.first_broken_guard(layout, guard), layout.end);
    for (const Placement& place : layout.buffers) EXPECT_EQ(place.offset % 256, 0U);
    for (const std::size_t b : {std::size_t{0}, std::size_t{3}})
      for (const std::size_t far :
           {layout.buffers[b].offset - (1 << 20), layout.buffers[b].offset + 100000 + (900 << 10)}) {
        const std::byte before = std::exchange(arena.data()[far], std::byte{0});
        EXPECT_NE(arena.first_broken_guard(layout, guard), layout.end) << "a write far away";
        arena.data()[far] = before;
      }
    const std::size_t behind = layout.buffers[2].offset + 4;
    arena.data()[behind] = std::byte{0};
    EXPECT_EQ(arena.first_broken_guard(layout, guard), behind);
  }
}

TEST(Layout, BuffersInRoomsTouchAFenceAtEitherEnd) {
  const std::vector<std::size_t> most = {100000, 0, 70000}, now = {99996, 0, 6};
  const Rooms rooms = make_rooms(most, 1000, 7);
  ASSERT_EQ(rooms.fences.size(), 4U);
  const auto is_fence = [&](std::size_t at) {
    return std::any_of(rooms.fences.begin(), rooms.fences.end(),
                       [&](const Placement& fence) { return fence.offset <= at && at < fence.offset + fence.bytes; });
  };
  for (const FencedSide side : {FencedSide::kBegin, FencedSide::kEnd})
    for (const Placement& place : lay_out_in_rooms(rooms, now, side).buffers) {
      EXPECT_EQ(is_fence(place.offset - 1), side == FencedSide::kBegin || place.bytes == 0) << place.bytes;
      EXPECT_EQ(is_fence(place.offset + place.bytes), side == FencedSide::kEnd || place.bytes == 0) << place.bytes;
      for (std::size_t i = 0; i < place.bytes; ++i) ASSERT_FALSE(is_fence(place.offset + i));
    }
}

Timing timing_of(double start, double best, double candidate, double floor, double wobble) {
  ShapeTimes times{.shape = "n=1", .bytes = 8, .flops = 1, .copy_rate = 1, .floor = floor};
  for (int i = 0; i < 20; ++i) {
    const double factor = 1 + wobble * (i % 5 - 2);
    times.start.push_back(start * factor);
    times.best.push_back(best * factor);
    times.best_again.push_back(best * factor);
    times.candidate.push_back(candidate * factor);
  }
  return {{times}};
}

TEST(Decision, FollowsTheKeepRule) {
  EXPECT_EQ(decide(timing_of(2, 1, 0.9, 0.1, 0)).verdict, Verdict::kAccepted);
  EXPECT_NEAR(decide(timing_of(2, 1, 0.9, 0.1, 0)).of_start, 2 / 0.9, 1e-12);
  EXPECT_EQ(decide(timing_of(2, 1, 0.99, 0.1, 0)).verdict, Verdict::kNoise);
  EXPECT_EQ(decide(timing_of(2, 1, 0.95, 0.1, 0.1)).verdict, Verdict::kNoise) << "a gain within the noise";
  EXPECT_EQ(decide(timing_of(2, 1, 1.1, 0.1, 0)).verdict, Verdict::kSlower);
  EXPECT_EQ(decide(timing_of(2, 1, 0.5, 0.6, 0)).verdict, Verdict::kImpossible);
  Timing uneven = timing_of(2, 1, 0.4, 0.1, 0.01);
  for (std::size_t i = 0; i < 10; ++i) uneven.shapes[0].candidate[i] *= 3;
  EXPECT_EQ(decide(uneven).verdict, Verdict::kNoise) << "two modes";
  Timing two = timing_of(1, 1, 0.5, 0.1, 0);
  two.shapes.push_back(timing_of(1, 1, 1.06, 0.1, 0).shapes[0]);
  EXPECT_EQ(decide(two).verdict, Verdict::kSlower) << "one shape lost more than 5 %";
}

/// Times of start and candidate for each kind of values; the last is not timed otherwise.
Timing timing_by_values(const std::vector<std::pair<double, double>>& seconds, double wobble = 0) {
  Timing timing = timing_of(2, 2, 1, 0.1, 0);
  for (const auto& [start, candidate] : seconds) {
    const Timing one = timing_of(start, 1, candidate, 0, wobble);
    timing.shapes[0].by_values.push_back({"some", one.shapes[0].start, one.shapes[0].candidate});
  }
  return timing;
}

TEST(Decision, TimesThatDependOnValuesAreNoneOfTheCase) {
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1}, {2, 1.05}})).verdict, Verdict::kAccepted);
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1.5}, {2, 1.5}})).verdict, Verdict::kInputDependent)
      << "fast on one kind of timed values";
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1}, {2, 1.5}})).verdict, Verdict::kInputDependent)
      << "fast on all timed values";
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1}, {3, 1.5}})).verdict, Verdict::kAccepted)
      << "the start kernel depends on them as well";
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1}, {1, 1}})).verdict, Verdict::kAccepted)
      << "it depends on them less than the start kernel";
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1}, {2, 0.5}})).verdict, Verdict::kAccepted)
      << "the others are slower";
  EXPECT_EQ(decide(timing_by_values({{2, 1}, {2, 1.15}}, 0.1)).verdict, Verdict::kAccepted) << "within the noise";
  EXPECT_NEAR(value_dependence(timing_by_values({{2, 1}, {2, 1}, {3, 1.8}}).shapes[0]), 1.2, 1e-9);
  Timing throttled = timing_by_values({{2, 1}, {2, 1}, {2, 1.15}});
  EXPECT_EQ(decide(throttled).verdict, Verdict::kInputDependent);
  for (ValueTimes& one : throttled.shapes[0].by_values) one.clock = 2e9;
  EXPECT_EQ(decide(throttled).verdict, Verdict::kInputDependent) << "at the same clock rate";
  throttled.shapes[0].by_values.back().clock = 1.75e9;
  EXPECT_EQ(decide(throttled).verdict, Verdict::kAccepted) << "the same cycles, at a rate that power held down";
  throttled.shapes[0].by_values.front().clock = 0;
  EXPECT_EQ(decide(throttled).verdict, Verdict::kInputDependent) << "a clock that is not known excuses nothing";
  EXPECT_FALSE(is_correct(Verdict::kInputDependent));
  EXPECT_EQ(verdict_of("INPUT_DEPENDENT"), Verdict::kInputDependent);
}

std::string ncu_line(const char* id, const char* metric, const char* value) {
  return std::string("\"") + id + "\",\"12\",\"k\",\"(256, 1, 1)\",\"" + metric + "\",\"\",\"" + value + "\"\n";
}

TEST(NcuProfile, EveryLaunchIsALineOfItsFigures) {
  const std::string head =
      "==PROF== Connected to process 12\n2 runs\n\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\","
      "\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const std::string csv =
      head + ncu_line("0", "gpu__time_duration.sum", "179,680") + ncu_line("0", "dram__bytes.sum", "171,912,345") +
      ncu_line("0", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "n/a") +
      ncu_line("1", "gpu__time_duration.sum", "1,500.5") + ncu_line("1", "launch__registers_per_thread", "168");
  EXPECT_EQ(text_of_ncu(csv, {"n=1, k", "n=2, k"}),
            "ncu: n=1, k: 179.68 us, 171.9 MB of memory traffic\nncu: n=2, k: 1.50 us, 168 registers a thread\n");
  EXPECT_EQ(text_of_ncu(csv, {"only one"}).substr(0, 14), "ncu: launch 1:");
  EXPECT_EQ(text_of_ncu("==ERROR== no permission\n", {}), "");
  EXPECT_EQ(text_of_ncu("\"Some\",\"Other\"\n\"1\",\"2\"\n", {}), "");
}

TEST(NcuProfile, WithoutItNothingIsSaid) {
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  ASSERT_EQ(setenv("PATH", "/absent", 1), 0);
  EXPECT_EQ(ncu_profile({"true"}, {}), "");
  ASSERT_EQ(setenv("PATH", path.c_str(), 1), 0);
}

}  // namespace
}  // namespace salient::workbench
