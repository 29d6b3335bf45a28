// prepare/importers/name_map.cpp - see name_map.h.
#include "prepare/importers/name_map.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/error.h"
#include "core/free_memory.h"
#include "prepare/importers/raw_graph.h"

namespace salient {
namespace {

constexpr NodeId kFree = 0xFFFFFFFF;
constexpr const char* kWhat = "the ids of the nodes";

/// Makes room for `more` items, by half of what there is, after the limit was asked.
template <class T>
void reserve_more(std::vector<T>& items, std::size_t more, const MemoryLimit& memory) {
  if (items.size() + more <= items.capacity()) return;
  const std::size_t wanted = std::max(items.size() + more, items.capacity() + items.capacity() / 2 + 1024);
  memory.check(wanted * sizeof(T), kWhat);
  items.reserve(wanted);
}

}  // namespace

/// Where the name is, or where it would go.
std::size_t NameMap::slot_of(std::string_view name) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = std::hash<std::string_view>()(name) & mask;
  while (slots_[slot] != kFree && names_[slots_[slot]] != name) slot = (slot + 1) & mask;
  return slot;
}

std::optional<NodeId> NameMap::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const NodeId found = slots_[slot_of(name)];
  return found == kFree ? std::nullopt : std::optional(found);
}

void NameMap::grow() {
  const std::size_t num_slots = std::max<std::size_t>(1024, 2 * slots_.size());
  memory_.check(num_slots * sizeof(NodeId), kWhat);
  slots_.assign(num_slots, kFree);
  for (NodeId i = 0; i < names_.size(); ++i) slots_[slot_of(names_[i])] = i;
}

NodeId NameMap::add(std::string_view name) {
  if (4 * (size() + 1) > 3 * slots_.size()) grow();
  NodeId& slot = slots_[slot_of(name)];
  if (slot != kFree) return slot;
  const std::uint64_t number = size();
  if (!is_node_count(number + 1)) fail(ErrorKind::kBadData, "more than 2^32 - 2 different ids");
  reserve_more(names_.text, name.size(), memory_);
  reserve_more(names_.begin, 1, memory_);
  names_.append(name);
  return slot = static_cast<NodeId>(number);
}

NameTable NameMap::take() {
  free_memory_of(slots_);
  return std::exchange(names_, NameTable());
}

}  // namespace salient
