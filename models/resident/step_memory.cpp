// models/resident/step_memory.cpp - see step_memory.h.
#include "models/resident/step_memory.h"

#include <algorithm>
#include <cmath>

namespace salient {

std::vector<std::int64_t> row_choices(std::int64_t capacity, std::span<const double> shares) {
  constexpr std::int64_t kTile = 128;
  std::vector<std::int64_t> choices;
  for (const double share : shares) {
    const auto wanted = static_cast<std::int64_t>(std::ceil(static_cast<double>(capacity) * share));
    const std::int64_t rows = std::min(capacity, (wanted + kTile - 1) / kTile * kTile);
    if (choices.empty() || rows > choices.back()) choices.push_back(rows);
  }
  return choices;
}

Levels::Levels(const std::vector<int>& fanouts, std::int64_t max_seeds, bool has_size_choice)
    : capacities_(tree_capacities(fanouts, max_seeds)),
      choices_(has_size_choice ? row_choices(capacities_.back(), kTrainingShares) : std::vector{capacities_.back()}) {}

RowChoices Levels::choices_for_kernel() const {
  RowChoices choices{{}, static_cast<unsigned>(choices_.size())};
  std::ranges::copy(choices_, choices.of);
  return choices;
}

std::byte* StepMemory::allocate(std::int64_t bytes) {
  bytes_ += bytes;
  if (is_counting()) return nullptr;
  arrays_.push_back(make_device_array<std::byte>(static_cast<std::size_t>(bytes)));
  cuda_check(cudaMemset(arrays_.back().get(), 0, static_cast<std::size_t>(bytes)));
  return arrays_.back().get();
}

}  // namespace salient
