// engine/links/link_query.h - a node and a relation as one row, whose score with a candidate's row is the link's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/links/embeddings.h"
#include "engine/rank/known_links.h"
#include "engine/rank/ordered_product.h"
#include "store/graph_schema.h"
#include "store/link_table.h"

namespace salient {

/// One side of a link to be predicted. A head is asked for by the reverse relation where the graph has one, as a tail
/// of it, else by the relation itself, turned.
struct LinkQuery {
  NodeId node = 0, target = 0;
  std::uint32_t relation = 0;  ///< whose row is used
  bool is_turned = false;      ///< the node is the tail, and candidates are heads

  bool operator==(const LinkQuery&) const = default;
};

/// The number of each relation's reverse in the schema; none where it has none.
std::vector<std::optional<std::uint32_t>> reverses_of(const GraphSchema& schema);

/// @param target  what is asked for, where it is known
LinkQuery link_query(LinkSide side, NodeId node, std::uint32_t relation, NodeId target,
                     std::span<const std::optional<std::uint32_t>> reverses);

/// Of link i.
LinkQuery link_query(const LinkTable& links, std::size_t i, LinkSide side,
                     std::span<const std::optional<std::uint32_t>> reverses);

/// How query rows and candidates' rows are scored.
PairScore pair_score_of(DecoderKind kind);

/// What a query is made of.
struct QueryRows {
  const EmbeddingShape& shape;
  bool is_turned;
  const float* node;      ///< [node_width]
  const float* relation;  ///< [relation_width]
};

/// The query's row: for the decoder's score of (node, relation, candidate) = pair_score(row, candidate), but for
/// kRotate's margin, which is the same for all.
/// @param out  [node_width]
void make_query(const QueryRows& rows, float* out);

/// What a gradient of the query's row is to the rows of its node and its relation; both are set.
void query_gradients(const QueryRows& rows, const float* gradient, float* node_gradient, float* relation_gradient);

}  // namespace salient
