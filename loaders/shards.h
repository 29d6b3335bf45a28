// loaders/shards.h - feature rows in one range of addresses, of which several processes of a host hold a part each.
// Needs no CUDA toolkit to include.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/host/descriptor.h"
#include "store/row_table.h"

namespace salient {

/// Parts are whole pages of this size, whatever memory they are in.
inline constexpr std::size_t kShardPage = std::size_t{2} << 20;

/// Of each part of `bytes`; all are equal, and the last ones may hold nothing.
constexpr std::size_t shard_bytes(std::size_t bytes, int num_shards) {
  const std::size_t pages = (bytes + kShardPage - 1) / kShardPage, shards = static_cast<std::size_t>(num_shards);
  return std::max<std::size_t>(1, (pages + shards - 1) / shards) * kShardPage;
}

/// Memory of which processes can map a part: a GPU's, or in tests the host's. Sizes are whole pages.
class ShardMemory {
 public:
  virtual ~ShardMemory() = default;

  /// A part of this process'. @return  by which it is mapped, here and by others
  virtual Descriptor allocate(std::size_t bytes) = 0;

  /// Addresses without memory behind them. Once.
  virtual std::byte* reserve(std::size_t bytes) = 0;

  /// Puts a part behind a piece of the reserved addresses. The part lives as long as anyone has it mapped.
  virtual void map(const Descriptor& part, std::byte* at, std::size_t bytes) = 0;
};

/// Of the current device. @throws Error{kNoDevice} in a CPU build; its members Error{kDeviceMemory} or Error{kNoDevice}
std::unique_ptr<ShardMemory> make_device_shard_memory();

/// The current device, as other processes know it.
std::string name_of_current_gpu();

/// How the current device reads the memory of others.
struct PeerReach {
  std::string obstacle{};   ///< why it cannot; "" = it can
  std::string slow_link{};  ///< why it is slow; "" = by NVLink
};

/// @param gpus  of name_of_current_gpu()
PeerReach reach_of_current_gpu(std::span<const std::string> gpus);

/// Writes rows first to first + count - 1. Many threads at a time.
using RowWriter = std::function<void(std::size_t first, std::size_t count, std::byte* out)>;

/// All rows of a table at consecutive addresses, though the memory behind them is that of several GPUs: whose it is
/// decides the page table, and what reads a row need not know. A row may lie in two parts.
class Shards {
 public:
  struct Rows {
    std::size_t first = 0, count = 0;
  };

  /// Allocates part `shard` of `num_shards`.
  /// @param table  whose rows; its data is not looked at
  Shards(std::unique_ptr<ShardMemory> memory, RowTable table, int shard, int num_shards);

  /// Of this process' part, for the others.
  const Descriptor& descriptor() const { return own_; }

  /// Maps all parts, and memory of this process' behind them.
  /// @param parts     [num_shards] one of each process; may be closed afterwards
  /// @param num_near  rows that there is to be room for behind the table, from near_row() on
  void join(std::span<const Descriptor> parts, std::size_t num_near = 0);

  /// The number of the first row of this process' own behind the table.
  NodeId near_row() const;

  /// Rows that start in this process' part: what it is to write, after all have joined.
  Rows own_rows() const;

  /// All rows, after join().
  RowTable table() const { return table_; }

 private:
  std::unique_ptr<ShardMemory> memory_;
  RowTable table_;
  std::size_t shard_bytes_;
  std::size_t shard_, num_shards_;
  Descriptor own_;
};

}  // namespace salient
