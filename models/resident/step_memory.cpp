// models/resident/step_memory.cpp - see step_memory.h.
#include "models/resident/step_memory.h"

#include <algorithm>

namespace salient {
namespace {

/// Half, two thirds, five sixths, all, in whole tiles of products.
std::vector<std::int64_t> choices_of(std::int64_t capacity, bool has_size_choice) {
  if (!has_size_choice) return {capacity};
  std::vector<std::int64_t> choices;
  for (std::int64_t sixths = 3; sixths <= 6; ++sixths) {
    const std::int64_t rows = std::min(capacity, (capacity * sixths / 6 + 127) / 128 * 128);
    if (choices.empty() || rows > choices.back()) choices.push_back(rows);
  }
  return choices;
}

}  // namespace

Levels::Levels(const std::vector<int>& fanouts, std::int64_t max_seeds, bool has_size_choice)
    : capacities_(tree_capacities(fanouts, max_seeds)), choices_(choices_of(capacities_.back(), has_size_choice)) {}

std::byte* StepMemory::allocate(std::int64_t bytes) {
  bytes_ += bytes;
  if (is_counting()) return nullptr;
  arrays_.push_back(make_device_array<std::byte>(static_cast<std::size_t>(bytes)));
  cuda_check(cudaMemset(arrays_.back().get(), 0, static_cast<std::size_t>(bytes)));
  return arrays_.back().get();
}

}  // namespace salient
