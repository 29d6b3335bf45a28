// tests/models/kernels/transpose_test.cpp - a hop's edges grouped by source are the same edges, in order.
#include "models/kernels/transpose.h"

#include <gtest/gtest.h>

#include "tests/support/hops.h"

namespace salient {
namespace {

TEST(Transpose, ListsEveryEdgeUnderItsSourceInOrder) {
  const test::OwnedHop hop = test::random_hop(30, 20, 5, 13);
  const TransposedHop by_source = transpose(hop.edges());
  ASSERT_EQ(by_source.destination.size(), hop.indices.size());
  for (std::size_t j = 0; j < 20; ++j)
    for (LocalId at = by_source.indptr[j]; at < by_source.indptr[j + 1]; ++at) {
      const LocalId e = by_source.edge[static_cast<std::size_t>(at)];
      const auto i = static_cast<std::size_t>(by_source.destination[static_cast<std::size_t>(at)]);
      EXPECT_EQ(hop.indices[static_cast<std::size_t>(e)], static_cast<LocalId>(j));
      EXPECT_TRUE(hop.indptr[i] <= e && e < hop.indptr[i + 1]);
      if (at > by_source.indptr[j]) {
        EXPECT_LT(by_source.edge[static_cast<std::size_t>(at) - 1], e);
      }
    }
}

}  // namespace
}  // namespace salient
