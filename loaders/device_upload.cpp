// loaders/device_upload.cpp - see device_upload.h.
#include "loaders/device_upload.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/core/progress.h"
#include "engine/cuda/cuda.h"

namespace salient {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 20;
constexpr std::size_t kCopyBytes = std::size_t{1} << 20;  // of one core at a time

/// A pinned buffer, and when the copy out of it is over.
struct Piece {
  PinnedArray<std::byte> memory = make_pinned_array<std::byte>(kPieceBytes);
  CudaEvent copied{CudaEvent::Kind::kBlockingWait};
};

void copy_with_all_cores(const std::byte* from, std::size_t bytes, std::byte* to) {
  oneapi::tbb::parallel_for(std::size_t{0}, (bytes + kCopyBytes - 1) / kCopyBytes, [&](std::size_t i) {
    const std::size_t at = i * kCopyBytes;
    std::memcpy(to + at, from + at, std::min(kCopyBytes, bytes - at));
  });
}

}  // namespace

void upload(const char* what, const std::byte* from, std::size_t bytes, std::byte* to) {
  const CudaStream stream;
  std::array<Piece, 3> pieces;  // one being filled, one being copied, one between
  Progress progress(what, bytes, "bytes");
  for (std::size_t at = 0, i = 0; at < bytes; at += kPieceBytes, ++i) {
    Piece& piece = pieces[i % pieces.size()];
    piece.copied.wait();  // never recorded = not in use
    const std::size_t count = std::min(kPieceBytes, bytes - at);
    copy_with_all_cores(from + at, count, piece.memory.get());
    cuda_check(cudaMemcpyAsync(to + at, piece.memory.get(), count, cudaMemcpyHostToDevice, stream.get()));
    piece.copied.record(stream.get());
    progress.add(count);
  }
  stream.wait();
}

}  // namespace salient
