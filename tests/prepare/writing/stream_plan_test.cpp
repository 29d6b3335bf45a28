// tests/prepare/writing/stream_plan_test.cpp - what fits is planned, what does not is refused with figures.
#include "prepare/writing/stream_plan.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "prepare/writing/edge_buckets.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(StreamPlan, RefusesTooLittleMemoryAndSaysWhatIsNeeded) {
  const StreamSize papers{.num_nodes = 111'059'956, .num_keys = 3'231'371'744, .row_bytes = 256, .num_threads = 16};
  EXPECT_COMPLAINT(plan_stream(papers, 500'000'000, "papers"), ErrorKind::kHostMemory,
                   "papers: needs at least 0.62 GB of memory, 0.50 GB are allowed");
  for (const std::uint64_t gb : {1U, 2U, 8U, 64U}) {
    const StreamPlan plan = plan_stream(papers, gb * 1'000'000'000, "papers");
    EXPECT_LT(plan.sort_bytes, gb * 1'000'000'000);
    EXPECT_LE(plan.num_buckets * plan.buffer_keys * 8, plan.sort_bytes);
    EXPECT_GE(plan.buffer_keys, 1024U);
    EXPECT_GT(plan.disk_bytes, 55'000'000'000U);  // features 28.4 GB, keys 25.9, indptr and labels 1.3
    EXPECT_LT(plan.disk_bytes, 69'000'000'000U);
    EXPECT_LE(sort_bytes(papers.num_keys, papers.num_nodes) / plan.num_buckets, plan.sort_bytes / 2);
  }
}

}  // namespace
}  // namespace salient
