// prepare/importers/ogb_csv_tables.h - one table of OGB's CSV layouts at a time: gzip, no header.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "prepare/importers/edge_file.h"
#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// How many lines a table must have, and who says so.
struct Promise {
  std::uint64_t num_lines = 0;
  std::filesystem::path said_by{};

  /// Called while reading too, so that a small file which inflates without end is stopped early.
  void check_not_above(std::uint64_t found, const std::filesystem::path& path) const;
  void check(std::uint64_t found, const std::filesystem::path& path) const;
};

/// All throw Error{kNoInput}; Error{kIo}; Error{kBadData} naming file and line.

/// Of a file that holds one number and nothing else.
Promise read_promise(const std::filesystem::path& path);

std::size_t num_columns_of(std::string_view line);

/// @param ends  of sources and destinations; without a kind they are the graph's own
NodePairs read_csv_edges(const std::filesystem::path& path, const Promise& promise, const std::array<EndNodes, 2>& ends,
                         int num_threads);

/// Rows of numbers in the order of the file, block after block: use(values, number of columns).
void read_csv_rows(const std::filesystem::path& path, const Promise& promise, int num_threads,
                   const std::function<void(const std::vector<double>&, std::size_t)>& use);

/// Sets dim and rows; type is set.
void read_csv_features(const std::filesystem::path& path, const Promise& promise, int num_threads,
                       RawFeatures& features);

/// One column is the class, several are a label each, or what the options choose among them is to be predicted.
void read_csv_labels(const std::filesystem::path& path, const Promise& promise, const OgbOptions& options,
                     RawGraph& graph);

}  // namespace salient
