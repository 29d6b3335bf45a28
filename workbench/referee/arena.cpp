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

constexpr std::size_t kAlign = 256, kMaxShift = 16;

std::size_t aligned(std::size_t offset) { return (offset + kAlign - 1) / kAlign * kAlign; }

std::vector<std::size_t> random_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[mix(seed + i) % i]);
  return order;
}

}  // namespace

Layout lay_out(const std::vector<std::size_t>& bytes, std::size_t begin, std::uint64_t seed, std::size_t guard) {
  Layout layout{std::vector<Placement>(bytes.size()), begin, begin, {}};
  for (const std::size_t b : random_order(bytes.size(), seed)) {
    layout.end = aligned(layout.end + guard) + kAlign * (mix(seed ^ mix(b)) % kMaxShift);
    layout.buffers[b] = {layout.end, bytes[b]};
    layout.end += bytes[b];
  }
  layout.end = aligned(layout.end + guard);
  return layout;
}

std::vector<Placement> guards_of(const Layout& layout) {
  std::vector<Placement> taken = layout.buffers, guards;
  taken.insert(taken.end(), layout.fences.begin(), layout.fences.end());
  std::sort(taken.begin(), taken.end(), [](const Placement& a, const Placement& b) { return a.offset < b.offset; });
  taken.push_back({layout.end, 0});
  std::size_t from = layout.begin;
  for (const Placement& place : taken) {
    if (place.offset > from) guards.push_back({from, place.offset - from});
    from = std::max(from, place.offset + place.bytes);  // an empty buffer may lie where a fence begins
  }
  return guards;
}

namespace {

constexpr std::size_t kPage = 65536;  // a multiple of the page of every machine
constexpr std::size_t kFenceBytes = std::size_t{256} << 20;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

Rooms make_rooms(const std::vector<std::size_t>& most_bytes, std::size_t begin, std::uint64_t seed) {
  Rooms made{std::vector<Placement>(most_bytes.size()), {}, whole_pages(begin), 0};
  std::size_t end = made.begin;
  const auto add_fence = [&] {
    made.fences.push_back({end, kFenceBytes});
    end += kFenceBytes;
  };
  add_fence();
  for (const std::size_t b : random_order(most_bytes.size(), seed)) {
    made.rooms[b] = {end, whole_pages(most_bytes[b])};
    end += made.rooms[b].bytes;
    add_fence();
  }
  made.end = end;
  return made;
}

Layout lay_out_in_rooms(const Rooms& rooms, const std::vector<std::size_t>& bytes, FencedSide side) {
  Layout layout{{}, rooms.begin, rooms.end, rooms.fences};
  for (std::size_t b = 0; b < bytes.size(); ++b)
    layout.buffers.push_back(
        {rooms.rooms[b].offset + (side == FencedSide::kEnd ? rooms.rooms[b].bytes - bytes[b] : 0), bytes[b]});
  return layout;
}

Arena::Arena(std::size_t bytes) : bytes_(std::max<std::size_t>(bytes, kAlign)) {
  void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail(ErrorKind::kHostMemory, "no memory for an arena of " + std::to_string(bytes) + " bytes");
  data_ = static_cast<std::byte*>(memory);
}

Arena::~Arena() { (void)munmap(data_, bytes_); }

void Arena::forbid(Placement pages) const {
  if (mprotect(data_ + pages.offset, pages.bytes, PROT_NONE) != 0)
    fail(ErrorKind::kHostMemory, "cannot protect pages round the buffers");
}

void Arena::forbid_writes(Placement pages) const {
  if (pages.bytes > 0 && mprotect(data_ + pages.offset, pages.bytes, PROT_READ) != 0)
    fail(ErrorKind::kHostMemory, "cannot protect the pages of inputs");
}

void Arena::keep_from_forks() const {
  if (madvise(data_, bytes_, MADV_DONTFORK) != 0) fail(ErrorKind::kHostMemory, "cannot keep memory from a fork");
}

void Arena::touch() {
  for (std::size_t at = 0; at < bytes_; at += 4096) {
    volatile std::byte* const byte = data_ + at;
    *byte = *byte;
  }
}

void Arena::fill(std::size_t begin, std::size_t end, std::byte value) {
  std::memset(data_ + begin, std::to_integer<int>(value), end - begin);
}

std::size_t Arena::first_broken_guard(const Layout& layout, std::byte guard) const {
  for (const Placement& place : guards_of(layout)) {
    const std::byte *const begin = data_ + place.offset, *const end = begin + place.bytes;
    const bool is_whole = begin == end || (*begin == guard && std::equal(begin, end - 1, begin + 1));  // by memcmp
    if (!is_whole)
      return static_cast<std::size_t>(std::find_if(begin, end, [&](std::byte b) { return b != guard; }) - data_);
  }
  return layout.end;
}

}  // namespace salient::workbench
