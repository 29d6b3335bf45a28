// prepare/writing/write_store.h - a graph as read, or a generated one, becomes a store on disk: complete, or not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "prepare/importers/raw_graph.h"
#include "prepare/writing/make_features.h"
#include "store/dataset.h"

namespace salient {

struct WriteStoreOptions {
  std::filesystem::path out{};
  int num_threads = 0;                            ///< 0 = all cores
  bool force = false;                             ///< replace an existing store
  FeatureRecipe make_features{};                  ///< of a graph without features
  std::optional<FeatureLayout> feature_layout{};  ///< none = as layout_for() finds best
  bool in_fp8 = false;                            ///< features become fp8, whatever they are
};

/// What was met on the way, for the summary that prepare prints.
struct WriteReport {
  std::uint64_t edges_read = 0;  ///< as the source listed them
  std::uint64_t entries = 0;     ///< E of the store
  std::uint64_t duplicates = 0;  ///< entries met again and left out
  std::uint64_t self_loops = 0;  ///< entries v in row v; they stay
  std::uint64_t bytes = 0;       ///< all files
  int feature_dim = 0;
};

/// @throws Error{kUsage} when `out` exists and may not be replaced: for programs to call before hours of reading.
/// @param marker  the file by which an existing folder is known as replaceable; "" = that of a store
void check_can_write(const WriteStoreOptions& options, const std::filesystem::path& marker = {});

/// Builds the CSR (symmetrise, sort, deduplicate; self loops stay and are counted), writes every file into a sibling
/// folder, fsyncs, renames.
///
/// Takes the graph by value so that its edge list can be freed early.
/// @throws Error{kUsage} when `out` exists without `force`, or when features are to be made of a graph that has some,
///         or sparse ones are to be fp8;
///         Error{kIo} (disk full); Error{kBadData} if the graph breaks
///         a rule that open_dataset() checks; as graph.memory.check().
/// Determinism: equal input gives equal bytes, for any number of threads.
WriteReport write_store(RawGraph graph, const WriteStoreOptions& options);

/// What a Dataset does not know about where it comes from.
struct StoreOrigin {
  std::string source_path{}, source_options{};
  std::uint64_t rng_seed = 0;
  std::uint64_t self_loops = 0, duplicates = 0, edges_read = 0;
  bool is_deduplicated = true;  ///< no entry is in a row twice
  std::span<const std::uint64_t> original_ids{};
  const NameTable* node_names = nullptr;  ///< null or empty = none
  std::span<const std::string> vocabulary{};
  const LinkNegativeSources* negatives = nullptr;  ///< null = none
};

/// The same for a data set whose rows are sorted and free of repeats already, such as a generated one.
WriteReport write_store(const Dataset& dataset, const StoreOrigin& origin, const WriteStoreOptions& options);

}  // namespace salient
