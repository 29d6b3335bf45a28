// store/synthetic.cpp - options of synthetic data sets, and their generation in memory.
#include "store/synthetic.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/arena_of.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/host/machine.h"
#include "core/value_text.h"
#include "store/synthetic_graph.h"
#include "store/synthetic_nodes.h"

namespace salient {
namespace {

constexpr std::string_view kPrefix = "synthetic:";

// Sizes are the originals'. Fidelity, homophily and signal are chosen so that a linear model on features alone and
// GraphSAGE come near what they reach on the originals; docs/DATASETS.md has the measurements.
const std::array kLike = {
    SyntheticOptions{.name = "arxiv",
                     .num_nodes = 169'343,
                     .mean_degree = 13.8,
                     .max_degree = 13'000,
                     .feature_dim = 128,
                     .num_classes = 40,
                     .split = {90'941, 29'799, 48'603},
                     .homophily = 0.6,
                     .label_fidelity = 0.75,
                     .feature_signal = 36},
    SyntheticOptions{.name = "products",
                     .num_nodes = 2'449'029,
                     .mean_degree = 51.0,
                     .max_degree = 17'500,
                     .feature_dim = 100,
                     .num_classes = 47,
                     .split = {196'615, 39'323, 2'213'091},
                     .homophily = 0.6,
                     .label_fidelity = 0.82,
                     .feature_signal = 42},
    SyntheticOptions{.name = "papers100M",
                     .num_nodes = 111'059'956,
                     .mean_degree = 29.3,
                     .max_degree = 250'000,
                     .feature_dim = 128,
                     .num_classes = 172,
                     .split = {1'207'179, 125'265, 214'338},
                     .homophily = 0.55,
                     .label_fidelity = 0.68,
                     .feature_signal = 37},
    SyntheticOptions{.name = "mag240M",  // its papers and their citations, read both ways
                     .num_nodes = 121'751'666,
                     .mean_degree = 21.3,
                     .max_degree = 250'000,
                     .feature_dim = 768,
                     .num_classes = 153,
                     .split = {1'112'392, 138'949, 146'818},
                     .homophily = 0.55,
                     .label_fidelity = 0.68,
                     .feature_signal = 37},
};

DatasetFacts facts_of(const SyntheticOptions& options) {
  return {.name = options.name,
          .source_kind = "synthetic",
          .num_classes = options.num_classes,
          .feature_dim = options.feature_dim,
          .feature_type = options.feature_type,
          .fp8_scale = options.feature_type == FeatureType::kFp8 ? kSyntheticFp8Scale : 0,
          .is_symmetric = true};
}

/// The arrays behind a generated Dataset.
struct GeneratedStore {
  explicit GeneratedStore(std::shared_ptr<HostMemory> source)
      : memory(std::move(source)),
        graph(memory.get()),
        features(UnsetHugePageAllocator<std::byte>(memory.get())),
        labels(UnsetHugePageAllocator<std::int32_t>(memory.get())),
        split{nodes(), nodes(), nodes()} {}
  using Nodes = UnsetHugeVector<NodeId>;
  Nodes nodes() const { return Nodes(UnsetHugePageAllocator<NodeId>(memory.get())); }

  std::shared_ptr<HostMemory> memory;  // of all arrays; null = this process' own
  CsrArrays graph;
  UnsetHugeVector<std::byte> features;
  UnsetHugeVector<std::int32_t> labels;
  std::array<Nodes, 3> split;
};

std::shared_ptr<const GeneratedStore> generate(const SyntheticOptions& options, std::shared_ptr<HostMemory> memory) {
  using Range = oneapi::tbb::blocked_range<std::uint64_t>;
  const SyntheticNodes nodes(options);
  auto store = std::make_shared<GeneratedStore>(std::move(memory));
  const std::array<std::vector<NodeId>, 3> split = nodes.split();
  for (std::size_t part = 0; part < split.size(); ++part)
    store->split[part].assign(split[part].begin(), split[part].end());
  store->labels.assign(options.num_nodes, -1);
  for (const GeneratedStore::Nodes& part : store->split)
    oneapi::tbb::parallel_for(Range(0, part.size(), 4096), [&](const Range& range) {
      for (std::uint64_t i = range.begin(); i < range.end(); ++i) store->labels[part[i]] = nodes.label_of(part[i]);
    });
  if (options.feature_dim > 0) {
    const std::size_t row_bytes = static_cast<std::size_t>(options.feature_dim) * size_of(options.feature_type);
    store->features.resize(options.num_nodes * row_bytes);
    Progress progress("generating features", options.num_nodes, "rows");
    oneapi::tbb::parallel_for(Range(0, options.num_nodes, 1024), [&](const Range& range) {
      nodes.write_features(range.begin(), range.size(), store->features.data() + range.begin() * row_bytes);
      progress.add(range.size());
    });
  }
  store->graph = make_synthetic_graph(options, nodes.communities(), store->memory.get());
  return store;
}

}  // namespace

std::vector<FieldProblem> problems(const SyntheticOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, options.num_nodes >= 1 && options.num_nodes < 0xFFFFFFFF, "nodes", "1 to 2^32 - 2");
  check_field(found, options.mean_degree >= 1 && options.mean_degree <= 1e6, "mean-degree", "1 to 1000000");
  check_field(found, options.feature_dim >= 0 && options.feature_dim <= 1 << 16, "features", "0 to 65536");
  const bool has_classes = options.num_classes >= 1 && options.num_classes <= 1 << 16 &&
                           static_cast<std::uint64_t>(options.num_classes) <= options.num_nodes;
  check_field(found, has_classes, "classes", "at least 1, at most one per node and 65536");
  check_field(found, options.train_communities > 0 && options.train_communities <= 1, "train-communities",
              "above 0 and at most 1");
  check_field(found, options.homophily >= 0 && options.homophily <= 1, "community-edges", "0 to 1");
  return found;
}

std::vector<FieldProblem> problems_like(std::string_view name, double scale) {
  std::vector<FieldProblem> found;
  check_field(
      found, std::ranges::find(kLike, name, &SyntheticOptions::name) != kLike.end(), "like",
      "arxiv, products, papers100M or mag240M, or mag or igbh of typed graphs, not '" + std::string(name) + "'");
  check_field(found, scale > 0 && scale <= 1, "scale", "above 0 and at most 1");
  return found;
}

SyntheticOptions synthetic_like(std::string_view name, double scale) {
  require(problems_like(name, scale).empty(), "a graph is generated like one that is known, or smaller");
  const auto found = std::ranges::find(kLike, name, &SyntheticOptions::name);
  SyntheticOptions options = *found;
  options.name = "synthetic-" + options.name;
  if (scale == 1) return options;
  options.name += "-" + to_text(scale);
  const auto scaled = [scale](std::uint64_t count) {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(static_cast<double>(count) * scale));
  };
  options.num_nodes =
      std::max<std::uint64_t>(scaled(options.num_nodes), 4 * static_cast<std::uint64_t>(options.num_classes));
  for (std::uint64_t& count : options.split) count = scaled(count);
  options.max_degree = std::clamp<std::uint64_t>(options.num_nodes / 8, 1, options.max_degree);
  return options;
}

SyntheticOptions synthetic_of_size(std::uint64_t num_nodes, double mean_degree, int feature_dim, int num_classes) {
  SyntheticOptions options;
  options.num_nodes = num_nodes;
  options.mean_degree = mean_degree;
  options.feature_dim = feature_dim;
  options.num_classes = num_classes;
  const std::uint64_t train = num_nodes * 6 / 10, valid = num_nodes * 2 / 10;
  options.split = {train, valid, num_nodes - train - valid};
  options.max_degree = std::max<std::uint64_t>(1, num_nodes / 8);
  return options;
}

void cluster_split(SyntheticOptions& options, double share) {
  options.train_communities = share;
  if (share < 1) options.name += "-clustered-" + to_text(share);
}

void keep_edges_inside(SyntheticOptions& options, double share) {
  if (share == 0) return;
  constexpr double kMostTimesMean = 10;
  options.homophily = share;
  options.max_degree = std::min(options.max_degree, static_cast<std::uint64_t>(kMostTimesMean * options.mean_degree));
  options.name += "-inside-" + to_text(share);
}

bool is_synthetic_name(std::string_view dataset) { return dataset.starts_with(kPrefix); }

SyntheticOptions parse_synthetic_name(std::string_view dataset) {
  require(is_synthetic_name(dataset), "the name of a synthetic data set starts with synthetic:");
  std::string_view rest = dataset.substr(kPrefix.size());
  const auto next_part = [&rest] {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size());
    return part;
  };
  const auto next_number = [&](double& number) {
    if (rest.empty()) return true;
    rest.remove_prefix(1);
    return from_text(next_part(), number);
  };
  const std::string_view name = next_part();
  double scale = 1, share = 1, inside = 0;
  if (!next_number(scale) || !next_number(share) || !next_number(inside) || !rest.empty() ||
      !problems_like(name, scale).empty() || !(share > 0 && share <= 1) || !(inside >= 0 && inside <= 1))
    fail(ErrorKind::kUsage,
         std::string(dataset) +
             ": synthetic:NAME[:SCALE[:SHARE[:INSIDE]]] takes arxiv, products, papers100M or mag240M, a scale "
             "above 0 and at most 1, such a share of the nodes that the split comes from, and one "
             "of the edges that stay inside their community");
  SyntheticOptions options = synthetic_like(name, scale);
  cluster_split(options, share);
  keep_edges_inside(options, inside);
  return options;
}

std::uint64_t synthetic_bytes(const SyntheticOptions& options) {
  const auto entries = static_cast<std::uint64_t>(static_cast<double>(options.num_nodes) * options.mean_degree);
  const std::uint64_t row = facts_of(options).feature_row_bytes();
  return options.num_nodes * (row + sizeof(EdgeOffset) + sizeof(std::int32_t)) + entries * sizeof(NodeId) +
         (options.split[0] + options.split[1] + options.split[2]) * sizeof(NodeId);
}

std::uint64_t synthetic_peak_bytes(const SyntheticOptions& options, int num_threads) {
  constexpr std::uint64_t kProgram = 12 << 20, kPerThread = 1 << 20;
  constexpr std::uint64_t kPerNode = 28;  // of two numberings of stubs 12 bytes each, and the length of a row
  const std::uint64_t split = (options.split[0] + options.split[1] + options.split[2]) * sizeof(NodeId);
  const std::uint64_t result = synthetic_bytes(options) + split;  // the split is copied
  const auto threads = static_cast<std::uint64_t>(num_threads > 0 ? num_threads : num_usable_cores());
  return result + result / 32 + options.num_nodes * kPerNode + kProgram + threads * kPerThread;
}

Dataset make_synthetic_dataset(const SyntheticOptions& options, int num_threads, std::shared_ptr<HostMemory> memory) {
  require(problems(options).empty(), "options make a graph");
  require(options.split[0] + options.split[1] + options.split[2] <= options.num_nodes, "splits fit into the graph");
  oneapi::tbb::task_arena arena = arena_of(num_threads);
  const std::shared_ptr<const GeneratedStore> store =
      arena.execute([&] { return generate(options, std::move(memory)); });
  Dataset dataset;
  dataset.facts() = facts_of(options);
  std::string identity = options.name;
  for (const std::uint64_t number :
       {options.num_nodes, options.max_degree, options.split[0], options.split[1],
        static_cast<std::uint64_t>(options.feature_dim), static_cast<std::uint64_t>(options.num_classes),
        std::uint64_t{options.seed}, static_cast<std::uint64_t>(options.feature_type)})
    identity.append(" ").append(std::to_string(number));
  identity.append(" ").append(to_text(options.mean_degree));
  if (options.train_communities < 1) identity.append(" ").append(to_text(options.train_communities));
  dataset.fingerprint = to_hex(digest_of(std::as_bytes(std::span(identity))).xxh3);
  dataset.graph = store->graph.view();
  if (options.feature_dim > 0)
    dataset.features = {store->features.data(), options.num_nodes, dataset.feature_row_bytes(), dataset.fp8_scale};
  dataset.labels = store->labels;
  dataset.train = store->split[0];
  dataset.valid = store->split[1];
  dataset.test = store->split[2];
  dataset.storage = store;
  return dataset;
}

}  // namespace salient
