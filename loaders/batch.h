// loaders/batch.h - one mini-batch in one slab of memory, on the host or on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "loaders/residency.h"
#include "sampler/draws.h"
#include "sampler/mfg.h"
#include "sampler/node_degree.h"
#include "store/label_table.h"
#include "store/row_table.h"
#include "store/sparse_rows.h"

namespace salient {

/// Which batch to make. `seeds` points into the epoch's seed order and may be empty (a rank that has run out).
struct BatchRequest {
  BatchKey key{};                   ///< run seed, epoch, global batch index: all the sampler's randomness
  std::span<const NodeId> seeds{};  ///< [S] distinct; of a loader of links numbers of links, as the next
  std::span<const NodeId> batch{};  ///< of all ranks, of links alone: what none of them sees follows from it
};

/// Whether a batch carries the degrees of its nodes in the whole graph; only some models read them.
enum class Degrees : std::uint8_t { kOfNoNode, kOfEveryNode };

inline Degrees degrees_for(bool model_reads_them) {
  return model_reads_them ? Degrees::kOfEveryNode : Degrees::kOfNoNode;
}

/// What a batch carries of the entries of its hops, beside the nodes that they join.
struct EntryParts {
  bool places = false;       ///< where each entry is in the graph's arrays
  bool features = false;     ///< the features of its edge; of a data set that has some
  bool weights = false;      ///< the weight of its edge, likewise
  bool row_weights = false;  ///< and of each node the sum of the weights of its whole row
  bool gaps = false;         ///< log_gap() of the seed's time and its own; of samples by a rule of times

  bool any() const { return places || features || weights || gaps; }
  bool operator==(const EntryParts&) const = default;
};

/// What a batch has beside labels, nodes, hops and features.
struct BatchParts {
  Degrees degrees = Degrees::kOfNoNode;
  LocalId num_pairs = 0;  ///< of a batch of links, else 0
  EntryParts entries{};
  bool has_pair_features = false;
};

inline constexpr std::size_t kBatchAlignment = 256;  ///< of every part of a slab, in bytes

/// One layer of the MFG inside a slab. Offsets are bytes from the slab's start.
struct HopLayout {
  LocalId num_dst = 0;
  LocalId num_src = 0;
  LocalId num_edges = 0;
  std::size_t indptr = 0;   ///< int32 [num_dst + 1], of a typed graph [rows + 1]
  std::size_t indices = 0;  ///< int32 [num_edges]
  std::size_t places = 0;   ///< int64 [num_edges], of EntryParts::places
  std::size_t edge_x = 0;   ///< [num_edges, edge_dim] of edge_type, of EntryParts::features
  std::size_t weights = 0;  ///< float [num_edges], of EntryParts::weights
  std::size_t gaps = 0;     ///< float [num_edges], of EntryParts::gaps
};

/// What a layer of a typed graph has beside. Its rows are the slots of the destinations, destination by destination.
struct TypedHopLayout {
  TypedHopShape shape{};
  std::size_t row_begin = 0;  ///< int32 [num_dst + 1] the first row of each destination
  std::size_t row_dst = 0;    ///< int32 [shape.num_rows] the destination of each row
  std::size_t relation_rows =
      0;  ///< int32 [shape.relation_begin[R]] the rows that have entries, by relation, ascending
};

/// The nodes of one type, of a typed graph, and their features.
struct TypeLayout {
  LocalId num_nodes = 0;
  std::size_t nodes = 0;                         ///< int32 [num_nodes] their numbers in the batch, ascending
  int feature_dim = 0;                           ///< 0 = none, and no x
  FeatureType feature_type = FeatureType::kF16;  ///< of x; f16 where the data set has fp8
  FeatureLayout feature_layout{};
  LocalId num_values = 0;     ///< kCsr, as the two below: of all rows; as in BatchLayout
  std::size_t x_begin = 0;    ///< int32 [num_nodes + 1]
  std::size_t x_columns = 0;  ///< int32 [num_values] ascending in each row
  std::size_t x = 0;          ///< feature_type [num_nodes, feature_dim], of kCsr [num_values]; from write() on
  NodeId first = 0;           ///< the id of row 0 of the type's table
  std::size_t x_rows = 0;     ///< kDevice, dense: uint32 [num_nodes] rows of the table, which the device writes;
                              ///< kCached as in BatchLayout, as is the next
  std::size_t x_missed = 0;
};

/// The parts of a batch in its slab. Their offsets are the same on host and device, so one copy moves all. Every part
/// starts at a multiple of kBatchAlignment. x is the last, so that it can be left out of the copy; the part before it
/// has the rows that the device lacks, which may be fewer than there is room for. Of sparse rows x has the values.
struct BatchLayout {
  LocalId num_nodes = 0;  ///< N, rows of x
  LocalId num_seeds = 0;  ///< S, rows of y
  int feature_dim = 0;
  FeatureType feature_type = FeatureType::kF16;  ///< of x; f16 where the data set has fp8
  FeatureLayout feature_layout{};                ///< of the feature rows; kCsr on the host alone
  LabelType label_type{};                        ///< of a row of y
  Residency residency{};                         ///< of the feature rows
  std::size_t y = 0;                             ///< [S] rows of label_type
  std::size_t nodes = 0;                         ///< uint32 [N] global ids
  LocalId num_pairs = 0;                         ///< of a batch of links, else 0
  std::size_t pairs = 0;                         ///< int32 [num_pairs, 2 or 3] LinkSeeds::pairs()
  bool has_pair_features = false;                ///< of a batch of links
  std::size_t pair_x = 0;                        ///< float [num_pairs, kPairFeatures], if it has them
  Degrees degrees_of{};                          ///< whose degrees the slab has
  std::size_t degrees = 0;                       ///< NodeDegree [N], if it has them
  std::size_t row_weights = 0;                   ///< float [N], of EntryParts::row_weights
  EntryParts entries{};                          ///< what hops have of their entries
  int edge_dim = 0;                              ///< of EntryParts::features, as is the next
  FeatureType edge_type = FeatureType::kF16;
  std::vector<HopLayout> hops{};   ///< [L] outermost first
  std::size_t x_rows = 0;          ///< kCached: uint32 [N] rows of the cache, and after its last one those of x_missed
  std::size_t x_missed = 0;        ///< kCached: [M, feature_dim] as the data set stores them, room for M = N
  LocalId num_values = 0;          ///< kCsr: of all rows; an upper bound until BatchMaker::write(), exact afterwards
  std::size_t x_begin = 0;         ///< kCsr: int32 [N + 1]; row i is values begin[i] .. begin[i + 1]
  std::size_t x_columns = 0;       ///< kCsr: int32 [num_values] ascending in each row
  std::size_t x = 0;               ///< feature_type [N, feature_dim], of kCsr [num_values]; from write() on. Of a typed
                                   ///< graph until then where x of the types begins
  std::size_t prepared_bytes = 0;  ///< that workers write and the copy moves, from the slab's start; an upper bound
                                   ///< until BatchMaker::write(), exact afterwards
  std::size_t bytes = 0;           ///< of the whole slab; more than prepared_bytes if the device writes x
  std::vector<TypedHopLayout> typed_hops{};  ///< [L] of a typed graph alone, which has x by type and none of its own
  std::vector<TypeLayout> types{};           ///< [T] likewise

  /// Room for a part behind all that there are. @return  its offset
  std::size_t add(std::size_t num_bytes);
};

/// A prepared batch: a layout and the memory it describes. Borrowed from the loader until release.
struct Batch {
  BatchKey key{};
  std::size_t index = 0;  ///< position in the epoch on this rank
  BatchLayout layout{};
  std::byte* data = nullptr;  ///< slab; device memory if is_on_device
  bool is_on_device = false;
  std::vector<LocalId> remote{};  ///< kPartitioned: rows of x that are still missing, by the rank that has them, and
                                  ///< within it by table: of a plain graph one, of a typed graph x of each type
  std::vector<std::size_t> remote_begin{};  ///< [ranks * tables + 1] where each of these lists begins
  std::int64_t num_own = 0;                 ///< kPartitioned: rows of this rank's part
  std::int64_t num_copied = 0;              ///< kPartitioned: rows of other parts that it has, too
  double sample_seconds = 0;                ///< what preparing it cost its worker
  double gather_seconds = 0;

  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(data + offset);
  }
  std::int64_t num_edges() const;
};

struct Dataset;

/// Puts the parts of sparse rows behind the others, as the last of the slab: room for `num_values` values.
void place_values(BatchLayout& layout, LocalId num_values);

/// Lays out the slab of a sampled MFG. @param dataset  whose features and labels go into it
BatchLayout lay_out_batch(const MfgShape& mfg, LocalId num_seeds, const Dataset& dataset, Residency residency,
                          const BatchParts& parts = {});

}  // namespace salient
