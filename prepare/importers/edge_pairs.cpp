// prepare/importers/edge_pairs.cpp - see edge_pairs.h.
#include "prepare/importers/edge_pairs.h"

#include <oneapi/tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "prepare/importers/npz_tables.h"

namespace salient {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{128} << 10;

/// Reads the next `count` ids.
class IdReader {
 public:
  IdReader(const ZipArchive& archive, std::uint64_t num_nodes) : array_(archive, "edge_index"), num_nodes_(num_nodes) {
    array_.expect(NpzKind::kInteger);
    const auto& shape = array_.header().shape;
    array_.expect_shape(std::array<std::uint64_t, 2>{2, shape.size() == 2 ? shape[1] : 0});
  }

  const NpyHeader& header() const { return array_.header(); }
  void skip(std::uint64_t items) {
    array_.skip(items);
    position_ += items;
  }
  void read(std::uint64_t count, std::vector<NodeId>& ids) {
    wide_.resize(static_cast<std::size_t>(count));
    array_.read(std::span(wide_));
    ids.resize(wide_.size());
    for (std::size_t i = 0; i < wide_.size(); ++i) {
      if (wide_[i] >= num_nodes_)
        fail_at_item(array_.name(), position_ + i, std::to_string(wide_[i]), no_node(wide_[i], num_nodes_));
      ids[i] = static_cast<NodeId>(wide_[i]);
    }
    position_ += count;
  }

 private:
  NpzArray array_;
  const std::uint64_t num_nodes_;
  std::uint64_t position_ = 0;
  std::vector<std::uint64_t> wide_;
};

struct EdgeBlock {
  std::vector<NodeId> sources{}, destinations{};
};

}  // namespace

void for_each_edge_block(const ZipArchive& archive, std::uint64_t num_nodes,
                         const std::function<void(std::uint64_t)>& on_items,
                         const std::function<void(std::span<const NodeId>, std::span<const NodeId>)>& use) {
  IdReader first(archive, num_nodes), second(archive, num_nodes);
  const std::uint64_t num_edges = first.header().shape[1];
  const bool alternates = first.header().is_fortran_order;
  for (std::uint64_t at = 0; !alternates && at < num_edges; at += kBlock) {
    const std::uint64_t count = std::min(kBlock, num_edges - at);
    second.skip(count);
    on_items(count);
  }
  std::vector<NodeId> pairs;
  const auto read = [&](std::uint64_t at, EdgeBlock& block) {
    const std::uint64_t count = std::min(kBlock, num_edges - at);
    if (!alternates)
      return oneapi::tbb::parallel_invoke([&] { first.read(count, block.sources); },
                                          [&] { second.read(count, block.destinations); });
    first.read(2 * count, pairs);
    block.sources.resize(static_cast<std::size_t>(count));
    block.destinations.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
      block.sources[i] = pairs[2 * i];
      block.destinations[i] = pairs[2 * i + 1];
    }
  };
  EdgeBlock current, next;
  for (std::uint64_t at = 0; at < num_edges; at += kBlock) {  // uses a block while the next one is read
    oneapi::tbb::parallel_invoke([&] { read(at, next); }, [&] { use(current.sources, current.destinations); });
    std::swap(current, next);
    on_items((alternates ? 3 : 2) * std::min(kBlock, num_edges - at));
  }
  use(current.sources, current.destinations);
}

}  // namespace salient
