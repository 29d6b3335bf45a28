// sampler/device_exclusions.h - entries that a batch must not see, as threads of a GPU look them up, and what one
// thread does to find them. Needs no CUDA toolkit, so that tests play the threads on the host.
//
// Exclusions has places, found by binary searches on the host. Here a batch's entries are keys, sorted; a key is a run
// of equal neighbours in a row. A row's runs are neighbours in that order, and a hash table has where they begin.
#pragma once

#include <cstdint>

#include "core/philox.h"
#include "core/types.h"
#include "sampler/device_csr.h"
#include "sampler/exclusions.h"
#include "sampler/search.h"

namespace salient {

/// A row without some of its entries. Those that are left have ranks, ascending.
struct RestOfRow {
  const std::uint32_t* first = nullptr;   ///< [num_runs] place of each excluded run; behind it, of a run that is twice
  const std::uint32_t* before = nullptr;  ///< [num_runs + 1] excluded entries of the batch before each run
  std::uint32_t num_runs = 0;

  SALIENT_HOST_DEVICE std::uint32_t num_excluded() const { return num_runs == 0 ? 0 : before[num_runs] - before[0]; }

  /// As place_of_rank(), which is its oracle, by a binary search.
  SALIENT_HOST_DEVICE std::uint32_t place_of(std::uint32_t rank) const {
    if (num_runs == 0) return rank;
    const std::uint32_t skipped =
        first_not_below(num_runs, [&](std::uint32_t run) { return first[run] - (before[run] - before[0]) <= rank; });
    return rank + (before[skipped] - before[0]);
  }
};

/// Of a batch. All null: it sees all entries.
struct DeviceExclusions {
  /// Open addressing, a power of two of slots, at most half of them in use.
  struct alignas(16) Slot {
    std::uint32_t row;         ///< of the graph; kFree: none
    std::uint32_t begin, end;  ///< its runs
  };
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  const Slot* slots = nullptr;
  int log_size = 0;                       ///< in [1, 31]
  const std::uint32_t* first = nullptr;   ///< of all runs, as in RestOfRow
  const std::uint32_t* before = nullptr;  ///< likewise

  SALIENT_HOST_DEVICE static std::uint32_t slot_of(std::uint32_t row, int log_size) {
    return row * 0x9E3779B1u >> (32 - log_size);
  }
  SALIENT_HOST_DEVICE static std::uint32_t after(std::uint32_t slot, int log_size) {
    return (slot + 1) & ((1u << log_size) - 1);
  }
  SALIENT_HOST_DEVICE RestOfRow rest_of(std::uint32_t row) const {
    for (std::uint32_t at = slot_of(row, log_size);; at = after(at, log_size)) {
      const Slot slot = slots[at];
      if (slot.row == row) return {first + slot.begin, before + slot.begin, slot.end - slot.begin};
      if (slot.row == kFree) return {};
    }
  }
};

/// A key that excludes nothing; behind all others.
inline constexpr EntryKey kNoEntry = ~EntryKey{0};

/// What key i of a batch excludes: a place, and how many entries from there on.
struct ExcludedRun {
  std::uint32_t first, length;
};

/// @param keys  [more than i] sorted; one may come twice, and counts once    @param graph  whose rows ascend
SALIENT_HOST_DEVICE inline ExcludedRun run_of_key(const DeviceCsr& graph, const EntryKey* keys, std::uint32_t i) {
  const EntryKey key = keys[i];
  if (key == kNoEntry) return {0, 0};
  const std::uint32_t row = row_of(key);
  const NodeId neighbor = neighbor_of(key);
  const NodeId* const entries = graph.row(row);
  const std::uint32_t end = first_not_below(graph.degree(row), [&](std::uint32_t e) { return entries[e] <= neighbor; });
  if (i > 0 && keys[i - 1] == key) return {end, 0};
  const std::uint32_t begin = first_not_below(end, [&](std::uint32_t e) { return entries[e] < neighbor; });
  return {begin, end - begin};
}

/// Whether key i is the first of its row.
SALIENT_HOST_DEVICE inline bool begins_row(const EntryKey* keys, std::uint32_t i) {
  return keys[i] != kNoEntry && (i == 0 || row_of(keys[i - 1]) != row_of(keys[i]));
}

/// Where the keys of key i's row end. @param count  of keys
SALIENT_HOST_DEVICE inline std::uint32_t end_of_row(const EntryKey* keys, std::uint32_t count, std::uint32_t i) {
  const EntryKey last = entry_key(row_of(keys[i]), ~NodeId{0});
  return i + first_not_below(count - i, [&](std::uint32_t k) { return keys[i + k] <= last; });
}

}  // namespace salient
