// loaders/batch_loader.h - the batch pipeline as a trainer sees it: ask for an epoch, take batches in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loaders/batch_source.h"
#include "loaders/host_slab.h"
#include "loaders/residency.h"
#include "sampler/link_rule.h"
#include "sampler/sampling_rule.h"
#include "sampler/time_rule.h"
#include "store/dataset.h"

namespace salient {

/// What a loader of links makes batches of.
struct LinkBatches {
  std::span<const NodeId> ends{};  ///< [n, 2] of the links; outlives the loader
  LinkRule rule{};
  /// [n] of LoaderOptions::time: the ends of a link, and of its negatives, see what was before it. Nothing else is
  /// excluded: of links between the same ends the earlier ones are seen. Outlives the loader
  std::span<const std::int64_t> times{};
  GivenEnds given{};               ///< of NegativeSampler::kGiven; outlives the loader
  bool has_pair_features = false;  ///< batches have features of pairs (loaders/pair_features.h); of links with times
  /// [n] of a typed graph: whose ends are of the relation's types. Outlives the loader
  std::span<const std::uint16_t> relations{};
};

struct LoaderOptions {
  SamplingRule rule{};                   ///< which neighbours batches have
  std::optional<TimeRule> time{};        ///< of those that the seeds see by their own times; none: all. On the host
  bool disjoint = false;                 ///< every seed has a tree of its own. On the host, of nodes of plain graphs
  std::optional<LinkBatches> links{};    ///< requests are of these links; none: of nodes. With times on the host
  Degrees degrees = Degrees::kOfNoNode;  ///< in every batch, for a model that reads them
  EntryParts entries{};                  ///< of the hops of every batch, likewise; the host samples them, wherever the
                                         ///< graph is
  int num_workers = 1;                   ///< threads that prepare batches; 0 = the caller's thread, for debugging
  int num_slots = 4;       ///< batches in flight, bounded memory; at least 2; 0 = default_slots(). With fewer than
                           ///< num_workers + 2 some workers have nothing to do
  bool to_device = false;  ///< pinned slabs, one asynchronous copy per batch to the current device
  int num_held = 1;        ///< batches that the consumer works on: next() releases the one that it returned num_held
                           ///< calls earlier. Slots come on top; more than 1 only of batches on the host
  PagePinner* pinner = nullptr;  ///< of the slabs, if they stay on the host; outlives the loader
  ResidentView data{};           ///< what is in GPU memory, of ResidentData; outlives the loader. Batches are the same;
                                 ///< features in GPU memory need to_device
  std::span<const NodeId> row_of{};  ///< [V] the feature row of each node, which batches have instead of node ids;
                                     ///< empty = the node's id. Outlives the loader; not with cached features
  bool has_paged_rows = false;       ///< dense rows are in a mapped file that memory may not hold; not of fp8
};

/// Enough for every worker, for the consumer, and a quarter more: batches differ in size and arrive in order, so a
/// worker whose batch is ready early goes on with another.
int default_slots(int num_workers);

/// How many batches are in device memory at a time.
int num_device_slabs(int num_slots);

/// The most samplers of a loader whose graph is in GPU memory: one works while another's result is copied to the host
/// and the third's thread wakes up. Each holds scratch memory for a batch.
inline constexpr int kDeviceSamplers = 3;

/// Prepares the batches of an epoch on its own threads, always in order, in `num_slots` slabs that are kept from epoch
/// to epoch. One consumer thread.
class BatchLoader final : public BatchSource {
 public:
  /// @param dataset  outlives the loader.
  BatchLoader(const Dataset& dataset, LoaderOptions options);
  ~BatchLoader() override;  ///< stops the workers, drops what they prepared
  BatchLoader(const BatchLoader&) = delete;
  BatchLoader& operator=(const BatchLoader&) = delete;

  void start(std::vector<BatchRequest> requests) override;
  const Batch* next(CUstream_st* stream = nullptr) override;
  void stop() override;
  LoaderStats stats() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
