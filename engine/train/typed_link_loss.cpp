// engine/train/typed_link_loss.cpp - see typed_link_loss.h.
#include "engine/train/typed_link_loss.h"

#include <ATen/ATen.h>

#include "engine/links/link_query.h"

namespace salient {
namespace {

/// [B (1 + K')] the relation of each link, then of each of its negatives.
at::Tensor of_pairs(const at::Tensor& relations, std::int64_t num_pairs) {
  const std::int64_t negatives = num_pairs / relations.size(0) - 1;
  return at::cat({relations, relations.repeat_interleave(negatives)});
}

}  // namespace

bool asks_heads(const LinkTrainOptions& options) { return options.rule.corrupt == CorruptedEnd::kBoth; }

std::vector<std::optional<std::uint32_t>> head_relations(const GraphSchema& schema, const LinkTrainOptions& options) {
  if (asks_heads(options)) return reverses_of(schema);
  return std::vector<std::optional<std::uint32_t>>(schema.relations.size());
}

int terms_of_link(const LinkTrainOptions& options, bool is_typed) {
  const int negatives = options.rule.negatives;
  if (!is_typed || !asks_heads(options)) return terms_of_link(options.loss, negatives);
  return 2 * terms_of_link(options.loss, negatives / 2);
}

TypedLinkLoss::TypedLinkLoss(const GraphSchema& schema, const LinkTrainOptions& options) : options_(options) {
  const auto heads = head_relations(schema, options);
  const auto count = static_cast<std::int64_t>(heads.size());
  head_relation_ = at::empty({count}, at::kLong);
  is_reverse_ = at::empty({count}, at::kBool);
  for (std::size_t r = 0; r < heads.size(); ++r) {
    head_relation_.mutable_data_ptr<std::int64_t>()[r] = heads[r].value_or(static_cast<std::uint32_t>(r));
    is_reverse_.mutable_data_ptr<bool>()[r] = heads[r].has_value();
  }
}

at::Tensor TypedLinkLoss::sum(const LinkDecoder& decoder, const at::Tensor& rows, const at::Tensor& triples) const {
  const std::int64_t negatives = options_.rule.negatives, num_links = triples.size(0) / (1 + negatives);
  const at::Tensor pairs = triples.narrow(1, 0, 2);
  const at::Tensor relations = triples.select(1, 2).narrow(0, 0, num_links).to(at::kLong);
  const auto scores = [&](const at::Tensor& some) {
    return decoder.scores(rows, some, of_pairs(relations, some.size(0)));
  };
  if (!asks_heads(options_)) return link_loss_sum(scores(pairs), num_links, options_.loss);
  const at::Tensor links = pairs.narrow(0, 0, num_links);
  const at::Tensor others = pairs.narrow(0, num_links, num_links * negatives).reshape({num_links, negatives / 2, 2, 2});
  const auto with = [&](std::int64_t parity) { return at::cat({links, others.select(2, parity).reshape({-1, 2})}); };
  return link_loss_sum(scores(with(0)), num_links, options_.loss) + sum_of_heads(decoder, rows, with(1), relations);
}

/// @param pairs  of links, then of negatives that have another source
at::Tensor TypedLinkLoss::sum_of_heads(const LinkDecoder& decoder, const at::Tensor& rows, const at::Tensor& pairs,
                                       const at::Tensor& relations) const {
  const at::Tensor all = of_pairs(relations, pairs.size(0));
  const at::Tensor asked = at::where(is_reverse_.index_select(0, all).unsqueeze(1), pairs.flip(1), pairs);
  const at::Tensor scores = decoder.scores(rows, asked, head_relation_.index_select(0, all));
  return link_loss_sum(scores, relations.size(0), options_.loss);
}

}  // namespace salient
