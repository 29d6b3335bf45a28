// tests/workbench/problems_test.cpp - which sizes a check runs: every remainder of every size, by construction.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/workbench/bench_support.h"
#include "workbench/ledger/records.h"
#include "workbench/referee/problems.h"

namespace salient::workbench::test {
namespace {

constexpr std::int64_t kTurns = kRemainders;

/// Of each dim, the least and the largest size of hidden shapes.
std::map<std::string, DimRange> hidden_sizes(const Case& given, BackendKind backend) {
  std::map<std::string, DimRange> ranges;
  for (const ShapeSpec& shape : given.shapes) {
    if (shape.set != ShapeSet::kHidden || (!shape.backend.empty() && shape.backend != word_of(backend))) continue;
    for (const DimRange& dim : shape.dims) {
      DimRange& range = ranges.try_emplace(dim.name, dim).first->second;
      range.high = std::max(range.high, dim.high);
    }
  }
  return ranges;
}

/// As Referee::add_shape asks of shapes: what the inputs of a case can be.
void expect_sound(const Case& given, const ProblemSpec& spec) {
  std::size_t bytes = 0;
  for (const BufferSpec& buffer : given.buffers) {
    const std::int64_t count = evaluate(buffer.count, spec.dims);
    ASSERT_GE(count, 0) << given.name << " " << text_of(spec);
    bytes += static_cast<std::size_t>(count) * bytes_of(buffer.type);
    const std::int64_t limit = buffer.limit.empty() ? 1 : evaluate(buffer.limit, spec.dims);
    EXPECT_TRUE(buffer.fill != Fill::kIndex || count == 0 || limit > 0) << given.name << " " << text_of(spec);
    EXPECT_TRUE(buffer.fill != Fill::kIndptr || count > 1 || limit == 0) << given.name << " " << text_of(spec);
  }
  EXPECT_LE(bytes, std::size_t{1} << 20) << given.name << " " << text_of(spec);
}

void expect_every_remainder(const Case& given, BackendKind backend, std::uint64_t seed) {
  const std::vector<ProblemSpec> swept = swept_problems(given, backend, seed);
  for (const ProblemSpec& spec : swept) expect_sound(given, spec);
  for (const auto& [name, range] : hidden_sizes(given, backend)) {
    std::map<std::int64_t, int> met;
    std::set<std::int64_t> values;
    for (const ProblemSpec& spec : swept) {
      const std::int64_t value = spec.dims.at(name);
      EXPECT_TRUE(value >= range.low && value <= range.high) << given.name << " " << text_of(spec);
      ++met[value % kTurns];
      values.insert(value);
    }
    EXPECT_EQ(static_cast<std::int64_t>(met.size()), std::min(kTurns, range.high - range.low + 1))
        << given.name << ", " << word_of(backend) << ": " << name;
    if (range.high < 1000 || given.dims.size() > 1) continue;
    for (const std::int64_t edge : {255, 256, 257, 511, 512, 513, 1023, 1025, 32767, 32769, 65535, 65536, 65537})
      EXPECT_TRUE(values.contains(edge)) << given.name << ": " << name << "=" << edge;
    const auto large = std::count_if(values.begin(), values.end(), [](std::int64_t value) { return value > 2000; });
    EXPECT_GT(large, 80) << given.name << ": larger sizes of a remainder";
  }
}

TEST(Problems, EveryRemainderOfEverySizeIsSwept) {
  for (const Case& given : load_cases(cases_folder())) expect_every_remainder(given, BackendKind::kHost, 1);
  for (const char* name : {"softsign", "matmul_bf16", "gat_aggregate", "fused_add_rmsnorm"})
    for (const std::uint64_t seed : {2U, 3U})
      expect_every_remainder(load_case(cases_folder(), name), BackendKind::kCuda, seed);
}

TEST(Problems, PromotionHasEveryRemainderInEveryRange) {
  for (const Case& given : load_cases(cases_folder())) {
    const std::vector<ProblemSpec> all = problems_of_all_remainders(given, BackendKind::kHost, 7);
    for (const ShapeSpec& shape : given.shapes) {
      if (shape.set != ShapeSet::kHidden || shape.backend == "cuda") continue;
      for (const DimRange& dim : shape.dims) {
        std::set<std::int64_t> met;
        for (const ProblemSpec& spec : all)
          if (const std::int64_t value = spec.dims.at(dim.name); value >= dim.low && value <= dim.high)
            met.insert(value % kTurns);
        EXPECT_EQ(static_cast<std::int64_t>(met.size()), std::min(kTurns, dim.high - dim.low + 1))
            << given.name << ": " << dim.name << " from " << dim.low;
      }
    }
  }
}

TEST(Problems, DrawsThatFollowEachOtherHaveAllRemaindersByAPowerOfTwo) {
  const Case given = load_case(cases_folder(), "softsign");  // six patterns and more: four draws of each range
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    std::map<std::int64_t, std::set<std::int64_t>> met;  // by the largest size of a range
    for (const ProblemSpec& spec : problems_of(given, BackendKind::kHost, {}, seed))
      if (spec.set == ShapeSet::kHidden)
        met[spec.dims.at("n") <= 70000 ? 1 : spec.dims.at("n") <= 1000000 ? 2 : 3].insert(spec.dims.at("n") % 4);
    EXPECT_EQ(met.size(), 3U);
    for (const auto& [range, remainders] : met) EXPECT_EQ(remainders.size(), 4U) << "seed " << seed;
  }
}

TEST(Problems, ARecordSaysByWhichRuleItsSizesWereChosen) {
  Assessment made;
  Json json = json_of(made);
  EXPECT_EQ(json.at("size_rule"), kSizeRule);
  EXPECT_EQ(assessment_of(json).size_rule, kSizeRule);
  json.erase("size_rule");
  EXPECT_EQ(assessment_of(json).size_rule, 1) << "of a record that names none";
}

}  // namespace
}  // namespace salient::workbench::test
