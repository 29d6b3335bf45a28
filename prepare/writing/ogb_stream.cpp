// prepare/writing/ogb_stream.cpp - see ogb_stream.h.
#include "prepare/writing/ogb_stream.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <utility>

#include "core/error.h"
#include "core/files/value_rules.h"
#include "core/fp8.h"
#include "core/free_memory.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/number_text.h"
#include "prepare/importers/edge_pairs.h"
#include "prepare/importers/npz_tables.h"
#include "prepare/importers/ogb_tables.h"
#include "prepare/writing/csr_files.h"
#include "prepare/writing/edge_buckets.h"
#include "prepare/writing/fp8_features.h"
#include "prepare/writing/store_contents.h"
#include "prepare/writing/store_writer.h"
#include "prepare/writing/stream_plan.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFeatureArray = "node_feat";
constexpr std::size_t kFeatureBlock = std::size_t{128} << 10;  // values

/// Thrown on one thread because the other one failed, whose error is reported.
struct PeerFailed {};

/// The progress of two threads. add() ends the one when the other has failed, or the user interrupts.
struct SharedProgress {
  Progress bar;
  std::atomic<bool> has_failed{false};

  void add(std::uint64_t items) {
    if (has_failed) throw PeerFailed();
    stop_if_interrupted();
    bar.add(items);
  }
};

/// @param folder  on the disk that will hold the store
void check_disk(const fs::path& folder, const fs::path& out, std::uint64_t needed) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error || space.available >= needed) return;
  fail(ErrorKind::kIo, out.string() + ": needs up to " + gigabytes_needed(needed) + " of disk while it is made, " +
                           gigabytes(space.available) + " are free");
}

/// Calls use(first, values) for all features, block by block.
template <class T, class Use>
void for_each_block(NpzArray& array, SharedProgress& progress, Use use) {
  std::vector<T> values(kFeatureBlock);
  std::uint64_t first = 0;
  while (const std::size_t count = array.read(std::span(values))) {
    use(first, std::span<const T>(values).first(count));
    first += count;
    progress.add(count);
  }
}

/// Features become fp8 by way of f16, as those of a graph in memory do.
class HalfRounding {
 public:
  HalfRounding(int dim, std::string file) : dim_(dim), file_(std::move(file)) {}

  /// @return  until the next call     @throws as convert_features()
  template <class T>
  std::span<const float> round(std::uint64_t first, std::span<const T> values) {
    convert_features(values, FeatureType::kF16, dim_, first, file_, halves());
    std::transform(halves_.begin(), halves_.begin() + std::ssize(values), rounded_.begin(), half_to_float);
    return std::span(rounded_).first(values.size());
  }
  std::byte* halves() { return reinterpret_cast<std::byte*>(halves_.data()); }

 private:
  int dim_;
  std::string file_;
  std::vector<std::uint16_t> halves_ = std::vector<std::uint16_t>(kFeatureBlock);
  std::vector<float> rounded_ = std::vector<float>(kFeatureBlock);
};

/// Reads all features once more, before they are stored.
float find_fp8_scale(const ZipArchive& archive, int dim, SharedProgress& progress) {
  NpzArray array(archive, kFeatureArray);
  HalfRounding rounding(dim, array.name());
  ColumnRanges ranges(dim);
  for_each_block<double>(array, progress, [&](std::uint64_t first, std::span<const double> values) {
    ranges.add(rounding.round(first, values));
  });
  return ranges.fp8_scale(array.name());
}

/// One stream front to back: T, which holds every value of the array, in, stored rows out.
template <class T>
FileDigest write_features_as(NpzArray& array, const RawFeatures& features, const fs::path& folder,
                             SharedProgress& progress) {
  const bool in_fp8 = features.type == FeatureType::kFp8;
  const std::size_t item = size_of(features.type);
  const std::string name = array.name();
  std::vector<std::byte> stored(kFeatureBlock * item);
  const StoreArray stored_as = features_array(features.type);
  NpyWriter writer(folder / stored_as.file, stored_as.dtype,
                   {array.header().shape[0], static_cast<std::uint64_t>(features.dim)});
  HalfRounding rounding(features.dim, name);
  FeatureLosses losses, fp8_losses;
  for_each_block<T>(array, progress, [&](std::uint64_t first, std::span<const T> values) {
    if (in_fp8) {
      const std::span<const float> rounded = rounding.round(first, values);
      losses.add(values, rounding.halves(), FeatureType::kF16, features.dim);
      floats_to_fp8(rounded.data(), rounded.size(), features.fp8_scale, stored.data());
      fp8_losses.add(rounded, stored.data(), FeatureType::kFp8, features.dim);
    } else {
      convert_features(values, features.type, features.dim, first, name, stored.data());
      losses.add(values, stored.data(), features.type, features.dim);
    }
    writer.write(std::span(stored).first(values.size() * item));
  });
  say_losses(losses, name);
  say_losses(fp8_losses, name);
  return writer.close();
}

FileDigest write_features(const ZipArchive& archive, const RawFeatures& features, const fs::path& folder,
                          SharedProgress& progress) {
  NpzArray array(archive, kFeatureArray);
  if (fits_float(array.header())) return write_features_as<float>(array, features, folder, progress);
  return write_features_as<double>(array, features, folder, progress);
}

/// Spreads all entries over files, then sorts file by file.
void write_edges(const ZipArchive& archive, const RawGraph& graph, const StreamPlan& plan, StoreWriter& store,
                 CsrFiles& csr, SharedProgress& progress) {
  const fs::path scratch = store.folder() / "scratch";
  if (std::error_code error; !fs::create_directory(scratch, error))
    fail(ErrorKind::kIo, scratch.string() + ": cannot create this folder: " + error.message());
  std::vector<EdgeBucket> buckets;
  {
    const NodeId last_node = static_cast<NodeId>(graph.num_nodes - 1);
    EdgeBuckets open(scratch / "edges-", 0, entry_key(last_node, 0xFFFFFFFF), plan.num_buckets, plan.buffer_keys);
    for_each_edge_block(
        archive, graph.num_nodes, [&](std::uint64_t items) { progress.add(items); },
        [&](std::span<const NodeId> sources, std::span<const NodeId> destinations) {
          for (std::size_t m = 0; m < sources.size(); ++m) {
            open.add(entry_key(destinations[m], sources[m]));
            if (graph.symmetrise && sources[m] != destinations[m]) open.add(entry_key(sources[m], destinations[m]));
          }
        });
    buckets = open.close();
  }
  for (const EdgeBucket& bucket : buckets)
    sort_bucket(bucket, plan.sort_bytes, progress.bar, [&](NodeId first_row, const CsrArrays& rows) {
      csr.append(first_row, rows);
      progress.add(0);
    });
  csr.close(store);
  fs::remove_all(scratch);
}

/// What is small: labels and split stay in memory no longer than they are needed.
void write_node_data(RawGraph& graph, const OgbLayout& layout, const OgbOptions& options, StoreWriter& store) {
  read_ogb_binary_labels(layout, options, graph);
  read_ogb_classes(layout, options.label_choice, graph);
  read_ogb_split(layout, graph);
  write_arrays(dataset_of(graph), store, std::array{ArrayPart::kLabels, ArrayPart::kSplits});
  free_memory_of(graph.labels, graph.multi_labels, graph.targets, graph.train, graph.valid, graph.test);
  store.write_lines(kClassNamesFile, graph.class_names);
}

void write_tables(const ZipArchive& archive, const OgbSize& size, RawGraph& graph, const StreamPlan& plan,
                  StoreWriter& store, CsrFiles& csr) {
  RawFeatures& features = graph.features;
  const bool in_fp8 = features.type == FeatureType::kFp8;
  const std::uint64_t num_keys = size.num_edges * (graph.symmetrise ? 2 : 1);
  const std::uint64_t num_features = graph.num_nodes * size.feature_dim * (in_fp8 ? 2 : 1);
  SharedProgress progress{Progress("importing", num_features + num_edge_items(size.num_edges) + num_keys, "numbers")};
  std::future<void> feature_thread = std::async(std::launch::async, [&] {
    try {
      if (in_fp8) features.fp8_scale = find_fp8_scale(archive, features.dim, progress);
      store.add_file(features_array(features.type).file, write_features(archive, features, store.folder(), progress));
    } catch (...) {
      progress.has_failed = true;
      throw;
    }
  });
  try {
    write_edges(archive, graph, plan, store, csr, progress);
  } catch (const PeerFailed&) {  // get() below has the reason
  } catch (...) {
    progress.has_failed = true;  // the future's destructor waits for the thread
    throw;
  }
  feature_thread.get();
}

/// Ids that the split's files may hold: none takes less than a byte, and vectors double while they grow.
std::uint64_t split_bytes_of(const OgbLayout& layout) {
  std::uint64_t bytes = 0;
  for (const char* file : {"train.csv.gz", "valid.csv.gz", "test.csv.gz"}) bytes += fs::file_size(layout.split / file);
  return 2 * sizeof(NodeId) * bytes;
}

}  // namespace

bool can_stream_ogb(const OgbOptions& options) {
  const OgbLayout layout = layout_of(options);
  return layout.is_binary && !size_of_ogb_binary(layout, options).features_are_columns;
}

WriteReport stream_ogb(const OgbOptions& options, const WriteStoreOptions& write, std::uint64_t memory_bytes) {
  const OgbLayout layout = layout_of(options);
  RawGraph graph = start_ogb(options, layout);
  const ZipArchive archive(layout.raw("data.npz"));
  const OgbSize size = size_of_ogb_binary(layout, options);
  graph.num_nodes = size.num_nodes;
  graph.features.dim = static_cast<int>(size.feature_dim);
  if (write.in_fp8) graph.features.type = FeatureType::kFp8;
  const int num_threads = write.num_threads > 0 ? write.num_threads : num_usable_cores();
  const StreamPlan plan = plan_stream({.num_nodes = size.num_nodes,
                                       .num_keys = size.num_edges * (graph.symmetrise ? 2 : 1),
                                       .row_bytes = size.feature_dim * size_of(graph.features.type),
                                       .label_bytes = size.label_bytes,
                                       .split_bytes = split_bytes_of(layout),
                                       .num_threads = num_threads},
                                      memory_bytes, layout.root.string());
  StoreWriter store(write);
  check_disk(store.folder(), write.out, plan.disk_bytes);
  write_node_data(graph, layout, options, store);
  CsrFiles csr(store.folder(), size.num_nodes);
  oneapi::tbb::task_arena arena(num_threads);
  arena.execute([&] { write_tables(archive, size, graph, plan, store, csr); });
  WriteReport report{.edges_read = size.num_edges,
                     .entries = csr.num_entries(),
                     .duplicates = csr.duplicates(),
                     .self_loops = csr.self_loops()};
  StoreOrigin origin = origin_of(graph);
  origin.self_loops = csr.self_loops();
  report.bytes = store.publish(manifest_of(dataset_of(graph), origin, {graph.num_nodes, csr.num_entries()}));
  return report;
}

}  // namespace salient
