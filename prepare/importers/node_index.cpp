// prepare/importers/node_index.cpp - see node_index.h.
#include "prepare/importers/node_index.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>

#include "prepare/formats/table_line.h"
#include "prepare/importers/raw_graph.h"

namespace salient {
namespace {

constexpr std::uint64_t kWordBits = 32;

std::uint64_t largest_of(std::span<const std::uint64_t> ids) {
  using Range = oneapi::tbb::blocked_range<std::size_t>;
  const auto larger = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
  const auto of_range = [&](const Range& range, std::uint64_t largest) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) largest = std::max(largest, ids[i]);
    return largest;
  };
  return oneapi::tbb::parallel_reduce(Range(0, ids.size()), std::uint64_t{0}, of_range, larger);
}

}  // namespace

NodeIndex NodeIndex::of_rows(std::uint64_t num_nodes, std::uint64_t first) {
  NodeIndex index;
  index.num_nodes_ = num_nodes;
  index.first_ = first;
  return index;
}

NodeIndex NodeIndex::of_numbers(std::span<const std::span<const std::uint64_t>> lists, const MemoryLimit& memory) {
  std::uint64_t largest = 0, count = 0;
  for (const std::span<const std::uint64_t> ids : lists) {
    largest = std::max(largest, largest_of(ids));
    count += ids.size();
  }
  constexpr std::uint64_t kMaxNumbersPerId = 32;  // then the words take no more memory than the ids
  if (is_node_count(largest + 1) && largest / kMaxNumbersPerId < count) {
    memory.check((largest / kWordBits + 1) * sizeof(NodeSetWord), "node ids");
    return of_dense_numbers(lists, largest);
  }
  memory.check(count * sizeof(std::uint64_t), "node ids");
  std::vector<std::uint64_t> all;
  all.reserve(count);
  for (const std::span<const std::uint64_t> ids : lists) all.insert(all.end(), ids.begin(), ids.end());
  return of_numbers_reference(std::move(all));
}

NodeIndex NodeIndex::of_dense_numbers(std::span<const std::span<const std::uint64_t>> lists, std::uint64_t largest) {
  std::vector<NodeSetWord> words(largest / kWordBits + 1);
  for (const std::span<const std::uint64_t> ids : lists)
    oneapi::tbb::parallel_for(std::size_t{0}, ids.size(), [&](std::size_t i) {
      const std::atomic_ref members(words[ids[i] / kWordBits].members);
      const std::uint32_t bit = std::uint32_t{1} << (ids[i] % kWordBits);
      if ((members.load(std::memory_order_relaxed) & bit) == 0) members.fetch_or(bit, std::memory_order_relaxed);
    });
  std::uint32_t num_nodes = 0;
  for (NodeSetWord& word : words) {
    word.before = num_nodes;
    num_nodes += static_cast<std::uint32_t>(std::popcount(word.members));
  }
  const auto with_first = std::ranges::find_if(words, [](const NodeSetWord& word) { return word.members != 0; });
  const std::uint64_t first = static_cast<std::uint64_t>(with_first - words.begin()) * kWordBits +
                              static_cast<std::uint64_t>(std::countr_zero(with_first->members));
  if (largest - first + 1 == num_nodes) return of_rows(num_nodes, first);
  NodeIndex index = of_rows(num_nodes);
  index.words_ = std::move(words);
  return index;
}

NodeIndex NodeIndex::of_numbers_reference(std::vector<std::uint64_t> ids) {
  oneapi::tbb::parallel_sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  NodeIndex index = of_rows(ids.size());
  index.ascending_ = std::move(ids);
  return index;
}

std::vector<std::uint64_t> NodeIndex::take_numbers() {
  if (!ascending_.empty())
    return ascending_.back() == num_nodes_ - 1 ? std::vector<std::uint64_t>{} : std::move(ascending_);
  if (words_.empty() && first_ == 0) return {};
  std::vector<std::uint64_t> numbers(num_nodes_);
  if (words_.empty()) {
    std::iota(numbers.begin(), numbers.end(), first_);
    return numbers;
  }
  auto out = numbers.begin();
  for (std::size_t w = 0; w < words_.size(); ++w)
    for (std::uint32_t left = words_[w].members; left != 0; left &= left - 1)
      *out++ = w * kWordBits + static_cast<std::uint64_t>(std::countr_zero(left));
  return numbers;
}

NodeIndex NodeIndex::of_names(NameMap names) {
  NodeIndex index = of_rows(names.size());
  index.names_ = std::move(names);
  return index;
}

std::optional<NodeId> NodeIndex::find(std::uint64_t id) const {
  if (!words_.empty()) {
    if (id / kWordBits >= words_.size()) return std::nullopt;
    const std::uint32_t rank = index_in_set(words_.data(), static_cast<NodeId>(id));
    return rank == kNotInSet ? std::nullopt : std::optional(rank);
  }
  if (ascending_.empty())  // a smaller id wraps around
    return id - first_ < num_nodes_ ? std::optional(static_cast<NodeId>(id - first_)) : std::nullopt;
  const auto found = std::ranges::lower_bound(ascending_, id);
  if (found == ascending_.end() || *found != id) return std::nullopt;
  return static_cast<NodeId>(found - ascending_.begin());
}

std::optional<NodeId> NodeIndex::find(std::string_view id) const {
  if (has_names()) return names_.find(id);
  std::uint64_t number = 0;
  return parse_id(id, number) ? find(number) : std::nullopt;
}

}  // namespace salient
