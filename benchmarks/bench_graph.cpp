// benchmarks/bench_graph.cpp - see bench_graph.h.
#include "benchmarks/bench_graph.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "core/philox.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

double unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

template <class Work>
void for_each(std::size_t count, Work work) {
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, count), [&](const auto& range) {
    for (std::size_t i = range.begin(); i < range.end(); ++i) work(i);
  });
}

}  // namespace

BenchGraph make_bench_graph(NodeId num_nodes, double mean_degree) {
  BenchGraph graph;
  graph.indptr.resize(num_nodes + std::size_t{1});
  for_each(num_nodes, [&](std::size_t v) {
    const double u = unit(philox4x32({{1, 0}}, {{static_cast<std::uint32_t>(v), 0, 0, 0}}).word[0]);
    graph.indptr[v + 1] = static_cast<EdgeOffset>(std::min(mean_degree / 2 / std::sqrt(u), 400 * mean_degree));
  });
  std::partial_sum(graph.indptr.begin(), graph.indptr.end(), graph.indptr.begin());
  graph.indices.resize(static_cast<std::size_t>(graph.indptr.back()));
  for_each(graph.indices.size(), [&](std::size_t e) {
    const PhiloxBlock counter{{static_cast<std::uint32_t>(e), static_cast<std::uint32_t>(e >> 32), 0, 0}};
    const double u = unit(philox4x32({{1, 1}}, counter).word[0]);
    const auto rank = static_cast<std::uint64_t>(u * u * num_nodes);
    graph.indices[e] = static_cast<NodeId>(rank * 2246822519u % num_nodes);
  });
  return graph;
}

HugeVector<std::byte> make_bench_rows(std::size_t num_rows, std::size_t row_bytes) {
  HugeVector<std::byte> rows(num_rows * row_bytes);
  for_each(rows.size() / sizeof(std::uint64_t), [&](std::size_t i) {
    const std::uint64_t value = i * 0x9E3779B97F4A7C15u;
    std::memcpy(rows.data() + i * sizeof value, &value, sizeof value);
  });
  return rows;
}

Dataset make_bench_dataset(NodeId num_nodes, double mean_degree, int feature_dim) {
  struct Storage {
    BenchGraph graph{};
    HugeVector<std::byte> features{};
    std::vector<std::int32_t> labels{};
    std::vector<NodeId> train{};
  };
  const auto storage = std::make_shared<Storage>();
  const std::size_t row_bytes = static_cast<std::size_t>(feature_dim) * size_of(FeatureType::kF16);
  storage->graph = make_bench_graph(num_nodes, mean_degree);
  storage->features = make_bench_rows(num_nodes, row_bytes);
  storage->labels.assign(num_nodes, 0);
  storage->train.resize(num_nodes);
  std::iota(storage->train.begin(), storage->train.end(), NodeId{0});
  shuffle_seeds(storage->train, 1, 0);

  Dataset dataset;
  dataset.name = "generated";
  dataset.source_kind = "synthetic";
  dataset.num_classes = 1;
  dataset.feature_dim = feature_dim;
  dataset.graph = storage->graph.view();
  dataset.features = {storage->features.data(), num_nodes, row_bytes};
  dataset.labels = storage->labels;
  dataset.train = storage->train;
  dataset.storage = storage;
  return dataset;
}

}  // namespace salient
