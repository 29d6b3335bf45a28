// prepare/writing/edge_buckets.cpp - see edge_buckets.h.
#include "prepare/writing/edge_buckets.h"

#include <fcntl.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/free_memory.h"
#include "core/host/interrupt.h"
#include "prepare/formats/input_file.h"
#include "prepare/writing/scatter_rows.h"
#include "store/csr_rows.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBlockKeys = std::uint64_t{32} << 10;
constexpr std::uint64_t kMaxKeys = 0xFFFFFFFF;  // of a slice, so that row lengths fit

/// Calls use(span of keys) for every block of the file.
class BucketReader {
 public:
  explicit BucketReader(const EdgeBucket& bucket) : file_(bucket.file), count_(bucket.count) {}

  template <class Use>
  void for_each_block_in_parallel(Use use) {
    oneapi::tbb::parallel_for(std::uint64_t{0}, (count_ + kBlockKeys - 1) / kBlockKeys, [&](std::uint64_t b) {
      stop_if_interrupted();
      use(read(b, blocks_.local()));
    });
  }
  template <class Use>
  void for_each_block_in_order(Use use) {
    for (std::uint64_t b = 0; b * kBlockKeys < count_; ++b) {
      stop_if_interrupted();
      use(read(b, blocks_.local()));
    }
  }

 private:
  std::span<const std::uint64_t> read(std::uint64_t b, std::vector<std::uint64_t>& block) const {
    block.resize(static_cast<std::size_t>(std::min(kBlockKeys, count_ - b * kBlockKeys)));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(block));
    if (file_.read_at(b * kBlockKeys * sizeof(std::uint64_t), bytes) != bytes.size())
      fail(ErrorKind::kIo, file_.path().string() + ": became shorter while it was used");
    return block;
  }

  const InputFile file_;
  const std::uint64_t count_;
  oneapi::tbb::enumerable_thread_specific<std::vector<std::uint64_t>> blocks_;
};

std::uint64_t num_rows_of(const EdgeBucket& bucket) {
  return std::uint64_t{row_of_key(bucket.last)} - row_of_key(bucket.first) + 1;
}

CsrArrays sorted_rows(const EdgeBucket& bucket, Progress& progress) {
  const NodeId first_row = row_of_key(bucket.first);
  BucketReader reader(bucket);
  UnsetHugeVector<NodeId> filled;
  CsrArrays rows = scatter_rows(static_cast<std::size_t>(num_rows_of(bucket)), filled, [&](auto use) {
    reader.for_each_block_in_parallel([&](std::span<const std::uint64_t> keys) {
      for (const std::uint64_t key : keys) use(row_of_key(key) - first_row, static_cast<NodeId>(key));
    });
  });
  tidy_rows(rows, filled, first_row, progress);
  return rows;
}

/// All keys are equal, however many.
CsrArrays single_entry(const EdgeBucket& bucket) {
  CsrArrays rows;
  rows.indptr = {0, 1};
  rows.indices = {static_cast<NodeId>(bucket.first)};
  rows.self_loops = row_of_key(bucket.first) == static_cast<NodeId>(bucket.first);
  rows.duplicates = bucket.count - 1;
  return rows;
}

std::vector<EdgeBucket> split(const EdgeBucket& bucket, std::size_t memory_bytes) {
  constexpr unsigned kParts = 64;
  const std::size_t buffer_keys =
      std::clamp<std::size_t>(memory_bytes / kParts / sizeof(std::uint64_t), 1, std::size_t{1} << 17);
  EdgeBuckets parts(bucket.file.string() + "-", bucket.first, bucket.last, kParts, buffer_keys);
  BucketReader(bucket).for_each_block_in_order([&](std::span<const std::uint64_t> keys) {
    for (const std::uint64_t key : keys) parts.add(key);
  });
  return parts.close();
}

}  // namespace

EdgeBuckets::EdgeBuckets(const fs::path& prefix, std::uint64_t first, std::uint64_t last, unsigned max_buckets,
                         std::size_t buffer_keys)
    : first_(first), buffer_keys_(buffer_keys) {
  require(first <= last && max_buckets >= 2 && max_buckets <= kMaxBuckets && buffer_keys > 0, "keys find a bucket");
  while ((last - first) >> shift_ >= max_buckets) ++shift_;
  const auto num_buckets = static_cast<std::size_t>((last - first) >> shift_) + 1;
  buffers_.resize(num_buckets * buffer_keys);
  open_.resize(num_buckets);
  for (std::size_t b = 0; b < num_buckets; ++b) {
    const std::uint64_t begin = first + (std::uint64_t{b} << shift_);
    const std::uint64_t length = (std::uint64_t{1} << shift_) - 1;
    open_[b].bucket = {.file = prefix.string() + std::to_string(b),
                       .first = begin,
                       .last = last - begin < length ? last : begin + length};
    open_[b].buffer = buffers_.data() + b * buffer_keys;
  }
}

void EdgeBuckets::flush(Open& open) {
  const fs::path& path = open.bucket.file;
  if (!open.file) open.file = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!open.file) fail_with_errno(path, "create");
  write_all(path, open.file, std::as_bytes(std::span(open.buffer, open.buffered)));
  open.bucket.count += std::exchange(open.buffered, 0);
}

std::vector<EdgeBucket> EdgeBuckets::close() {
  std::vector<EdgeBucket> used;
  for (Open& open : open_) {
    if (open.buffered > 0) flush(open);
    if (!open.file) continue;
    if (!open.file.close()) fail_with_errno(open.bucket.file, "close");
    used.push_back(open.bucket);
  }
  open_.clear();
  free_memory_of(buffers_);
  return used;
}

void sort_bucket(const EdgeBucket& bucket, std::size_t memory_bytes, Progress& progress, const UseRows& use) {
  require(memory_bytes >= kMinSortBytes, "there is memory to sort with");
  if (bucket.first == bucket.last) {
    progress.add(bucket.count);
    use(row_of_key(bucket.first), single_entry(bucket));
  } else if (bucket.count <= kMaxKeys && sort_bytes(bucket.count, num_rows_of(bucket)) <= memory_bytes) {
    use(row_of_key(bucket.first), sorted_rows(bucket, progress));
  } else {
    const std::vector<EdgeBucket> parts = split(bucket, memory_bytes);
    fs::remove(bucket.file);
    for (const EdgeBucket& part : parts) sort_bucket(part, memory_bytes, progress, use);
    return;
  }
  fs::remove(bucket.file);
}

}  // namespace salient
