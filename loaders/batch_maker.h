// loaders/batch_maker.h - makes one batch: samples it, then writes it into a slab.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "loaders/batch.h"
#include "loaders/held_rows.h"
#include "loaders/residency.h"
#include "loaders/typed_batch.h"
#include "sampler/batch_sampler.h"
#include "sampler/link_seeds.h"
#include "sampler/time_rule.h"
#include "store/dataset.h"

namespace salient {

/// The sampler of a data set's graph on the caller's thread.
/// @param dataset  outlives the sampler
/// @param time     which edges a seed sees, by its own time; none: all
/// @throws as NeighborSampler and TemporalSampler; Error{kUsage} naming the data set, where a rule of times is given
///         and it has none, or is typed
std::unique_ptr<BatchSampler> make_host_sampler(const Dataset& dataset, SamplingRule rule,
                                                const std::optional<TimeRule>& time);

/// One worker's scratch memory. Make one per thread and keep it.
///
/// Determinism: the bytes of a batch depend on the data set, the rule and the request alone; the gaps between its
///              parts hold anything.
/// Threads:     different makers may work at the same time.
class BatchMaker {
 public:
  /// @param dataset  outlives the maker.
  /// @param data     rows that it has are not written. What it points to outlives the maker.
  /// @param row_of   as LoaderOptions::row_of.
  BatchMaker(const Dataset& dataset, SamplingRule rule, const ResidentView& data = {},
             std::span<const NodeId> row_of = {}, Degrees degrees = Degrees::kOfNoNode);

  /// The same with a sampler of the caller's choice; data.graph is not looked at.
  BatchMaker(const Dataset& dataset, std::unique_ptr<BatchSampler> sampler, const ResidentView& data = {},
             std::span<const NodeId> row_of = {}, Degrees degrees = Degrees::kOfNoNode);

  /// Samples the request's MFG and lays out its slab: fills `batch` except for where its data is.
  /// @throws as BatchSampler::sample().
  void sample(const BatchRequest& request, Batch& batch);

  /// Writes what was sampled last into `slab`: features and labels gathered, ids and MFG copied. Sets
  /// batch.layout.prepared_bytes to what was written.
  /// @param slab  [batch.layout.prepared_bytes], aligned to kBatchAlignment.
  /// Oracle:      gather_rows_reference(), and the MFG's own arrays.
  void write(Batch& batch, std::byte* slab);

  /// Requests are of links from now on, and batches have pairs. @param links  whose exclusions the maker's sampler sees
  void take_links(std::unique_ptr<LinkSeeds> links) noexcept { links_ = std::move(links); }

  /// Pairs have features from now on, as LinkBatches::has_pair_features. The maker's links have times.
  void add_pair_features();

  /// As LoaderOptions::entries. @throws Error{kInternal} for features or weights of edges that have none
  /// @param row_weights  row_weights_of() the graph, of EntryParts::row_weights; outlives the maker
  void carry(EntryParts entries, std::span<const float> row_weights = {});

  /// As LoaderOptions::has_paged_rows.
  void expect_paged_rows() noexcept { has_paged_rows_ = true; }

  /// What was sampled last will not be written; its memory is free for other makers.
  void drop() noexcept { sampler_->drop(); }

 private:
  void write_features(Batch& batch, std::byte* slab);
  void write_weights(const BatchLayout& layout, std::byte* slab) const;
  void write_times(const BatchLayout& layout, std::byte* slab) const;
  void write_labels(const BatchLayout& layout, std::byte* slab) const;
  void list_hops(const BatchLayout& layout, std::byte* slab);
  void write_sparse_rows(BatchLayout& layout, std::byte* slab) const;
  std::size_t write_missed_rows(const BatchLayout& layout, std::byte* slab);

  const Dataset* dataset_;
  std::unique_ptr<LinkSeeds> links_;  // null: requests are of nodes
  std::unique_ptr<BatchSampler> sampler_;
  Residency residency_;
  const NodeSet* cached_;
  std::optional<HeldRowWriter> held_;  // kPartitioned
  std::span<const NodeId> row_of_;
  Degrees degrees_;
  EntryParts entries_{};
  std::span<const float> row_weights_{};
  bool has_paged_rows_ = false;
  bool has_pair_features_ = false;
  TypedBatchWriter typed_;
  std::span<const NodeId> seeds_{};         // of the batch sampled last
  std::vector<MfgMemory::Hop> hop_memory_;  // scratch of write()
  std::vector<std::int64_t> places_;        // likewise, of the entries of all hops where the slab has none
  std::vector<std::int64_t> times_;         // likewise, when each node is seen, where entries have gaps
  std::vector<NodeId> missed_;              // likewise
};

}  // namespace salient
