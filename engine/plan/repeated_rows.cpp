// engine/plan/repeated_rows.cpp - see repeated_rows.h. docs/BENCHMARKS.md, "Eager or resident", has the measurements.
#include "engine/plan/repeated_rows.h"

#include <algorithm>
#include <cmath>

#include "core/number_text.h"
#include "models/describe/costs.h"

namespace salient {
namespace {

// Of one H200. On a slower GPU repeats cost more, on a slower host launches do: the choice is one of a factor of two.
constexpr double kBytesPerSecond = 4e12;       // of rows in random order
constexpr double kSavedByTraining = 1e-3;      // s a step
constexpr double kSavedByPrediction = 0.5e-3;  // s a batch; not measured: half as many launches

double operations_per_second(Precision precision) {
  switch (precision) {
    case Precision::kFp32: return 50e12;
    case Precision::kTf32: return 200e12;
    case Precision::kBf16: return 600e12;
  }
  return 0;
}

/// Rows of a batch: those that the first layer computes, and those that it reads.
struct TreeRows {
  double computed, read;
};

/// With the data set's mean degree at every node: more than there are where degrees are uneven.
TreeRows tree_rows(const ResidentSpec& spec, const Dataset& dataset) {
  const double mean_degree = static_cast<double>(dataset.num_edges()) / static_cast<double>(dataset.num_nodes());
  TreeRows rows{.computed = 0, .read = static_cast<double>(spec.max_seeds)};
  for (const int fanout : spec.rule.fanouts) {
    rows.computed = rows.read;
    rows.read *= 1 + std::min(static_cast<double>(fanout), mean_degree);
  }
  return rows;
}

/// How many of `rows` are there a second time at least.
double repeated(double rows, const Dataset& dataset) {
  return std::max(0.0, rows - static_cast<double>(dataset.num_nodes()));
}

/// The first layer's forward pass, over those rows.
double operations(const ModelOptions& model, const TreeRows& rows) {
  double sum = 0;
  for (const RowProduct& product : products_of(describe(model), ProductOrder::kSumsFirst))
    if (product.layer == 0)
      sum += (product.rows == RowSet::kSources ? rows.read : rows.computed) * 2 *
             static_cast<double>(product.in * product.out);
  return sum;
}

}  // namespace

std::string cost_of_repeated_rows(const ResidentSpec& spec, const Dataset& dataset, Gradients gradients) {
  const bool is_training = gradients == Gradients::kAll;
  const TreeRows rows = tree_rows(spec, dataset);
  const TreeRows again{repeated(rows.computed, dataset), repeated(rows.read, dataset)};
  const double row_bytes = static_cast<double>(dataset.features.row_bytes);
  // The gradient of the first layer's weight is as large a product as the layer itself; features have none.
  const double seconds = again.read * row_bytes / kBytesPerSecond + (is_training ? 2 : 1) *
                                                                        operations(model_of(spec, dataset), again) /
                                                                        operations_per_second(spec.numerics.precision);
  if (seconds <= (is_training ? kSavedByTraining : kSavedByPrediction)) return {};
  return "a resident batch would compute " + std::to_string(std::llround(rows.computed)) + " rows of " +
         std::to_string(dataset.feature_dim) + " columns where the graph has " + std::to_string(dataset.num_nodes()) +
         ", which takes some " + fixed(seconds * 1e3, 1) + " ms longer than each node once";
}

}  // namespace salient
