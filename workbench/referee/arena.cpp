// workbench/referee/arena.cpp - see arena.h.
#include "workbench/referee/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "core/error.h"
#include "workbench/case/problem.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kAlign = 256, kGuardBytes = std::size_t{1} << 20, kMaxShift = 16;

std::size_t aligned(std::size_t offset) { return (offset + kAlign - 1) / kAlign * kAlign; }

}  // namespace

Layout lay_out(const std::vector<std::size_t>& bytes, std::size_t begin, std::uint64_t seed) {
  std::vector<std::size_t> order(bytes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(seed + i) % i]);
  Layout layout{std::vector<Placement>(bytes.size()), begin, begin};
  for (const std::size_t b : order) {
    layout.end = aligned(layout.end + kGuardBytes) + kAlign * (mix(seed ^ mix(b)) % kMaxShift);
    layout.buffers[b] = {layout.end, bytes[b]};
    layout.end += bytes[b];
  }
  layout.end = aligned(layout.end + kGuardBytes);
  return layout;
}

Arena::Arena(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, kAlign)) {
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail(ErrorKind::kHostMemory, "no memory for an arena of " + std::to_string(bytes) + " bytes");
  data_ = static_cast<std::byte*>(memory);
}

Arena::~Arena() { (void)munmap(data_, bytes_); }

void Arena::fill(std::size_t begin, std::size_t end, std::byte value) {
  std::memset(data_ + begin, std::to_integer<int>(value), end - begin);
}

std::size_t Arena::first_broken_guard(const Layout& layout) const {
  std::vector<Placement> sorted = layout.buffers;
  std::sort(sorted.begin(), sorted.end(), [](const Placement& a, const Placement& b) { return a.offset < b.offset; });
  sorted.push_back({layout.end, 0});
  std::size_t from = layout.begin;
  for (const Placement& place : sorted) {
    const std::byte *const begin = data_ + from, *const end = data_ + place.offset;
    const bool is_whole = begin == end || (*begin == kGuard && std::equal(begin, end - 1, begin + 1));  // by memcmp
    if (!is_whole)
      return static_cast<std::size_t>(std::find_if(begin, end, [](std::byte b) { return b != kGuard; }) - data_);
    from = place.offset + place.bytes;
  }
  return layout.end;
}

}  // namespace salient::workbench
