// python/bindings/batch_stream.h - the batches of an epoch, prepared in the background, each the owner of its memory.
//
// The pipeline is BatchLoader's (loaders/batch_producer.h), which lends its batches: the next call takes the memory
// back. A tensor in Python may live as long as its user likes, so here a batch takes its slab along, and workers fill
// another one of the pool.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loaders/batch_maker.h"
#include "loaders/resident_data.h"
#include "python/bindings/slab_pool.h"
#include "sampler/sampler_pool.h"

namespace salient::python {

/// Which nodes, or links, meet in which batch. The same order and the same draws as in salient-train, for equal values.
struct EpochOrder {
  std::vector<NodeId> nodes{};  ///< distinct; on every rank the same
  std::size_t batch_size = 1;   ///< seeds of a rank
  bool is_shuffled = false;     ///< by (seed, epoch)
  bool drops_last = false;      ///< leaves out a global batch that is not full
  std::uint32_t seed = 0;
  int rank = 0, num_ranks = 1;

  std::size_t num_batches() const;
};

struct StreamOptions {
  SamplingRule rule{};
  std::optional<TimeRule> time{};          ///< as LoaderOptions::time
  std::vector<std::int64_t> node_times{};  ///< [V] instead of the data set's; empty: those
  bool disjoint = false;                   ///< as LoaderOptions::disjoint
  EntryParts entries{};                    ///< as LoaderOptions::entries
  std::vector<NodeId> link_ends{};         ///< [n, 2] of the links whose numbers are the order's nodes, as `links` says
  std::vector<std::uint16_t> link_relations{};  ///< [n] of a typed graph, likewise
  std::vector<std::int64_t> link_times{};       ///< [n] of `time`, likewise
  std::optional<LinkRule> links{};              ///< none: they are nodes
  int num_workers = 1;                          ///< 0 = the caller's thread
  int num_ahead = 2;                            ///< batches that wait for the consumer, at least 1
  /// kDevice: x is not written. kCached: rows that `cached` lacks are, and for each node which row it has.
  Residency features = Residency::kHost;
  std::shared_ptr<const NodeSet> cached{};  ///< of kCached, else null
};

/// Of one hop and relation of a typed graph: its rows whose destinations the hop before it, towards the seeds, had not.
struct NewRows {
  LocalId begin = 0, end = 0;  ///< in TypedHopLayout::relation_rows
  LocalId num_edges = 0;
};

struct StreamedBatch {
  Batch batch{};                           ///< its memory is in `slab`
  OwnedSlab slab{};                        ///
  std::vector<NodeId> links{};             ///< of links: the numbers of this rank's
  std::vector<LocalId> first_new_edges{};  ///< [L] outermost first: edges of the hop's destinations that the hop before
                                           ///< it, towards the seeds, had as destinations already
  std::vector<std::vector<NewRows>> new_rows{};  ///< likewise, of a typed graph alone: [L][R]
};

/// Any thread may call any function at any time. An epoch that was started is a run, known by its number; start() of
/// another thread ends it. In a forked child there are no batches, and stop() does nothing.
class BatchStream {
 public:
  /// @param dataset, graph  live as long as the stream; graph null = the host samples
  BatchStream(std::shared_ptr<const Dataset> dataset, std::shared_ptr<const DeviceGraph> graph, StreamOptions options,
              std::unique_ptr<PagePinner> pinner);
  /// Stops. In a forked child, where the workers do not exist, it leaves everything as it is.
  ~BatchStream();
  BatchStream(const BatchStream&) = delete;
  BatchStream& operator=(const BatchStream&) = delete;

  /// Ends the run before, and starts one of this epoch at batch `first`. @return its number, above 0
  std::uint64_t start(EpochOrder order, std::uint32_t epoch, std::size_t first);

  /// The next batch of the run in order, to one caller each; none after the last, and after the run's end. Blocks while
  /// none is ready.
  /// @throws what a worker threw, instead of the batch that failed; the run is over then.
  std::optional<StreamedBatch> next(std::uint64_t run);

  /// Ends the run if it has not ended: workers finish the batch at hand, the rest is dropped. Blocks until they have. A
  /// next() without workers that another thread has called ends in its own time.
  void stop(std::uint64_t run);

  /// The same of whichever run there is.
  void stop();

 private:
  bool is_inherited() const;  // by a forked child

  struct Impl;
  std::unique_ptr<Impl> impl_;
  int process_;
};

}  // namespace salient::python
