// workbench/referee/arena.h - the memory of a run: buffers between guard zones, shared by referee and worker process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace salient::workbench {

inline constexpr std::byte kGuard{0xC3};
inline constexpr std::byte kPoisons[2] = {std::byte{0xFF}, std::byte{0x7B}};  ///< as f32 a NaN, and 1.3e36

struct Placement {
  std::size_t offset = 0, bytes = 0;
};

/// Where the buffers of one problem are. Everything else in [begin, end) is guard.
struct Layout {
  std::vector<Placement> buffers{};  ///< in the order of the parameters
  std::size_t begin = 0, end = 0;
};

/// Places the buffers from `begin` on: in random order, at multiples of 256, at least 1 MiB of guard round each, and
/// random distances, so that addresses differ from run to run.
Layout lay_out(const std::vector<std::size_t>& bytes, std::size_t begin, std::uint64_t seed);

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
  void fill(std::size_t begin, std::size_t end, std::byte value);

  /// Offset of the first byte between the buffers that is not guard, or `layout.end`.
  std::size_t first_broken_guard(const Layout& layout) const;

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace salient::workbench
