// tests/support/played_exclusions.h - DeviceExclusions as the kernels of exclusion_memory.cu make them, by loops.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "sampler/device_exclusions.h"

namespace salient::test {

class PlayedExclusions {
 public:
  PlayedExclusions(const DeviceCsr& graph, std::vector<EntryKey> keys) : keys_(std::move(keys)) {
    std::ranges::sort(keys_);
    const auto count = static_cast<std::uint32_t>(keys_.size());
    log_size_ = std::countr_zero(std::bit_ceil(std::max<std::uint32_t>(2 * count, 64)));
    slots_.assign(std::size_t{1} << log_size_, {DeviceExclusions::kFree, 0, 0});
    before_.push_back(0);
    for (std::uint32_t i = 0; i < count; ++i) {
      const ExcludedRun run = run_of_key(graph, keys_.data(), i);
      first_.push_back(run.first);
      before_.push_back(before_.back() + run.length);
      if (!begins_row(keys_.data(), i)) continue;
      std::uint32_t at = DeviceExclusions::slot_of(row_of(keys_[i]), log_size_);
      while (slots_[at].row != DeviceExclusions::kFree) at = DeviceExclusions::after(at, log_size_);
      slots_[at] = {row_of(keys_[i]), i, end_of_row(keys_.data(), count, i)};
    }
  }
  PlayedExclusions(const PlayedExclusions&) = delete;
  PlayedExclusions& operator=(const PlayedExclusions&) = delete;

  DeviceExclusions view() const { return {slots_.data(), log_size_, first_.data(), before_.data()}; }

 private:
  std::vector<EntryKey> keys_;
  std::vector<std::uint32_t> first_{}, before_{};
  std::vector<DeviceExclusions::Slot> slots_{};
  int log_size_ = 0;
};

}  // namespace salient::test
