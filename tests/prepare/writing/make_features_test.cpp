// tests/prepare/writing/make_features_test.cpp - made features say what they should: degrees, draws, places.
#include "prepare/writing/make_features.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/host/interrupt.h"
#include "prepare/writing/csr_builder.h"

namespace salient {
namespace {

std::vector<float> made(const CsrArrays& graph, const char* recipe, std::uint32_t seed = 0) {
  const RawFeatures features = make_features(graph.view(), *feature_recipe(recipe), FeatureType::kF32, seed, {});
  std::vector<float> values(features.rows.size() / sizeof(float));
  std::memcpy(values.data(), features.rows.data(), features.rows.size());
  EXPECT_EQ(values.size(), graph.view().num_nodes() * static_cast<std::size_t>(features.dim));
  return values;
}

/// Two cliques of 20 nodes, joined by one edge; node 40 has no edge.
CsrArrays barbell() {
  std::vector<NodeId> sources, destinations;
  for (NodeId first : {0U, 20U})
    for (NodeId a = first; a < first + 20; ++a)
      for (NodeId b = first; b < a; ++b) sources.push_back(a), destinations.push_back(b);
  sources.push_back(19), destinations.push_back(20);
  return build_csr(41, sources, destinations, EdgeDirections::kBoth);
}

/// Ends the process: 7 if `work` sees the signal that came before it.
template <class Work>
[[noreturn]] void work_after_a_signal(Work work) {
  install_interrupt_handlers();
  (void)std::raise(SIGTERM);
  try {
    work();
  } catch (const Interrupted&) {
    std::_Exit(7);
  }
  std::_Exit(0);
}

TEST(MakeFeatures, ASignalEndsThemAndTheBuildingOfTheirGraph) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(work_after_a_signal([] { (void)barbell(); }), ::testing::ExitedWithCode(7), "");
  for (const char* recipe : {"degree", "random:4", "positional:4"}) {
    const CsrArrays graph = barbell();
    EXPECT_EXIT(work_after_a_signal([&] { (void)made(graph, recipe); }), ::testing::ExitedWithCode(7), "") << recipe;
  }
}

TEST(FeatureRecipe, IsAWordAndAWidth) {
  EXPECT_EQ(feature_recipe("none"), FeatureRecipe{});
  EXPECT_EQ(feature_recipe("degree"), (FeatureRecipe{MadeFeatures::kDegree, 0}));
  EXPECT_EQ(feature_recipe("random:64"), (FeatureRecipe{MadeFeatures::kRandom, 64}));
  EXPECT_EQ(text_of({MadeFeatures::kPositional, 8}), "positional:8");
  for (const char* text : {"", "degrees", "degree:3", "random", "random:", "random:0", "positional:-1", "random:4097",
                           "positional:8x", "none:1"})
    EXPECT_FALSE(feature_recipe(text).has_value()) << text;
}

TEST(MakeFeatures, DegreesAreTheirLogarithmAndLength) {
  const std::vector<float> rows = made(barbell(), "degree");  // degrees 19, 20 and 0: columns 0, and 0 to 5 digits
  const std::size_t width = rows.size() / 41;
  ASSERT_EQ(width, 7u);
  EXPECT_FLOAT_EQ(rows[0], std::log2(20.0F) / std::log2(21.0F));
  EXPECT_EQ(rows[0 * width + 6], 1);
  EXPECT_EQ(rows[19 * width], 1);
  EXPECT_EQ(rows[40 * width], 0);
  EXPECT_EQ(rows[40 * width + 1], 1);
  for (std::size_t v = 0; v < 41; ++v) {
    float sum = 0;
    for (std::size_t j = 1; j < width; ++j) sum += rows[v * width + j];
    EXPECT_EQ(sum, 1) << v;
  }
}

TEST(MakeFeatures, DrawsHaveMeanZeroAndDeviationOne) {
  const CsrArrays graph = build_csr(5000, {0}, {1}, EdgeDirections::kBoth);
  const std::vector<float> rows = made(graph, "random:10");
  double sum = 0, squares = 0;
  for (const float value : rows) sum += value, squares += double{value} * value;
  EXPECT_NEAR(sum / 50'000, 0, 0.02);
  EXPECT_NEAR(squares / 50'000, 1, 0.02);
  EXPECT_EQ(made(graph, "random:10"), rows);
  EXPECT_NE(made(graph, "random:10", 1), rows);
}

/// The second eigenvector of a barbell has one sign on each bell; it solves its equation.
TEST(MakeFeatures, PositionsTellTheBellsApart) {
  const CsrArrays graph = barbell();
  const std::vector<float> rows = made(graph, "positional:3");
  for (NodeId v = 0; v < 40; ++v) EXPECT_GT(rows[v * 3] * rows[v / 20 * 60], 0) << v;
  EXPECT_LT(rows[0] * rows[39 * 3], 0);
  double squares = 0, product = 0;
  const CsrGraph view = graph.view();
  for (NodeId v = 0; v < 40; ++v) {
    squares += double{rows[v * 3]} * rows[v * 3];
    for (const NodeId u : view.row(v))
      product += double{rows[v * 3]} * rows[u * 3] / std::sqrt(static_cast<double>(view.degree(v)) * view.degree(u));
  }
  EXPECT_NEAR(product / squares, 0.9949, 0.002) << "its eigenvalue: 1 less about 2 of 381 edge ends";
  EXPECT_NEAR(squares + double{rows[120]} * rows[120], 41, 0.01) << "times sqrt(V)";
  for (const float value : rows) EXPECT_TRUE(std::isfinite(value));
}

TEST(MakeFeatures, AnyNumberOfThreadsGivesTheSame) {
  std::vector<NodeId> sources, destinations;
  for (NodeId v = 0; v < 20'000; ++v) sources.push_back(v), destinations.push_back(v * 7 % 20'000);
  const CsrArrays graph = build_csr(20'000, sources, destinations, EdgeDirections::kBoth);
  for (const char* recipe : {"degree", "random:5", "positional:5"}) {
    std::vector<float> one, four;
    oneapi::tbb::task_arena(1).execute([&] { one = made(graph, recipe); });
    oneapi::tbb::task_arena(4).execute([&] { four = made(graph, recipe); });
    EXPECT_EQ(one, four) << recipe;
  }
}

TEST(MakeFeatures, MorePositionsThanThereAreStayFinite) {
  const CsrArrays graph = build_csr(3, {0}, {1}, EdgeDirections::kBoth);
  for (const float value : made(graph, "positional:8")) EXPECT_TRUE(std::isfinite(value) && std::fabs(value) < 2);
}

}  // namespace
}  // namespace salient
