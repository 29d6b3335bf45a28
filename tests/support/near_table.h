// tests/support/near_table.h - a feature table on the device of which some rows are to be read from their copies.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "store/near_rows.h"
#include "tests/support/device_copy.h"

namespace salient::test {

/// Every third row is not a number where the node's id points to, and so is the row right behind the table's end.
class NearTable {
 public:
  /// @param rows  [V, width] host, of any type
  NearTable(const at::Tensor& rows, const CudaStream& stream) : first_(static_cast<NodeId>(rows.size(0) + 1)) {
    constexpr int kNotANumber = 0xFF;  // each byte of one, in f32, f16 and fp8
    const at::Tensor bytes = rows.contiguous().view(at::kByte);
    const at::Tensor broken = at::cat({bytes, bytes.narrow(0, 0, 1)});
    std::vector<at::Tensor> parts{broken};
    std::vector<NodeSetWord> words(static_cast<std::size_t>(rows.size(0) + 31) / 32);
    std::uint32_t num_members = 0;
    for (NodeId v = 0; v < static_cast<NodeId>(rows.size(0)); ++v) {
      if (v % 32 == 0) words[v / 32].before = num_members;
      if (v % 3 != 0) continue;
      words[v / 32].members |= 1U << (v % 32);
      ++num_members;
      parts.push_back(bytes.narrow(0, v, 1));
      broken[v].fill_(kNotANumber);
    }
    broken[rows.size(0)].fill_(kNotANumber);
    table_ = at::cat(parts).to(at::kCUDA);
    words_.emplace(words, stream);
    stream.wait();
  }
  const std::byte* data() const { return static_cast<const std::byte*>(table_.const_data_ptr()); }
  NearRows near() const { return {words_->get(), first_}; }

 private:
  NodeId first_;
  at::Tensor table_;  // bytes
  std::optional<OnDevice<NodeSetWord>> words_;
};

}  // namespace salient::test
