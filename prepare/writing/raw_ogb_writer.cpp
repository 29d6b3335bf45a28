// prepare/writing/raw_ogb_writer.cpp - see raw_ogb_writer.h. Arrays are made block by block, again for each use.
#include "prepare/writing/raw_ogb_writer.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/files/npy.h"
#include "core/files/staged_directory.h"
#include "core/host/interrupt.h"
#include "prepare/formats/zip_writer.h"
#include "prepare/importers/ogb_layout.h"
#include "store/synthetic_nodes.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNodesPerBlock = 8192;     // about 1 MB of edge ends
constexpr std::uint64_t kRowsPerBlock = 2048;      // 1 MB of features
constexpr std::uint64_t kBlockMemory = 16U << 20;  // per thread: blocks on their way, as they are and deflated

std::uint64_t num_blocks(std::uint64_t count, std::uint64_t per_block) { return (count + per_block - 1) / per_block; }

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string one_count(std::uint64_t count) {
  std::string bytes = npy_header("<i8", std::array<std::uint64_t, 1>{1});
  append(bytes, static_cast<std::int64_t>(count));
  return bytes;
}

class RawOgbWriter {
 public:
  RawOgbWriter(const SyntheticOptions& options, const fs::path& folder)
      : options_(options), folder_(folder), nodes_(options), split_(nodes_.split()), part_of_(options.num_nodes, 0) {
    for (std::size_t part = 0; part < split_.size(); ++part)
      for (const NodeId node : split_[part]) part_of_[node] = static_cast<std::uint8_t>(part + 1);
  }

  WriteReport write() const {
    WriteReport report;
    fs::create_directories(folder_ / "raw");
    fs::create_directories(folder_ / "split/time");
    report.bytes += write_split();
    report.bytes += write_labels();
    report.bytes += write_data(report);
    fsync_directory(folder_ / "raw");
    fsync_directory(folder_ / "split/time");
    report.bytes += write_text_file(folder_ / kSyntheticMarker, options_.name + "\n").bytes;
    return report;
  }

 private:
  std::uint64_t write_split() const {
    constexpr std::array kFiles = {"train.csv.gz", "valid.csv.gz", "test.csv.gz"};
    std::uint64_t bytes = 0;
    for (std::size_t part = 0; part < split_.size(); ++part) {
      std::string text;
      for (const NodeId node : split_[part]) text.append(std::to_string(node)).append("\n");
      bytes += write_text_file(folder_ / "split/time" / kFiles[part], gzip_compressed(text)).bytes;
    }
    return bytes;
  }

  std::uint64_t write_labels() const {
    ZipWriter zip(folder_ / "raw/node-label.npz");
    add_column<float>(zip, "node_label.npy", "<f4", [&](NodeId node) {
      return part_of_[node] == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(nodes_.label_of(node));
    });
    zip.close();
    return zip.bytes_written();
  }

  std::uint64_t write_data(WriteReport& report) const {
    const auto entries = static_cast<std::uint64_t>(static_cast<double>(options_.num_nodes) * options_.mean_degree);
    ZipWriter zip(folder_ / "raw/data.npz");
    {
      const SyntheticGraph graph(options_, nodes_.communities());
      Progress progress("generating edges", 6 * entries, "entries");  // two steps each: counted, then written twice
      report.edges_read = count_edges(graph, progress);
      add_edges(zip, graph, report.edges_read, progress);
    }
    if (options_.feature_dim > 0) add_features(zip);
    // Train up to 2017, valid 2018, test 2019; the split goes by time.
    add_column<std::int64_t>(zip, "node_year.npy", "<i8",
                             [&](NodeId node) { return part_of_[node] <= 1 ? 2017 : 2016 + part_of_[node]; });
    zip.add("num_nodes_list.npy", one_count(options_.num_nodes));
    zip.add("num_edges_list.npy", one_count(report.edges_read));
    zip.close();
    return zip.bytes_written();
  }

  /// Calls use(lower end, higher end) for the edges of a block of nodes: each edge of the graph once.
  template <class Use>
  void for_each_edge(const SyntheticGraph& graph, std::uint64_t block, Progress& progress, Use use) const {
    const std::uint64_t first = block * kNodesPerBlock, end = std::min(first + kNodesPerBlock, options_.num_nodes);
    stop_if_interrupted();
    const CsrArrays rows = graph.rows(first, end, progress);
    for (std::uint64_t v = first; v < end; ++v)
      for (const NodeId u : rows.view().row(v - first))
        if (u > v) use(static_cast<NodeId>(v), u);
  }

  std::uint64_t count_edges(const SyntheticGraph& graph, Progress& progress) const {
    using Range = oneapi::tbb::blocked_range<std::uint64_t>;
    return oneapi::tbb::parallel_reduce(
        Range(0, num_blocks(options_.num_nodes, kNodesPerBlock), 1), std::uint64_t{0},
        [&](const Range& range, std::uint64_t sum) {
          for (std::uint64_t b = range.begin(); b < range.end(); ++b)
            for_each_edge(graph, b, progress, [&](NodeId, NodeId) { ++sum; });
          return sum;
        },
        std::plus<>());
  }

  /// All sources, then all destinations. Which end is the source is as good as random: whether the sum of both is odd.
  void add_edges(ZipWriter& zip, const SyntheticGraph& graph, std::uint64_t num_edges, Progress& progress) const {
    const std::uint64_t blocks = num_blocks(options_.num_nodes, kNodesPerBlock);
    zip.add("edge_index.npy", 1 + 2 * blocks, [&](std::uint64_t b, std::string& bytes) {
      if (b == 0) return void(bytes = npy_header("<i8", std::array<std::uint64_t, 2>{2, num_edges}));
      const bool wants_source = b <= blocks;
      for_each_edge(graph, (b - 1) % blocks, progress, [&](NodeId low, NodeId high) {
        const bool low_is_source = (low ^ high) & 1;
        append(bytes, static_cast<std::int64_t>(low_is_source == wants_source ? low : high));
      });
    });
  }

  void add_features(ZipWriter& zip) const {
    const auto dim = static_cast<std::size_t>(options_.feature_dim);
    Progress progress("generating features", options_.num_nodes, "rows");
    zip.add("node_feat.npy", 1 + num_blocks(options_.num_nodes, kRowsPerBlock),
            [&](std::uint64_t b, std::string& bytes) {
              if (b == 0) return void(bytes = npy_header("<f4", std::array<std::uint64_t, 2>{options_.num_nodes, dim}));
              const std::uint64_t first = (b - 1) * kRowsPerBlock,
                                  end = std::min(first + kRowsPerBlock, options_.num_nodes);
              std::vector<float> row(nodes_.row_items());
              for (std::uint64_t v = first; v < end; ++v) {
                nodes_.draw_features(static_cast<NodeId>(v), row);
                bytes.append(reinterpret_cast<const char*>(row.data()), dim * sizeof(float));
              }
              progress.add(end - first);
            });
  }

  /// [V, 1], one value per node.
  template <class T, class ValueOf>
  void add_column(ZipWriter& zip, const std::string& name, const char* dtype, ValueOf value_of) const {
    constexpr std::uint64_t kPerBlock = std::uint64_t{1} << 17;
    zip.add(name, 1 + num_blocks(options_.num_nodes, kPerBlock), [&](std::uint64_t b, std::string& bytes) {
      if (b == 0) return void(bytes = npy_header(dtype, std::array<std::uint64_t, 2>{options_.num_nodes, 1}));
      const std::uint64_t first = (b - 1) * kPerBlock, end = std::min(first + kPerBlock, options_.num_nodes);
      for (std::uint64_t v = first; v < end; ++v) append(bytes, static_cast<T>(value_of(static_cast<NodeId>(v))));
    });
  }

  const SyntheticOptions& options_;
  const fs::path folder_;
  const SyntheticNodes nodes_;
  const std::array<std::vector<NodeId>, 3> split_;
  std::vector<std::uint8_t> part_of_;  ///< [V] 0 = in none
};

}  // namespace

WriteReport write_raw_ogb(const SyntheticOptions& options, const WriteStoreOptions& write) {
  StagedDirectory staged(write.out, write.force ? ReplaceExisting::kReplace : ReplaceExisting::kRefuse, kRawOgbMarker);
  oneapi::tbb::task_arena arena = arena_of(write.num_threads);
  const WriteReport report = arena.execute([&] { return RawOgbWriter(options, staged.path()).write(); });
  staged.publish();
  return report;
}

std::uint64_t raw_ogb_memory_bytes(const SyntheticOptions& options, int num_threads) {
  return 25 * options.num_nodes + 8 * (options.split[0] + options.split[1] + options.split[2]) +
         (std::uint64_t{64} << 20) + kBlockMemory * static_cast<std::uint64_t>(num_threads);
}

}  // namespace salient
