// prepare/writing/raw_ogb_writer.h - a synthetic graph as raw files in the layout of OGB's papers100M download.
#pragma once

#include <cstdint>
#include <filesystem>

#include "prepare/writing/write_store.h"
#include "store/synthetic.h"

namespace salient {

inline constexpr char kRawOgbMarker[] = "raw/data.npz";

/// raw/data.npz (edge_index, node_feat, node_year, num_nodes_list, num_edges_list), raw/node-label.npz,
/// split/time/*.csv.gz and synthetic.txt.
///
/// Importing these files gives the arrays of make_synthetic_dataset(options): each edge is listed once, in one of its
/// directions, features are f32.
/// @throws Error{kUsage} when `out` exists without `force`; Error{kIo}; Interrupted. Shows progress.
/// @return  bytes of all files, and num_edges as edges_read
/// Determinism: as make_synthetic_dataset()
/// Cost:        the edges are generated three times, nothing of their size is held: 25 bytes per node, see
///              raw_ogb_memory_bytes()
WriteReport write_raw_ogb(const SyntheticOptions& options, const WriteStoreOptions& write);

/// What write_raw_ogb() takes on so many threads, about.
std::uint64_t raw_ogb_memory_bytes(const SyntheticOptions& options, int num_threads);

}  // namespace salient
