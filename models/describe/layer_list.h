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
/// these; of the head the seeds. An operation reads as many rows of its inputs as it has.
enum class RowSet : std::uint8_t { kSources, kDestinations };

enum class AttentionKind : std::uint8_t { kGat, kGatv2, kDot };
enum class CombineKind : std::uint8_t { kSum, kConcat, kMax };

/// The rows of the batch's features.
struct Input {
  bool operator==(const Input&) const = default;
};
/// Over the entries of each row. One input, of the sources.
struct Aggregate {
  SumKind kind = SumKind::kMean;
  std::string eps{};  ///< a buffer [1]; of kPlain and kScaled
  bool operator==(const Aggregate&) const = default;
};
/// The largest entry of each row, of each column; 0 of a row without. One input, of the sources.
struct Maximum {
  bool operator==(const Maximum&) const = default;
};
/// As Aggregate, with weights from the rows themselves. kGat has one input, the sources; kGatv2 two: sources and
/// destinations; kDot three: queries of the destinations, keys and values of the sources. The first two attend to a row
/// itself, too.
struct Attend {
  AttentionKind kind = AttentionKind::kGat;
  int heads = 1;
  std::vector<std::string> vectors{};  ///< parameters [1, heads, width / heads]: att_src, att_dst | att
  std::string bias{};                  ///< parameter [width]; "" = none
  bool operator==(const Attend&) const = default;
};
/// x W^T + b
struct Project {
  std::string weight{};  ///< [width, width of the input]
  std::string bias{};    ///< [width]; "" = none
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
/// In training alone, with ModelOptions::dropout. By nodes: a mask for each node of the graph and `stream`, the same
/// wherever that is read; else for each row of the batch.
struct Drop {
  std::uint32_t stream = 0;
  bool is_by_node = false;
  bool operator==(const Drop&) const = default;
};
/// Of inputs of equal width; kConcat: of any.
struct Combine {
  CombineKind kind = CombineKind::kSum;
  bool operator==(const Combine&) const = default;
};

using OpId = int;  ///< place in LayerList::ops
using What = std::variant<Input, Aggregate, Maximum, Attend, Project, Normalise, Activate, Drop, Combine>;

struct Op {
  What what{};
  int layer = 0;  ///< whose hop it is; num_layers = the head
  std::vector<OpId> inputs{};
  RowSet rows = RowSet::kDestinations;
  std::int64_t width = 0;  ///< columns of its result
};

/// In the order in which they can be computed. The first is the Input, the last has the logits.
struct LayerList {
  std::vector<Op> ops;
  int num_layers = 0;

  const Op& at(OpId id) const { return ops[static_cast<std::size_t>(id)]; }
};

/// @param options  make_model() would take them
/// Oracle: tests/models/describe_test.cpp computes lists and compares with make_model()
LayerList describe(const ModelOptions& options);

}  // namespace salient
