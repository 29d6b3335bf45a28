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

void Shards::join(std::span<const Descriptor> parts) {
  require(parts.size() == num_shards_, "a part of each process");
  std::byte* const range = memory_->reserve(num_shards_ * shard_bytes_);
  for (std::size_t i = 0; i < num_shards_; ++i) memory_->map(parts[i], range + i * shard_bytes_, shard_bytes_);
  table_.data = range;
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
