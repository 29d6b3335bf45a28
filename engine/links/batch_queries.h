// engine/links/batch_queries.h - the queries of one batch of links: their rows, some numbers dropped, and gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/links/embeddings.h"
#include "engine/links/link_query.h"
#include "sampler/draws.h"

namespace salient {

/// Both sides of some links. Item 2 i + side is a query of the i-th.
class BatchQueries {
 public:
  /// @param dropout  share of the numbers of a query's node and relation that are 0, the others are multiplied by what
  ///                 keeps their mean; angles have no zero, and keep their numbers
  BatchQueries(const EmbeddingShape& shape, double dropout) : shape_(shape), dropout_(dropout) {}

  /// @param links  their numbers among the training links, of which draws are a function
  void start(const Embeddings& embeddings, BatchKey key, std::vector<LinkQuery> queries, std::span<const NodeId> links);

  std::size_t size() const { return queries_.size(); }
  const std::vector<LinkQuery>& queries() const { return queries_; }
  std::span<const NodeId> targets() const { return targets_; }
  const float* rows() const { return rows_.data(); }                ///< [size, node_width]
  float* gradients() { return gradients_.data(); }                  ///< [size, node_width] to be set, of the rows
  std::uint32_t draw_of(std::size_t q) const { return draws_[q]; }  ///< the number that draws of a query have

  /// gradients() become those of the nodes' rows. @return likewise of the relations' [size, relation_width]
  const float* spread_gradients();

 private:
  void start_query(const Embeddings& embeddings, BatchKey key, std::size_t q);
  bool drops_relations() const { return dropout_ > 0 && shape_.decoder != DecoderKind::kRotate; }
  std::size_t node_width() const { return static_cast<std::size_t>(shape_.node_width()); }
  std::size_t relation_width() const { return static_cast<std::size_t>(shape_.relation_width()); }

  const EmbeddingShape shape_;
  const double dropout_;
  std::vector<LinkQuery> queries_{};
  std::vector<NodeId> targets_{};
  std::vector<std::uint32_t> draws_{};
  std::vector<float> rows_{}, gradients_{};
  std::vector<float> node_rows_{}, relation_rows_{};    // as used; relations' become their gradients
  std::vector<float> node_masks_{}, relation_masks_{};  // empty, or what numbers were multiplied by
};

}  // namespace salient
