// loaders/synthetic.cpp - options of synthetic data sets, and the generation of labels, features and split.
#include "loaders/synthetic.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/file_io.h"
#include "engine/core/half.h"
#include "engine/core/options.h"
#include "engine/core/progress.h"
#include "loaders/synthetic_graph.h"

namespace salient {
namespace {

constexpr std::string_view kPrefix = "synthetic:";
constexpr float kNoiseScale = 1 / 147.8F;  // the sum of four uniform bytes has this deviation

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
};

void check(const SyntheticOptions& options) {
  const auto rule = [](bool holds, const char* text) {
    if (!holds) fail(ErrorKind::kUsage, text);
  };
  rule(options.num_nodes >= 1 && options.num_nodes < 0xFFFFFFFF, "--nodes: 1 to 2^32 - 2");
  rule(options.mean_degree >= 1 && options.mean_degree <= 1e6, "--mean-degree: 1 to 1000000");
  rule(options.feature_dim >= 0 && options.feature_dim <= 1 << 16, "--features: 0 to 65536");
  rule(options.num_classes >= 1 && static_cast<std::uint64_t>(options.num_classes) <= options.num_nodes &&
           options.num_classes <= 1 << 16,
       "--classes: at least 1, at most one per node and 65536");
  require(options.split[0] + options.split[1] + options.split[2] <= options.num_nodes, "splits fit into the graph");
}

/// The arrays behind a generated Dataset.
struct GeneratedStore {
  CsrArrays graph{};
  UnsetHugeVector<std::byte> features{};
  UnsetHugeVector<std::int32_t> labels{};
  std::array<std::vector<NodeId>, 3> split{};
};

class Generator {
 public:
  explicit Generator(const SyntheticOptions& options) : options_(options), communities_(options) {}

  std::shared_ptr<const GeneratedStore> generate() const {
    auto store = std::make_shared<GeneratedStore>();
    draw_split(store->split);
    draw_labels(store->labels, store->split);
    if (options_.feature_dim > 0) draw_features(store->features);
    store->graph = make_synthetic_graph(options_, communities_);
    return store;
  }

 private:
  using Range = oneapi::tbb::blocked_range<std::uint64_t>;

  PhiloxBlock draw(SyntheticDraw what, std::uint32_t a, std::uint32_t b = 0) const {
    return philox4x32({{options_.seed, 0x44415441}}, {{a, b, 0, static_cast<std::uint32_t>(what)}});
  }

  void draw_split(std::array<std::vector<NodeId>, 3>& split) const {
    const IndexPermutation order(options_.num_nodes, {{options_.seed, 0x44415441}},
                                 static_cast<std::uint32_t>(SyntheticDraw::kSplit));
    std::uint64_t next = 0;
    for (std::size_t part = 0; part < split.size(); ++part) {
      split[part].resize(options_.split[part]);
      for (NodeId& node : split[part]) node = static_cast<NodeId>(order(next++));
    }
  }

  /// The community, or with probability 1 - fidelity that of a random node.
  std::int32_t label_of(NodeId node) const {
    const PhiloxBlock words = draw(SyntheticDraw::kLabel, node);
    const bool is_faithful = words.word[0] * 0x1p-32 < options_.label_fidelity;
    const std::uint64_t random_rank = std::uint64_t{words.word[1]} * options_.num_nodes >> 32;
    return communities_.community_of(is_faithful ? communities_.rank_of(node) : random_rank);
  }

  void draw_labels(UnsetHugeVector<std::int32_t>& labels, const std::array<std::vector<NodeId>, 3>& split) const {
    labels.assign(options_.num_nodes, -1);
    for (const std::vector<NodeId>& part : split)
      oneapi::tbb::parallel_for(Range(0, part.size(), 4096), [&](const Range& range) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i) labels[part[i]] = label_of(part[i]);
      });
  }

  /// Feature j of a node = (+-signal by (community, j), + the noise of (node, j)) / 147.8. The noise is the sum of four
  /// bytes less its mean: whole numbers up to one multiplication, so that every machine gets the same bits.
  void draw_features(UnsetHugeVector<std::byte>& features) const {
    const auto dim = static_cast<std::size_t>(options_.feature_dim);
    const std::vector<float> means = community_means();
    features.resize(options_.num_nodes * dim * size_of(options_.feature_type));
    Progress progress("generating features", options_.num_nodes, "rows");
    oneapi::tbb::parallel_for(Range(0, options_.num_nodes, 1024), [&](const Range& range) {
      std::vector<float> row((dim + 3) / 4 * 4);
      for (std::uint64_t v = range.begin(); v < range.end(); ++v) {
        const auto node = static_cast<NodeId>(v);
        const auto community = static_cast<std::size_t>(communities_.community_of(communities_.rank_of(node)));
        const float* mean = means.data() + community * row.size();
        for (std::uint32_t block = 0; block < row.size() / 4; ++block) {
          const PhiloxBlock words = draw(SyntheticDraw::kFeatureNoise, node, block);
          for (std::size_t i = 0; i < 4; ++i) {
            const std::uint32_t w = words.word[i], pairs = (w & 0x00FF00FF) + (w >> 8 & 0x00FF00FF);
            const auto sum = static_cast<std::int32_t>((pairs & 0xFFFF) + (pairs >> 16));
            // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): below feature_dim
            row[4 * block + i] = (static_cast<float>(sum - 510) + mean[4 * block + i]) * kNoiseScale;
          }
        }
        std::byte* out = features.data() + v * dim * size_of(options_.feature_type);
        if (options_.feature_type == FeatureType::kF16)
          floats_to_halves(row.data(), dim, reinterpret_cast<std::uint16_t*>(out));
        else
          std::memcpy(out, row.data(), dim * sizeof(float));
      }
      progress.add(range.size());
    });
  }

  std::vector<float> community_means() const {
    const std::size_t stride = (static_cast<std::size_t>(options_.feature_dim) + 3) / 4 * 4;
    std::vector<float> means(static_cast<std::size_t>(options_.num_classes) * stride);
    for (std::size_t i = 0; i < means.size(); ++i) {
      const auto community = static_cast<std::uint32_t>(i / stride), feature = static_cast<std::uint32_t>(i % stride);
      const bool is_up = draw(SyntheticDraw::kFeatureMean, community, feature).word[0] >> 31 != 0;
      means[i] = static_cast<float>(is_up ? options_.feature_signal : -options_.feature_signal);
    }
    return means;
  }

  const SyntheticOptions& options_;
  Communities communities_;
};

}  // namespace

SyntheticOptions synthetic_like(std::string_view name, double scale) {
  if (!(scale > 0 && scale <= 1)) fail(ErrorKind::kUsage, "--scale: above 0 and at most 1");
  const auto found = std::ranges::find(kLike, name, &SyntheticOptions::name);
  if (found == kLike.end())
    fail(ErrorKind::kUsage, "--like: arxiv, products or papers100M, not '" + std::string(name) + "'");
  SyntheticOptions options = *found;
  options.name = "synthetic-" + options.name;
  if (scale == 1) return options;
  options.name += "-" + options::to_text(scale);
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
  check(options);
  return options;
}

bool is_synthetic_name(std::string_view dataset) { return dataset.starts_with(kPrefix); }

SyntheticOptions parse_synthetic_name(std::string_view dataset) {
  require(is_synthetic_name(dataset), "the name of a synthetic data set starts with synthetic:");
  const std::string_view rest = dataset.substr(kPrefix.size());
  const std::size_t colon = std::min(rest.find(':'), rest.size());
  double scale = 1;
  const bool has_scale = colon < rest.size();
  const bool is_known = std::ranges::find(kLike, rest.substr(0, colon), &SyntheticOptions::name) != kLike.end();
  if (!is_known || (has_scale && !options::from_text(rest.substr(colon + 1), scale)) || !(scale > 0 && scale <= 1))
    fail(ErrorKind::kUsage, "--dataset " + std::string(dataset) +
                                ": synthetic:NAME[:SCALE] takes arxiv, products or papers100M, and a scale above 0 and "
                                "at most 1");
  return synthetic_like(rest.substr(0, colon), scale);
}

std::uint64_t synthetic_bytes(const SyntheticOptions& options) {
  const auto entries = static_cast<std::uint64_t>(static_cast<double>(options.num_nodes) * options.mean_degree);
  const std::uint64_t row = static_cast<std::uint64_t>(options.feature_dim) * size_of(options.feature_type);
  return options.num_nodes * (row + sizeof(EdgeOffset) + sizeof(std::int32_t)) + entries * sizeof(NodeId) +
         (options.split[0] + options.split[1] + options.split[2]) * sizeof(NodeId);
}

Dataset make_synthetic_dataset(const SyntheticOptions& options, int num_threads) {
  check(options);
  oneapi::tbb::task_arena arena(num_threads > 0 ? num_threads : oneapi::tbb::task_arena::automatic);
  const std::shared_ptr<const GeneratedStore> store = arena.execute([&] { return Generator(options).generate(); });
  Dataset dataset;
  dataset.name = options.name;
  dataset.source_kind = "synthetic";
  std::string identity = options.name;
  for (const std::uint64_t number :
       {options.num_nodes, options.max_degree, options.split[0], options.split[1],
        static_cast<std::uint64_t>(options.feature_dim), static_cast<std::uint64_t>(options.num_classes),
        std::uint64_t{options.seed}, static_cast<std::uint64_t>(options.feature_type)})
    identity.append(" ").append(std::to_string(number));
  identity.append(" ").append(options::to_text(options.mean_degree));
  dataset.fingerprint = to_hex(digest_of(std::as_bytes(std::span(identity))).xxh3);
  dataset.num_classes = options.num_classes;
  dataset.feature_dim = options.feature_dim;
  dataset.feature_type = options.feature_type;
  dataset.is_symmetric = true;
  dataset.graph = store->graph.view();
  if (options.feature_dim > 0)
    dataset.features = {store->features.data(), options.num_nodes,
                        static_cast<std::size_t>(options.feature_dim) * size_of(options.feature_type)};
  dataset.labels = store->labels;
  dataset.train = store->split[0];
  dataset.valid = store->split[1];
  dataset.test = store->split[2];
  dataset.storage = store;
  return dataset;
}

}  // namespace salient
