// engine/train/typed_link_evaluation.cpp - see typed_link_evaluation.h.
#include "engine/train/typed_link_evaluation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/timer.h"
#include "engine/comm/agreement.h"
#include "engine/infer/make_predictions.h"
#include "engine/rank/rank_metrics.h"
#include "engine/train/evaluation_negatives.h"
#include "engine/train/link_rows.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"
#include "engine/train/typed_link_loss.h"

namespace salient {
namespace {

constexpr std::size_t kBlockOfPairs = std::size_t{1} << 15;  // scored at a time by a decoder of pairs

std::size_t split_of(EvaluationSet set) { return set == EvaluationSet::kValid ? kValidLinks : kTestLinks; }

std::unique_ptr<Predictions> predictions_of(const TrainOptions& options, const TrainingRun& run, const Model& model) {
  const LoaderOptions loading = loader_options_of(options, evaluation_rule(options, run.dataset), run);
  return make_predictions(run.plan.evaluation, {run.dataset, loading, run.device, run.comm, model});
}

/// Links [begin, end) of a table.
LinkTable part_of(const LinkTable& links, std::size_t begin, std::size_t end) {
  return {links.ends.subspan(2 * begin, 2 * (end - begin)), links.relations.subspan(begin, end - begin)};
}

GivenNegatives part_of(const GivenNegatives& given, std::size_t begin, std::size_t end) {
  GivenNegatives part = given;
  part.destinations =
      given.destinations.subspan(begin * given.num_destinations, (end - begin) * given.num_destinations);
  part.sources = given.sources.subspan(begin * given.num_sources, (end - begin) * given.num_sources);
  return part;
}

/// Ranks of all links from those that this rank has, of links from `begin` on; one side or both have them.
RanksOfSides on_all_ranks(Communicator& comm, const RanksOfSides& own, std::size_t begin, std::size_t count) {
  RanksOfSides all;
  for (std::size_t side = 0; side < own.size(); ++side) {
    all[side].assign(count, 0);
    std::ranges::copy(own[side], all[side].begin() + static_cast<std::ptrdiff_t>(begin));
    comm.all_reduce_sum(std::span<double>(all[side]));
    if (std::ranges::all_of(all[side], [](double rank) { return rank == 0; })) all[side].clear();
  }
  return all;
}

/// The figures of a run, of which the chosen metric is one.
Figures figures_of(const LinkRanks& ranks, Metric metric) {
  const RankTally all = ranks.all();
  Figures figures = salient::figures_of(all);
  if (hits_of(metric) > 0) figures[metric] = all.hits_at(hits_of(metric));
  return figures;
}

/// What a decoder of pairs scores.
struct PairRows {
  const LinkTable& links;
  const EvaluationNegatives& negatives;
  const LinkDecoder& decoder;
  const at::Tensor& rows;  // [V, width]
};

/// Sets the ranks of links [begin, end).
void rank_block(const PairRows& of, std::size_t begin, std::size_t end, RanksOfSides& ranks) {
  const std::size_t of_link = of.negatives.of_link();
  const at::Tensor pairs = at::empty({static_cast<std::int64_t>((end - begin) * (1 + of_link)), 2}, at::kLong);
  auto* at = pairs.mutable_data_ptr<std::int64_t>();
  const auto add = [&](const NodePair& pair) {
    *at++ = pair.source;
    *at++ = pair.destination;
  };
  for (std::size_t i = begin; i < end; ++i) {
    add({of.links.source(i), of.links.destination(i)});
    for (std::size_t j = 0; j < of_link; ++j) add(of.negatives.negative(i, j));
  }
  const at::Tensor scores = of.decoder.scores(of.rows, pairs).contiguous();
  const std::span<const float> all(scores.const_data_ptr<float>(), static_cast<std::size_t>(scores.numel()));
  if (std::ranges::any_of(all, [](float value) { return std::isnan(value); }))
    fail(ErrorKind::kDiverged, "scores of links are not numbers");
  for (std::size_t i = begin; i < end; ++i) {
    const std::span<const float> own = all.subspan((i - begin) * (1 + of_link), 1 + of_link);
    std::array<std::vector<float>, 2> others;
    for (std::size_t j = 0; j < of_link; ++j)
      others[static_cast<std::size_t>(of.negatives.side(j))].push_back(own[1 + j]);
    for (std::size_t side = 0; side < others.size(); ++side)
      if (!others[side].empty()) ranks[side][i] = rank_of(counts_among(own[0], others[side]));
  }
}

}  // namespace

Embeddings embeddings_of(const LinkDecoder& decoder, std::int64_t num_nodes, std::int64_t num_relations) {
  const DecoderOptions& options = decoder.options();
  require(options.kind != DecoderKind::kMlp, "a decoder of pairs of rows");
  Embeddings embeddings({options.kind, options.hidden, /*num_nodes=*/0, num_relations});
  embeddings.shape.num_nodes = num_nodes;
  const char* const kHalves[] = {"rel_emb.weight", "rel_emb_im.weight"};
  for (std::int64_t half = 0; half < relation_halves(options.kind); ++half) {
    const at::Tensor rows = decoder.parameters().at(kHalves[half]).detach().cpu().contiguous();
    for (std::int64_t r = 0; r < num_relations; ++r)
      std::copy_n(rows.const_data_ptr<float>() + r * options.hidden, options.hidden,
                  embeddings.relations.begin() + r * embeddings.shape.relation_width() + half * options.hidden);
  }
  return embeddings;
}

TypedLinkEvaluation::TypedLinkEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                                         const Model& model)
    : options_(options),
      run_(run),
      signals_(signals),
      metric_(metric_of_run(options, run.dataset)),
      heads_(head_relations(run.dataset.types, options.links)),
      known_(run.dataset.links),
      predictions_(has(EvaluationSet::kValid) || has(EvaluationSet::kTest) ? predictions_of(options, run, model)
                                                                           : nullptr) {}

const LinkTable& TypedLinkEvaluation::links_of(EvaluationSet set) const { return run_.dataset.links[split_of(set)]; }

/// [V, width] of the nodes of the types that the set's links are between; 0 of others.
std::vector<float> TypedLinkEvaluation::rows_of(EvaluationSet set, Model& model) {
  const Dataset& dataset = run_.dataset;
  const auto width = static_cast<std::size_t>(options_.model.hidden_dim);
  std::vector<bool> is_met(dataset.types.node_types.size());
  for (const std::uint16_t r : links_of(set).relations)
    for (const int type : {dataset.types.relations[r].src, dataset.types.relations[r].dst})
      is_met[static_cast<std::size_t>(type)] = true;
  std::vector<float> rows(dataset.num_nodes() * width);
  for (std::size_t t = 0; t < is_met.size() && !signals_.must_stop(); ++t) {
    if (!is_met[t]) continue;
    std::vector<NodeId> nodes(dataset.slots->num_nodes_of(t));
    std::iota(nodes.begin(), nodes.end(), static_cast<NodeId>(dataset.slots->node_begin[t]));
    (void)compute_rows({options_, run_, signals_, set}, model, *predictions_, nodes,
                       std::span(rows).subspan(dataset.slots->node_begin[t] * width, nodes.size() * width));
  }
  return rows;
}

RanksOfSides TypedLinkEvaluation::ranks_of(EvaluationSet set, const LinkDecoder& decoder,
                                           std::vector<float> rows) const {
  const Dataset& dataset = run_.dataset;
  if (options_.links.decoder == DecoderKind::kMlp) return ranks_by_pairs(set, decoder, std::move(rows));
  Embeddings embeddings =
      embeddings_of(decoder, static_cast<std::int64_t>(dataset.num_nodes()), std::ssize(dataset.types.relations));
  embeddings.nodes = std::move(rows);
  const LinkTable& links = links_of(set);
  const auto rank = static_cast<std::size_t>(run_.comm.rank()), size = static_cast<std::size_t>(run_.comm.size());
  const std::size_t begin = links.size() * rank / size, end = links.size() * (rank + 1) / size;
  const LinkTable part = part_of(links, begin, end);
  const RankedLinks ranked{part, dataset.types, heads_, TieRule::kRealistic};
  const GivenNegatives given = open_negatives(dataset, split_of(set));
  RanksOfSides own;
  together(run_.comm, [&] {
    own = given.of_link() > 0 ? rank_links_among(embeddings, ranked, part_of(given, begin, end))
                              : rank_links(embeddings, ranked, known_);
  });
  return on_all_ranks(run_.comm, own, begin, links.size());
}

/// Block by block, of which each rank takes some.
RanksOfSides TypedLinkEvaluation::ranks_by_pairs(EvaluationSet set, const LinkDecoder& decoder,
                                                 std::vector<float> rows) const {
  const LinkTable& links = links_of(set);
  LinkRule rule = options_.links.rule;
  rule.negatives = 2 * options_.links.eval_negatives;
  rule.corrupt = CorruptedEnd::kBoth;
  rule.sampler = NegativeSampler::kUniform;
  const EvaluationNegatives negatives(run_.dataset, split_of(set), rule);
  const at::Tensor table =
      at::from_blob(rows.data(), {static_cast<std::int64_t>(run_.dataset.num_nodes()), options_.model.hidden_dim},
                    at::TensorOptions().dtype(at::kFloat));
  const auto rank = static_cast<std::size_t>(run_.comm.rank()), size = static_cast<std::size_t>(run_.comm.size());
  const std::size_t block = std::max<std::size_t>(1, kBlockOfPairs / (1 + negatives.of_link()));
  RanksOfSides ranks{std::vector<double>(links.size()), std::vector<double>(links.size())};
  together(run_.comm, [&] {
    for (std::size_t first = rank * block; first < links.size(); first += size * block)
      rank_block({links, negatives, decoder, table}, first, std::min(links.size(), first + block), ranks);
  });
  return on_all_ranks(run_.comm, ranks, 0, links.size());
}

Score TypedLinkEvaluation::score(EvaluationSet set, Model& model, int) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  Score score;
  std::vector<float> rows = rows_of(set, model);
  if (signals_.must_stop()) return score;
  const LinkDecoder decoder(model, options_.links.decoder, options_.model.hidden_dim);
  const LinkRanks ranks =
      tally(ranks_of(set, decoder, std::move(rows)), links_of(set), run_.dataset.types.relations.size());
  score.figures = figures_of(ranks, metric_);
  if (set == EvaluationSet::kTest)
    on_rank_0(run_.comm,
              [&] { replace_text_file(run_.directory / "test_relations.csv", ranks_csv(ranks, run_.dataset.types)); });
  score.value = score.figures[metric_].value_or(0);
  score.seconds = timer.seconds();
  return score;
}

}  // namespace salient
