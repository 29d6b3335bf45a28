// store/synthetic.h - generated data sets the size and shape of well-known ones, for tests and for measuring speed.
//
// Every value is a function of (options, what it is about): any machine and thread count generates the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/field_problem.h"
#include "core/host/host_memory.h"
#include "store/dataset.h"
#include "store/row_table.h"

namespace salient {

/// The defaults make a small graph that trains in seconds.
struct SyntheticOptions {
  std::string name = "synthetic";
  std::uint64_t num_nodes = 10'000;
  double mean_degree = 15;          ///< adjacency entries per node, before repeats are dropped (a percent or so)
  std::uint64_t max_degree = 1000;  ///< degrees follow a power law, density ~ d^-3, up to here
  int feature_dim = 64;
  FeatureType feature_type = FeatureType::kF16;
  int num_classes = 16;                                     ///< of uneven size: class c is proportional to 1 / (c + 3)
  std::array<std::uint64_t, 3> split = {6000, 2000, 2000};  ///< train, valid, test; nodes outside have no label
  double train_communities = 1;  ///< share of the nodes, in whole communities, that the split comes from; 1 = all
  double homophily = 0.6;        ///< share of a node's edges that stay inside its community
  double label_fidelity = 0.9;   ///< share of nodes whose label is their community; bounds every model's accuracy
  int feature_signal = 40;       ///< distance of a community's feature means from 0; the noise has deviation 147.8
  std::uint32_t seed = 0;
};

/// What makes no graph: {"nodes", "1 to 2^32 - 2"}, and so on.
std::vector<FieldProblem> problems(const SyntheticOptions& options);

/// The same for the arguments of synthetic_like().
std::vector<FieldProblem> problems_like(std::string_view name, double scale);

/// The size and difficulty of arxiv, products, papers100M or mag240M, times `scale`.
/// problems_like() has the rules; there are none here.
SyntheticOptions synthetic_like(std::string_view name, double scale = 1);

/// The same for a graph of one's own size; the split is 60 : 20 : 20.
SyntheticOptions synthetic_of_size(std::uint64_t num_nodes, double mean_degree, int feature_dim, int num_classes);

/// Labelled nodes as papers100M has them, whose are arXiv's: few communities, hence neighbours of each other. The split
/// comes from the smallest communities that have `share` of the nodes together, or as many as it needs. The graph is
/// the same.
void cluster_split(SyntheticOptions& options, double share);

/// Clear communities: `share` of a node's edges stay inside its own, and no degree is above ten times the mean, as the
/// nodes of very high degree are in every batch whatever its communities are. 0 = as in the original's twin.
void keep_edges_inside(SyntheticOptions& options, double share);

/// Whether it is written "synthetic:NAME[:SCALE[:SHARE[:INSIDE]]]", with SHARE for cluster_split() and INSIDE for
/// keep_edges_inside().
bool is_synthetic_name(std::string_view dataset);
/// @throws Error{kUsage} saying what is allowed.
SyntheticOptions parse_synthetic_name(std::string_view dataset);

/// The bytes that make_synthetic_dataset() will hold, roughly, for a memory plan.
std::uint64_t synthetic_bytes(const SyntheticOptions& options);

/// The most that a process takes while it generates and writes them, itself included: an upper bound.
/// @param num_threads  0 = all cores
std::uint64_t synthetic_peak_bytes(const SyntheticOptions& options, int num_threads);

/// Generates graph, features, labels and split in memory.
///
/// A node's own features are weak evidence of its community, its neighbours' features together are strong: accuracy
/// without edges is modest and rises with every hop, up to about label_fidelity. docs/DATASETS.md has the figures.
/// @param num_threads  0 = all cores.
/// @param memory       where the arrays will be, kept as long as the data set; null = this process' own.
/// There are no problems(options). Shows progress.
/// Cost: 30 ns per entry on a core, and little memory beyond the result (16 bytes per node, 4 per 16 entries).
Dataset make_synthetic_dataset(const SyntheticOptions& options, int num_threads = 0,
                               std::shared_ptr<HostMemory> memory = nullptr);

}  // namespace salient
