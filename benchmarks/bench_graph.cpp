// benchmarks/bench_graph.cpp - see bench_graph.h.
#include "benchmarks/bench_graph.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "store/synthetic.h"
#include "store/synthetic_graph.h"

namespace salient {
namespace {

SyntheticOptions synthetic_options(NodeId num_nodes, double mean_degree, int feature_dim) {
  SyntheticOptions options = synthetic_of_size(num_nodes, mean_degree, feature_dim, /*num_classes=*/1);
  options.max_degree = std::min(options.max_degree, static_cast<std::uint64_t>(400 * mean_degree));
  options.split = {num_nodes, 0, 0};
  for (const auto& [field, rule] : problems(options)) fail(ErrorKind::kUsage, "--" + field + ": " + rule);
  return options;
}

}  // namespace

CsrArrays make_bench_graph(NodeId num_nodes, double mean_degree) {
  const SyntheticOptions options = synthetic_options(num_nodes, mean_degree, 0);
  const Communities communities(options);
  return make_synthetic_graph(options, communities);
}

Dataset make_bench_dataset(NodeId num_nodes, double mean_degree, int feature_dim) {
  return make_synthetic_dataset(synthetic_options(num_nodes, mean_degree, feature_dim));
}

HugeVector<std::byte> make_bench_rows(std::size_t num_rows, std::size_t row_bytes) {
  HugeVector<std::byte> rows(num_rows * row_bytes);
  oneapi::tbb::parallel_for(std::size_t{0}, rows.size() / sizeof(std::uint64_t), [&](std::size_t i) {
    const std::uint64_t value = i * 0x9E3779B97F4A7C15u;
    std::memcpy(rows.data() + i * sizeof value, &value, sizeof value);
  });
  return rows;
}

}  // namespace salient
