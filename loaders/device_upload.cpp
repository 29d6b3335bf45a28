// loaders/device_upload.cpp - see device_upload.h.
#include "loaders/device_upload.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/console/progress.h"
#include "core/cuda/cuda.h"
#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
constexpr std::size_t kPartBytes = std::size_t{1} << 20;  // of one core at a time

/// A pinned buffer, and when the copy out of it is over.
struct Piece {
  PinnedArray<std::byte> memory = make_pinned_array<std::byte>(kPieceBytes);
  CudaEvent copied{CudaEvent::Kind::kBlockingWait};
};

}  // namespace

void upload(const char* what, std::size_t num_items, std::size_t item_bytes,
            const std::function<void(std::size_t, std::size_t, std::byte*)>& write, std::byte* to) {
  if (item_bytes == 0) return;
  require(item_bytes <= kPieceBytes, "an item fits into a piece");
  const std::size_t part = std::max<std::size_t>(1, kPartBytes / item_bytes), piece_items = kPieceBytes / item_bytes;
  const CudaStream stream;
  std::array<Piece, 3> pieces;  // one being filled, one being copied, one between
  Progress progress(what, num_items * item_bytes, "bytes");
  for (std::size_t first = 0, i = 0; first < num_items; first += piece_items, ++i) {
    Piece& piece = pieces[i % pieces.size()];
    piece.copied.wait();  // never recorded = not in use
    const std::size_t count = std::min(piece_items, num_items - first);
    oneapi::tbb::parallel_for(std::size_t{0}, (count + part - 1) / part, [&](std::size_t p) {
      write(first + p * part, std::min(part, count - p * part), piece.memory.get() + p * part * item_bytes);
    });
    cuda_check(cudaMemcpyAsync(to + first * item_bytes, piece.memory.get(), count * item_bytes, cudaMemcpyHostToDevice,
                               stream.get()));
    piece.copied.record(stream.get());
    progress.add(count * item_bytes);
  }
  stream.wait();
}

void upload(const char* what, const std::byte* from, std::size_t bytes, std::byte* to) {
  upload(
      what, bytes, 1,
      [from](std::size_t first, std::size_t count, std::byte* out) { std::memcpy(out, from + first, count); }, to);
}

}  // namespace salient
