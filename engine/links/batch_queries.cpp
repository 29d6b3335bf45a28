// engine/links/batch_queries.cpp - see batch_queries.h.
#include "engine/links/batch_queries.h"

#include <algorithm>
#include <utility>

#include "core/philox.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

constexpr std::uint32_t kDropoutDraws = 0x44524F50;
enum RowPart : std::uint32_t { kNodeRow, kRelationRow };

/// Multiplies the numbers of a row by 0, or by what keeps their mean, and keeps these factors in `mask`.
void drop(double share, PhiloxKey key, PhiloxBlock counter, std::span<float> row, float* mask) {
  const auto limit = static_cast<std::uint32_t>(share * 4294967296.0);
  const auto kept = static_cast<float>(1 / (1 - share));
  for (std::size_t k = 0; k < row.size(); k += 4) {
    counter.word[3] = static_cast<std::uint32_t>(k / 4);
    const PhiloxBlock block = philox4x32(key, counter);
    for (std::size_t j = k; j < std::min(k + 4, row.size()); ++j) {
      mask[j] = block.word[j - k] < limit ? 0 : kept;
      row[j] *= mask[j];
    }
  }
}

}  // namespace

void BatchQueries::start(const Embeddings& embeddings, BatchKey key, std::vector<LinkQuery> queries,
                         std::span<const NodeId> links) {
  queries_ = std::move(queries);
  targets_.resize(size());
  draws_.resize(size());
  for (std::size_t q = 0; q < size(); ++q) {
    targets_[q] = queries_[q].target;
    draws_[q] = static_cast<std::uint32_t>(2 * links[q / 2] + q % 2);
  }
  for (std::vector<float>* rows : {&rows_, &gradients_, &node_rows_}) rows->resize(size() * node_width());
  relation_rows_.resize(size() * relation_width());
  node_masks_.resize(dropout_ > 0 ? node_rows_.size() : 0);
  relation_masks_.resize(drops_relations() ? relation_rows_.size() : 0);
  for_each_item(std::ssize(queries_), 8,
                [&](std::int64_t q) { start_query(embeddings, key, static_cast<std::size_t>(q)); });
}

void BatchQueries::start_query(const Embeddings& embeddings, BatchKey key, std::size_t q) {
  const LinkQuery& query = queries_[q];
  const std::span<float> node = std::span(node_rows_).subspan(q * node_width(), node_width());
  const std::span<float> relation = std::span(relation_rows_).subspan(q * relation_width(), relation_width());
  std::copy_n(embeddings.node(query.node), node.size(), node.begin());
  std::copy_n(embeddings.relation(query.relation), relation.size(), relation.begin());
  const PhiloxKey words{{key.seed ^ kDropoutDraws, key.epoch}};
  if (!node_masks_.empty())
    drop(dropout_, words, {{draws_[q], kNodeRow, key.batch, 0}}, node, node_masks_.data() + q * node_width());
  if (!relation_masks_.empty())
    drop(dropout_, words, {{draws_[q], kRelationRow, key.batch, 0}}, relation,
         relation_masks_.data() + q * relation_width());
  make_query({shape_, query.is_turned, node.data(), relation.data()}, rows_.data() + q * node_width());
}

const float* BatchQueries::spread_gradients() {
  for_each_item(std::ssize(queries_), 8, [&](std::int64_t item) {
    const auto q = static_cast<std::size_t>(item);
    float* const to_node = gradients_.data() + q * node_width();
    float* const relation = relation_rows_.data() + q * relation_width();
    const std::vector<float> gradient(to_node, to_node + node_width());
    std::vector<float> to_relation(relation_width());
    query_gradients({shape_, queries_[q].is_turned, node_rows_.data() + q * node_width(), relation}, gradient.data(),
                    to_node, to_relation.data());
    std::ranges::copy(to_relation, relation);
    if (!node_masks_.empty())
      for (std::size_t k = 0; k < node_width(); ++k) to_node[k] *= node_masks_[q * node_width() + k];
    if (!relation_masks_.empty())
      for (std::size_t k = 0; k < relation_width(); ++k) relation[k] *= relation_masks_[q * relation_width() + k];
  });
  return relation_rows_.data();
}

}  // namespace salient
