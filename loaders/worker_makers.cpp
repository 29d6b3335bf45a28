// loaders/worker_makers.cpp - see worker_makers.h.
#include "loaders/worker_makers.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "loaders/device_graph.h"
#include "loaders/link_relations.h"
#include "loaders/row_weights.h"
#include "sampler/disjoint_batch_sampler.h"

namespace salient {
namespace {

/// None where the host samples: it alone knows the places of entries.
std::unique_ptr<SamplerPool> make_device_samplers(const Dataset& dataset, const LoaderOptions& options) {
  if (options.data.graph == nullptr || options.entries.any()) return nullptr;
  std::vector<std::unique_ptr<BatchSampler>> samplers;
  for (int i = 0; i < std::clamp(options.num_workers, 1, kDeviceSamplers); ++i)
    samplers.push_back(options.data.graph->make_sampler(options.rule, options.time, dataset.node_times));
  return std::make_unique<SamplerPool>(std::move(samplers));
}

/// The sampler sees what the batch's own links exclude, or the times of its links.
std::unique_ptr<BatchSampler> make_link_sampler(const Dataset& dataset, const LoaderOptions& options,
                                                const LinkSeeds& links) {
  if (!options.time) return std::make_unique<ExcludingBatchSampler>(dataset.graph, options.rule, links.excluded());
  if (options.time->order == TimeOrder::kUpTo)
    fail(ErrorKind::kUsage, "a link is predicted from what was before it: the rule of times is lt, not le");
  return std::make_unique<TemporalBatchSampler>(dataset.graph, options.rule, *options.time, links.seed_times());
}

/// @param on_device  of the pool of the GPU's samplers; null: the host samples
BatchMaker make_link_maker(const Dataset& dataset, const LoaderOptions& options, const LinkNegatives& negatives,
                           std::unique_ptr<BatchSampler> on_device) {
  auto links = std::make_unique<LinkSeeds>(negatives, options.links->times,
                                           on_device ? FindsPlaces::kDevice : FindsPlaces::kHost);
  if (on_device) on_device->leave_out(&links->excluded_keys());
  std::unique_ptr<BatchSampler> sampler =
      on_device ? std::move(on_device) : make_link_sampler(dataset, options, *links);
  BatchMaker maker(dataset, std::move(sampler), options.data, options.row_of, options.degrees);
  maker.take_links(std::move(links));
  if (options.links->has_pair_features) maker.add_pair_features();
  return maker;
}

std::unique_ptr<BatchSampler> make_node_sampler(const Dataset& dataset, const LoaderOptions& options) {
  std::unique_ptr<BatchSampler> sampler = make_host_sampler(dataset, options.rule, options.time);
  if (!options.disjoint) return sampler;
  return std::make_unique<DisjointBatchSampler>(std::move(sampler));
}

/// None of a loader of nodes.
std::optional<LinkNegatives> negatives_of(const Dataset& dataset, const LoaderOptions& options) {
  if (!options.links) return std::nullopt;
  const LinkBatches& of = *options.links;
  require(options.data.graph == nullptr || of.times.empty(), "links with times are sampled on the host");
  if (options.time && dataset.types.is_typed())
    fail(ErrorKind::kUsage, "neighbours are to be drawn by time, and " + dataset.name + " has node types");
  require(options.time.has_value() == !of.times.empty(), "links have times where neighbours are drawn by time");
  require(!of.has_pair_features || !of.times.empty(), "features of pairs are of links with times");
  require(of.times.empty() || of.times.size() == of.ends.size() / 2, "every link has a time, or none has");
  require(of.relations.size() == (dataset.types.is_typed() ? of.ends.size() / 2 : 0),
          "links have relations where the graph is typed");
  if (of.rule.sampler == NegativeSampler::kGiven && of.given.of_link == 0 && of.given.pairs.empty())
    fail(ErrorKind::kUsage, dataset.name + ": negatives are to be those that are given, and there are none");
  return LinkNegatives(dataset.graph, of.rule, of.ends, of.given, link_relations_of(dataset, of.relations));
}

}  // namespace

WorkerMakers::WorkerMakers(const Dataset& dataset, const LoaderOptions& options)
    : num_workers_(options.num_workers),
      row_weights_(options.entries.row_weights ? row_weights_of(dataset.graph) : std::vector<float>()),
      device_samplers_(make_device_samplers(dataset, options)) {
  require(!options.disjoint || (!device_samplers_ && !options.links && !dataset.types.is_typed()),
          "trees of their own are sampled on the host, around nodes of plain graphs");
  if (options.entries.gaps && !options.time)
    fail(ErrorKind::kUsage,
         "the model reads how long before its seed an edge was, and neighbours are not drawn by time");
  const std::optional<LinkNegatives> negatives = negatives_of(dataset, options);
  for (int w = 0; w < std::max(num_workers_, 1); ++w) {
    if (negatives)
      makers_.push_back(
          make_link_maker(dataset, options, *negatives, device_samplers_ ? device_samplers_->make_handle() : nullptr));
    else
      makers_.emplace_back(dataset,
                           device_samplers_ ? device_samplers_->make_handle() : make_node_sampler(dataset, options),
                           options.data, options.row_of, options.degrees);
    if (options.entries.any()) makers_.back().carry(options.entries, row_weights_);
    if (options.has_paged_rows) makers_.back().expect_paged_rows();
  }
}

// Workers of an arena have distinct indices; without workers there is only the caller.
int WorkerMakers::this_worker() const {
  return num_workers_ == 0 ? 0 : oneapi::tbb::this_task_arena::current_thread_index();
}

}  // namespace salient
