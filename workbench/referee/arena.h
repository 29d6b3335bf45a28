// workbench/referee/arena.h - the memory of a run: buffers between guard zones, shared by referee and worker process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace salient::workbench {

/// What memory holds that is no input: outputs and scratch, and what lies around all buffers.
struct Dirt {
  std::byte poison{0xFF}, guard{0xC3};
  bool has_former_results = false;  ///< outputs hold what another run may have left, not poison
};
/// Of the two runs of a problem: as f32 a NaN and -391.5, then 1.3e36 and 0.0115. What depends on it differs. Poison
/// alone would tell a candidate that it is judged: in the second run outputs hold usual numbers.
inline constexpr Dirt kDirt[2] = {{std::byte{0xFF}, std::byte{0xC3}}, {std::byte{0x7B}, std::byte{0x3C}, true}};

struct Placement {
  std::size_t offset = 0, bytes = 0;
};

/// Where the buffers of one problem are. Everything else in [begin, end) is guard, but for the fences.
struct Layout {
  std::vector<Placement> buffers{};  ///< in the order of the parameters
  std::size_t begin = 0, end = 0;
  std::vector<Placement> fences{};  ///< are never touched, so that they cost addresses alone
};
/// What is neither a buffer nor a fence, in the order of addresses.
std::vector<Placement> guards_of(const Layout& layout);

inline constexpr std::size_t kGuardBytes = std::size_t{1} << 20;
/// Places the buffers from `begin` on: in random order, at multiples of 256, at least `guard` bytes round each, and
/// random distances, so that addresses differ from run to run.
Layout lay_out(const std::vector<std::size_t>& bytes, std::size_t begin, std::uint64_t seed,
               std::size_t guard = kGuardBytes);

/// Rooms for buffers between fences, 256 MiB each: memory that a process may be forbidden to touch.
struct Rooms {
  std::vector<Placement> rooms{};   ///< in the order of the parameters; they begin and end at pages
  std::vector<Placement> fences{};  ///< before, between and behind them
  std::size_t begin = 0, end = 0;
};
/// Rooms for buffers of up to so many bytes, in random order. @param begin  moved to a page
Rooms make_rooms(const std::vector<std::size_t>& most_bytes, std::size_t begin, std::uint64_t seed);

/// At which side of its room a buffer touches a fence. Behind it, addresses are multiples of its elements' size alone.
enum class FencedSide { kBegin, kEnd };
Layout lay_out_in_rooms(const Rooms& rooms, const std::vector<std::size_t>& bytes, FencedSide side);

/// Zeroed pages that parent and children share. Move-only by being neither.
class Arena {
 public:
  explicit Arena(std::size_t bytes);  ///< @throws Error{kHostMemory}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }
  std::span<std::byte> at(Placement place) const { return {data_ + place.offset, place.bytes}; }
  /// In this process, touching these pages is a signal from now on.
  void forbid(Placement pages) const;         ///< @throws Error{kHostMemory}
  void forbid_writes(Placement pages) const;  ///< likewise, to them alone
  /// Processes that are forked from now on do not have it. @throws Error{kHostMemory}
  void keep_from_forks() const;
  /// Maps all pages, so that this process has no faults later.
  void touch();
  void fill(std::size_t begin, std::size_t end, std::byte value);

  /// Offset of the first byte between the buffers that is not guard, or `layout.end`.
  std::size_t first_broken_guard(const Layout& layout, std::byte guard) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace salient::workbench
