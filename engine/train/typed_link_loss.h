// engine/train/typed_link_loss.h - the loss of links that have relations: which side of them is asked for, and by whom.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/train/link_model.h"
#include "engine/train/train_options.h"
#include "store/graph_schema.h"

namespace salient {

/// Whether heads of links are questions of their own, asked of the reverse relation as of a tail: where negatives
/// replace both ends. Then relations and their reverses are trained alike; else reverses have rows that nothing trains.
bool asks_heads(const LinkTrainOptions& options);

/// [R] by which relation the heads of a relation's links are asked for: its reverse, where heads are questions of their
/// own and it has one; else none, and it is the relation itself, turned.
std::vector<std::optional<std::uint32_t>> head_relations(const GraphSchema& schema, const LinkTrainOptions& options);

/// Terms of the loss of each link, of which a step minimises the mean.
/// @param is_typed  whether links have relations
int terms_of_link(const LinkTrainOptions& options, bool is_typed);

/// Sums the terms of a batch. Where heads are questions of their own, a link is one among its negatives of even number
/// by its relation, and once more among the others by the reverse; each is a link of link_loss_sum().
class TypedLinkLoss {
 public:
  TypedLinkLoss(const GraphSchema& schema, const LinkTrainOptions& options);

  /// @param rows   [n, width] f32 of nodes
  /// @param pairs  [B (1 + K), 3] int32 as BatchView::pairs
  at::Tensor sum(const LinkDecoder& decoder, const at::Tensor& rows, const at::Tensor& pairs) const;

 private:
  at::Tensor sum_of_heads(const LinkDecoder& decoder, const at::Tensor& rows, const at::Tensor& pairs,
                          const at::Tensor& relations) const;

  LinkTrainOptions options_;
  at::Tensor head_relation_;  ///< int64 [R]
  at::Tensor is_reverse_;     ///< bool [R] whether that is the reverse
};

}  // namespace salient
