// loaders/shards.cpp - see shards.h.
#include "loaders/shards.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace salient {

Shards::Shards(std::unique_ptr<ShardMemory> memory, RowTable table, int shard, int num_shards)
    : memory_(std::move(memory)),
      table_(table),
      shard_bytes_(shard_bytes(table.num_rows * table.row_bytes, num_shards)),
      shard_(static_cast<std::size_t>(shard)),
      num_shards_(static_cast<std::size_t>(num_shards)),
      own_(memory_->allocate(shard_bytes_)) {
  require(shard >= 0 && shard < num_shards, "a shard is one of them");
  table_.data = nullptr;
}

void Shards::join(std::span<const Descriptor> parts, std::size_t num_near) {
  require(parts.size() == num_shards_, "a part of each process");
  const std::size_t table_bytes = num_shards_ * shard_bytes_;
  // The first may begin a row behind the table's end, so that it has a number.
  const std::size_t near_bytes = num_near == 0 ? 0 : shard_bytes((num_near + 1) * table_.row_bytes, 1);
  std::byte* const range = memory_->reserve(table_bytes + near_bytes);
  for (std::size_t i = 0; i < num_shards_; ++i) memory_->map(parts[i], range + i * shard_bytes_, shard_bytes_);
  table_.data = range;
  if (near_bytes == 0) return;
  require(near_row() + num_near <= std::size_t{1} << 32, "rows have numbers of 32 bits");
  memory_->map(memory_->allocate(near_bytes), range + table_bytes, near_bytes);
}

NodeId Shards::near_row() const {
  return static_cast<NodeId>((num_shards_ * shard_bytes_ + table_.row_bytes - 1) / table_.row_bytes);
}

Shards::Rows Shards::own_rows() const {
  if (table_.row_bytes == 0) return {};
  const auto first_from = [&](std::size_t at) {
    return std::min(table_.num_rows, (at + table_.row_bytes - 1) / table_.row_bytes);
  };
  const std::size_t first = first_from(shard_ * shard_bytes_);
  return {first, first_from((shard_ + 1) * shard_bytes_) - first};
}

}  // namespace salient
