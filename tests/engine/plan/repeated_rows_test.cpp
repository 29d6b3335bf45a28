// tests/engine/plan/repeated_rows_test.cpp - on which graphs a tree of sampled nodes is too large, by measurements.
#include "engine/plan/repeated_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace salient {
namespace {

/// As many nodes, entries and columns as a data set has; nothing reads them.
struct Sizes {
  std::int64_t nodes, entries;
  int columns, column_bytes;
};

constexpr Sizes kBags{18000, 143738, 6800, 2}, kPhoto{7650, 238162, 745, 2}, kComputers{13752, 491722, 767, 2},
    kWordNet{117659, 285946, 1024, 2}, kArxiv{169343, 2265886, 128, 2}, kProducts{2449029, 123000000, 100, 2};

std::string cost(const Sizes& sizes, ModelKind kind, Precision precision, Gradients gradients = Gradients::kAll) {
  static const std::byte nothing{};
  Dataset dataset;
  const std::vector<EdgeOffset> ends(static_cast<std::size_t>(sizes.nodes) + 1);
  dataset.graph = {ends, {reinterpret_cast<const NodeId*>(&nothing), static_cast<std::size_t>(sizes.entries)}};
  dataset.feature_dim = sizes.columns;
  dataset.num_classes = 10;
  dataset.features.row_bytes = static_cast<std::size_t>(sizes.columns) * static_cast<std::size_t>(sizes.column_bytes);
  ResidentSpec spec{.rule = {{15, 10, 5}}, .max_seeds = 1024, .numerics = {.precision = precision}};
  spec.model.kind = kind;
  return cost_of_repeated_rows(spec, dataset, gradients);
}

TEST(RepeatedRows, AreTooManyWhereEagerStepsWereFaster) {
  for (const ModelKind kind : {ModelKind::kSage, ModelKind::kGcn, ModelKind::kGat}) {
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16})
      EXPECT_NE(cost(kBags, kind, precision), "") << name_of(kind);
    for (const Sizes& sizes : {kPhoto, kComputers}) {
      EXPECT_NE(cost(sizes, kind, Precision::kFp32), "") << name_of(kind);
      EXPECT_EQ(cost(sizes, kind, Precision::kBf16), "") << name_of(kind);
    }
    for (const Sizes& sizes : {kWordNet, kArxiv, kProducts})
      for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16})
        EXPECT_EQ(cost(sizes, kind, precision), "") << name_of(kind);
  }
}

TEST(RepeatedRows, AreNamedWithTheirNumberAndTheirTime) {
  const std::string reason = cost(kBags, ModelKind::kSage, Precision::kFp32);
  EXPECT_NE(reason.find("82676 rows of 6800 columns where the graph has 18000"), std::string::npos) << reason;
  EXPECT_NE(reason.find("ms longer than each node once"), std::string::npos) << reason;
}

TEST(RepeatedRows, CostPredictionsLessThanTraining) {
  const auto milliseconds = [](const std::string& reason) {
    return std::stod(reason.substr(reason.find("some ") + 5));
  };
  const std::string training = cost(kBags, ModelKind::kSage, Precision::kFp32),
                    prediction = cost(kBags, ModelKind::kSage, Precision::kFp32, Gradients::kNone);
  EXPECT_LT(milliseconds(prediction), 0.6 * milliseconds(training)) << prediction;
}

}  // namespace
}  // namespace salient
