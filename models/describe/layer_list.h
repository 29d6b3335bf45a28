// models/describe/layer_list.h - what a model computes, as data: its operations in order, under PyG's parameter names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "models/describe/model_options.h"
#include "models/describe/sum_kind.h"

namespace salient {

/// Rows of an operation's result: all that its layer reads, or those that the layer computes, which are the first of
/// these; of the head the seeds; or one for each entry of the layer's hop. An operation reads as many rows of its
/// inputs as it has, a sum or a maximum all of them.
enum class RowSet : std::uint8_t { kSources, kDestinations, kEntries };

enum class AttentionKind : std::uint8_t { kGat, kGatv2, kDot, kRelationGat, kHgt };
enum class CombineKind : std::uint8_t { kSum, kConcat, kMax };

/// The rows of the batch's features; of a typed graph those of one type.
struct Input {
  bool operator==(const Input&) const = default;
};
/// The features of edges, a row for each entry.
struct EdgeInput {
  bool operator==(const EdgeInput&) const = default;
};
/// Rows that are learned, one for each node of a type.
struct Lookup {
  std::string weight{};  ///< [num_rows, width]
  std::int64_t num_rows = 0;
  bool operator==(const Lookup&) const = default;
};
/// Over the entries of each row. One input, of the sources, or of kMean of the entries. With a map of edges, of kPlain
/// and kScaled, an entry is relu(x + edge W^T + b).
struct Aggregate {
  SumKind kind = SumKind::kMean;
  std::string eps{};                       ///< a buffer [1]; of kPlain and kScaled
  std::string edge_weight{}, edge_bias{};  ///< [width, edge_dim] and [width]; "" = none
  bool is_by_weight = false;               ///< an entry counts by the weight of its edge; of the first three kinds
  bool operator==(const Aggregate&) const = default;
};
/// The largest entry of each row, of each column; 0 of a row without. One input, of the sources or of the entries.
struct Maximum {
  bool operator==(const Maximum&) const = default;
};
/// As Aggregate, with weights from the rows themselves. kGat has one input, the sources; kGatv2 two: sources and
/// destinations; kDot three: queries of the destinations, keys and values of the sources. The first two attend to a row
/// itself, too. Of typed graphs: kRelationGat is kGat over the entries of one relation alone, with two inputs, sources
/// and destinations; kHgt has one input, the sources' keys, queries and values side by side, and attends to the entries
/// of all relations at once, see models/hgt.h. With a map of edges kGat's score has one vector more, of the mapped
/// features; kGatv2 adds these to what its leaky ReLU is of, and kDot to keys and values.
struct Attend {
  AttentionKind kind = AttentionKind::kGat;
  int heads = 1;
  std::vector<std::string> vectors{};  ///< parameters [1, heads, width / heads]: att_src, att_dst, att_edge | att
  std::string bias{};                  ///< parameter [width]; "" = none
  std::vector<std::string> maps{};     ///< of kHgt: k_rel, v_rel [heads * relations, width / heads, width / heads]
  std::vector<std::string> scales{};   ///< of kHgt: p_rel of each relation [1, heads]
  std::string edge_weight{};           ///< parameter [width, edge_dim]; "" = none
  bool is_by_weight = false;           ///< an entry's exp(score) counts by the weight of its edge
  bool operator==(const Attend&) const = default;
};
/// How a parameter has the weight W [width, width of the input] of a product. Of the last three all relations share
/// one, and each has its part.
enum class WeightForm : std::uint8_t {
  kRows,        ///< W
  kColumns,     ///< W^T
  kOfRelation,  ///< [relations, in, width]: W^T of each
  kBlocks,      ///< [relations, parts, in / parts, width / parts]: the blocks on the diagonal of W^T, all else is 0
  kBases,       ///< [parts, in, width]: W^T is their sum, each times a number of the relation's row of `shares`
};
/// x W^T + b
struct Project {
  std::string weight{};
  std::string bias{};  ///< [width]; "" = none
  WeightForm form = WeightForm::kRows;
  int num_relations = 0;
  int num_parts = 1;
  std::string shares{};  ///< of kBases: [relations, parts]
  bool operator==(const Project&) const = default;
};
/// Parameters NAME.weight and NAME.bias [width], over the rows of the batch or over each row's columns.
struct Normalise {
  NormKind kind = NormKind::kBatch;
  std::string name{};
  bool operator==(const Normalise&) const = default;
};
/// x where it is above 0, else negative_slope x.
struct Activate {
  double negative_slope = 0;
  bool operator==(const Activate&) const = default;
};
/// x times the chance that a normal number is below x: torch's exact gelu.
struct Gelu {
  bool operator==(const Gelu&) const = default;
};
/// s a + (1 - s) b of two inputs a and b, s = sigmoid(gate).
struct Mix {
  std::string gate{};  ///< parameter [1]
  bool operator==(const Mix&) const = default;
};
/// In training alone, with ModelOptions::dropout. By nodes: a mask for each node of the graph and `stream`, the same
/// wherever that is read; else for each row of the batch.
struct Drop {
  std::uint32_t stream = 0;
  bool is_by_node = false;
  bool operator==(const Drop&) const = default;
};
/// Of inputs of equal width; kConcat: of any. One input: itself.
struct Combine {
  CombineKind kind = CombineKind::kSum;
  bool operator==(const Combine&) const = default;
};

using OpId = int;  ///< place in LayerList::ops
using What = std::variant<Input, EdgeInput, Lookup, Aggregate, Maximum, Attend, Project, Normalise, Activate, Gelu, Mix,
                          Drop, Combine>;

inline constexpr int kEvery = -1;  ///< type or relation

struct Op {
  What what{};
  int layer = 0;  ///< whose hop it is; num_layers = the head
  std::vector<OpId> inputs{};
  RowSet rows = RowSet::kDestinations;
  std::int64_t width = 0;  ///< columns of its result
  int type = kEvery;       ///< the node type whose rows it computes; rows of the others are 0
  int relation = kEvery;   ///< whose entries it is over, or whose part of a shared weight it multiplies with
};

/// In the order in which they can be computed. An Input or Lookup is first, the last has the logits.
struct LayerList {
  std::vector<Op> ops;
  int num_layers = 0;
  int num_types = 1, num_relations = 1;
  std::int64_t edge_dim = 0;  ///< columns of the features of edges, if an operation reads them
  std::int64_t time_dim = 0;  ///< the last of these that models/time_encoder.h makes, with parameters of its own

  const Op& at(OpId id) const { return ops[static_cast<std::size_t>(id)]; }
};

/// @param options  make_model() would take them; of a typed kind without types it is the list of a graph of one node
///                 type and one relation
/// Oracle: tests/models/describe_test.cpp computes lists and compares with make_model()
LayerList describe(const ModelOptions& options);

}  // namespace salient
