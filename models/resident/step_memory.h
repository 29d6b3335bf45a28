// models/resident/step_memory.h - matrices over the levels of a tree: their sizes, and the memory of a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"

namespace salient {

/// How many rows a matrix has: those of a level, or several for each of them.
struct RowCount {
  std::size_t level;
  std::int64_t per_node = 1;
};

/// Row-major, in device memory, with room for the level's capacity.
struct Matrix {
  std::byte* data = nullptr;
  std::int64_t width = 0;  ///< a multiple of 8
  RowCount height{};
  ActivationType type{};
  std::int64_t turn = 0;  ///< bytes from one batch's rows to the next one's, where two batches have some; 0: one has

  /// Of the batch in tree `tree`: batches have their rows in turns.
  Matrix of(std::size_t tree) const {
    Matrix mine = *this;
    if (tree % 2 == 1 && data != nullptr) mine.data += turn;
    mine.turn = 0;
    return mine;
  }

  template <class T>
  SALIENT_HOST_DEVICE T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

/// Shares of a level's capacity, ascending, the last one 1. Of a graph with few neighbours a node, or of one that is
/// smaller than the fanouts' product, a small part of the capacity is filled. Batches of papers100M's size fill 0.67 of
/// theirs, with a deviation of 0.012.
inline constexpr double kTrainingShares[] = {1.0 / 16,  2.0 / 16,  3.0 / 16,  4.0 / 16,  5.0 / 16,  6.0 / 16,
                                             7.0 / 16,  8.0 / 16,  9.0 / 16,  10.0 / 16, 11.0 / 16, 12.0 / 16,
                                             13.0 / 16, 14.0 / 16, 15.0 / 16, 1};
inline constexpr double kPredictionShares[] = {1.0 / 8, 2.0 / 8, 3.0 / 8, 4.0 / 8, 5.0 / 8, 6.0 / 8, 7.0 / 8, 1};

/// Numbers of rows that a step may compute, ascending, as a kernel's argument.
struct RowChoices {
  static constexpr std::size_t kMost = std::size(kTrainingShares);
  std::int64_t of[kMost];
  unsigned count;

  /// The smallest that is no less than `rows`; the last one of more rows.
  SALIENT_HOST_DEVICE unsigned index_for(LocalId rows) const {
    unsigned choice = 0;
    while (choice + 1 < count && rows > of[choice]) ++choice;
    return choice;
  }
};

/// These shares in whole tiles of products, each size once.
std::vector<std::int64_t> row_choices(std::int64_t capacity, std::span<const double> shares);

/// Rows that a step computes. The last level is nearly as large as all others together, and seldom full: its products
/// come in several sizes, of which the GPU takes the smallest that is large enough (step_graph.h).
class Levels {
 public:
  Levels(const std::vector<int>& fanouts, std::int64_t max_seeds, bool has_size_choice);

  std::size_t last() const { return capacities_.size() - 1; }
  const std::vector<std::int64_t>& choices() const { return choices_; }
  RowChoices choices_for_kernel() const;  ///< the same
  std::int64_t capacity(RowCount height) const { return capacities_[height.level] * height.per_node; }
  std::int64_t rows(RowCount height, std::size_t choice) const {
    return (height.level == last() ? choices_[choice] : capacities_[height.level]) * height.per_node;
  }

 private:
  std::vector<std::int64_t> capacities_, choices_;
};

/// Device memory that lives as long as the step. Counts its bytes, and may do nothing else.
class StepMemory {
 public:
  enum class Use : std::uint8_t {
    kAllocate,
    kCount,  ///< all pointers are null
  };
  explicit StepMemory(Use use) : use_(use) {}

  bool is_counting() const { return use_ == Use::kCount; }
  std::int64_t bytes() const { return bytes_; }

  /// All zeros: what timing runs of products read must be numbers. @throws Error{kDeviceMemory}
  std::byte* allocate(std::int64_t bytes);
  template <class T>
  T* array(std::int64_t count) {
    return reinterpret_cast<T*>(allocate(count * static_cast<std::int64_t>(sizeof(T))));
  }

 private:
  Use use_;
  std::int64_t bytes_ = 0;
  std::vector<DeviceArray<std::byte>> arrays_;
};

}  // namespace salient
