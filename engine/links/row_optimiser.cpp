// engine/links/row_optimiser.cpp - see row_optimiser.h.
#include "engine/links/row_optimiser.h"

#include <algorithm>
#include <cmath>

#include "core/adam_row.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

constexpr float kAdagradEpsilon = 1e-10F;

struct RowParts {
  float* x;
  float* first;
  float* second;
  const float* gradient;
};

void adagrad_row(const RowOptimiser& how, const RowParts& row, std::int64_t width) {
  for (std::int64_t k = 0; k < width; ++k) {
    const float gradient = row.gradient[k] + how.weight_decay * row.x[k];
    row.second[k] += gradient * gradient;
    row.x[k] -= how.lr * gradient / (std::sqrt(row.second[k]) + kAdagradEpsilon);
  }
}

}  // namespace

RowMoments RowOptimiser::moments_of(const std::vector<float>& table) const {
  return {.first = std::vector<float>(rule == RowRule::kAdam ? table.size() : 0),
          .second = std::vector<float>(table.size())};
}

void RowOptimiser::step(std::vector<float>& table, std::int64_t width, const MovedRows& rows, const float* gradients,
                        RowMoments& moments) const {
  ++moments.steps;
  const AdamRowRates rates = AdamRowRates::of_step(static_cast<double>(moments.steps), lr, weight_decay);
  const std::int64_t count =
      rows.are_all ? std::ssize(table) / std::max<std::int64_t>(width, 1) : std::ssize(rows.numbers);
  for_each_item(count, 64, [&](std::int64_t i) {
    const std::int64_t at = (rows.are_all ? i : std::int64_t{rows.numbers[static_cast<std::size_t>(i)]}) * width;
    const RowParts row{table.data() + at, moments.first.empty() ? nullptr : moments.first.data() + at,
                       moments.second.data() + at, gradients + i * width};
    rule == RowRule::kAdam ? adam_row(rates, row.x, row.first, row.second, row.gradient, width)
                           : adagrad_row(*this, row, width);
  });
}

}  // namespace salient
