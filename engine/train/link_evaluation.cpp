// engine/train/link_evaluation.cpp - see link_evaluation.h.
#include "engine/train/link_evaluation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "core/error.h"
#include "core/timer.h"
#include "engine/comm/agreement.h"
#include "engine/infer/average_precision.h"
#include "engine/infer/make_predictions.h"
#include "engine/infer/roc_auc.h"
#include "engine/infer/sampled_inference.h"
#include "engine/rank/rank_metrics.h"
#include "engine/train/run_model.h"
#include "sampler/link_seeds.h"

namespace salient {
namespace {

constexpr std::size_t kBlockPairs = std::size_t{1} << 15;  // scored at a time
constexpr std::size_t kChunkLinks = std::size_t{1} << 18;  // whose ranks go over the ranks of the run at a time
constexpr BatchKey kEvaluationKey{};                       // of negatives: (0, 0, 0)

LinkRule evaluation_rule_of(const LinkTrainOptions& options) {
  LinkRule rule = options.rule;
  rule.negatives = options.eval_negatives;
  rule.sampler = NegativeSampler::kUniform;  // figures of runs are of the same negatives
  return rule;
}

std::unique_ptr<Predictions> make_predictions_of(const TrainOptions& options, const TrainingRun& run,
                                                 const Model& model) {
  const LoaderOptions loading = loader_options_of(options, evaluation_rule(options, run.dataset), run);
  return make_predictions(run.plan.evaluation, {run.dataset, loading, run.device, run.comm, model});
}

NodePair link_at(const LinkTable& links, std::size_t i) { return {links.source(i), links.destination(i)}; }

/// values become the sums over ranks, where others have 0: exact.
void share_values(Communicator& comm, std::span<float> values) {
  if (comm.size() == 1) return;
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  std::vector<double> sums;
  for (std::size_t at = 0; at < values.size(); at += kBlock) {
    const std::span<float> block = values.subspan(at, std::min(kBlock, values.size() - at));
    sums.assign(block.begin(), block.end());
    comm.all_reduce_sum(std::span<double>(sums));
    std::ranges::transform(sums, block.begin(), [](double sum) { return static_cast<float>(sum); });
  }
}

/// What AUC and average precision compare.
struct ComparedPairs {
  std::size_t negatives_of_link = 1;
  std::vector<float> scores{};  // [links (1 + negatives_of_link)] link by link, itself first

  ComparedPairs(std::size_t num_links, std::size_t negatives)
      : negatives_of_link(std::clamp<std::size_t>(LinkEvaluation::kMaxComparedPairs / num_links, 1, negatives)),
        scores(num_links * (1 + negatives_of_link)) {}

  float* of_link(std::size_t i) { return scores.data() + i * (1 + negatives_of_link); }
  std::vector<std::int8_t> labels() const {
    std::vector<std::int8_t> all(scores.size(), 0);
    for (std::size_t i = 0; i < all.size(); i += 1 + negatives_of_link) all[i] = 1;
    return all;
  }
};

void add_figures(const RankTally& ranks, const ComparedPairs& compared, Figures& figures) {
  figures[Metric::kMrr] = ranks.mrr();
  figures[Metric::kHitsAt1] = ranks.hits_at(1);
  figures[Metric::kHitsAt3] = ranks.hits_at(3);
  figures[Metric::kHitsAt10] = ranks.hits_at(10);
  const std::vector<std::int8_t> labels = compared.labels();
  figures[Metric::kRocAuc] = roc_auc(compared.scores, labels).value_or(0);
  figures[Metric::kAveragePrecision] = average_precision(compared.scores, labels).value_or(0);
}

}  // namespace

LinkEvaluation::LinkEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                               const Model& model)
    : options_(options),
      run_(run),
      signals_(signals),
      metric_(metric_of_run(options, run.dataset)),
      rule_(evaluation_rule_of(options.links)),
      predictions_(has(EvaluationSet::kValid) || has(EvaluationSet::kTest) ? make_predictions_of(options, run, model)
                                                                           : nullptr) {}

const LinkTable& LinkEvaluation::links_of(EvaluationSet set) const {
  return run_.dataset.links[set == EvaluationSet::kValid ? kValidLinks : kTestLinks];
}

const LinkEvaluation::Ends& LinkEvaluation::ends_of(EvaluationSet set) {
  Ends& ends = ends_[static_cast<std::size_t>(set)];
  const LinkTable& links = links_of(set);
  if (ends.empty()) {
    const LinkNegatives negatives(run_.dataset.graph, rule_);
    std::vector<bool> is_end(run_.dataset.num_nodes(), false);
    const auto add = [&](const NodePair& pair) { is_end[pair.source] = is_end[pair.destination] = true; };
    for (std::size_t i = 0; i < links.size(); ++i) {
      add(link_at(links, i));
      for (int j = 0; j < rule_.negatives; ++j)
        add(negatives.of(kEvaluationKey, static_cast<std::uint32_t>(i), link_at(links, i), j));
    }
    for (NodeId v = 0; v < is_end.size(); ++v)
      if (is_end[v]) ends.push_back(v);
  }
  row_of_.resize(run_.dataset.num_nodes());
  for (std::size_t row = 0; row < ends.size(); ++row) row_of_[ends[row]] = static_cast<NodeId>(row);
  return ends;
}

/// [ends, width] on the device, all of them on every rank.
at::Tensor LinkEvaluation::rows_of(EvaluationSet set, Model& model, const Ends& ends, double& seconds) {
  Communicator& comm = run_.comm;
  const auto batch_size = static_cast<std::size_t>(options_.evaluation.batch_size);
  const InferenceOptions inference{
      .batch_size = batch_size, .seed = options_.seed, .label = name_of(set), .must_stop = [this] {
        return signals_.must_stop_after_round();
      }};
  at::Tensor rows = at::zeros({static_cast<std::int64_t>(ends.size()), options_.model.hidden_dim}, at::kFloat);
  std::size_t batch = static_cast<std::size_t>(comm.rank());
  const auto keep = [&](const InferenceRound& round) {
    const std::size_t first = batch * batch_size;
    batch += static_cast<std::size_t>(comm.size());
    if (round.num_nodes > 0) rows.narrow(0, static_cast<std::int64_t>(first), round.num_nodes).copy_(round.logits);
  };
  const InferenceCounts counts = sampled_inference({model, run_.device, comm}, *predictions_, ends, inference, keep);
  seconds = counts.seconds;
  if (counts.not_finite > 0)
    fail_on_all_ranks(comm, ErrorKind::kDiverged,
                      "the rows of " + std::to_string(counts.not_finite) + " of " + std::to_string(counts.nodes) +
                          " ends of " + name_of(set) +
                          " links are not numbers: weights, or features that they see, are "
                          "not finite");
  share_values(comm, {rows.mutable_data_ptr<float>(), static_cast<std::size_t>(rows.numel())});
  return rows.to(run_.device.torch_device());
}

/// int64 [count (1 + K), 2] rows of the ends of links, and then of their negatives.
at::Tensor LinkEvaluation::pairs_of(const LinkTable& links, std::size_t first, std::size_t count) const {
  const LinkNegatives negatives(run_.dataset.graph, rule_);
  const auto num_pairs = static_cast<std::int64_t>(count) * (1 + rule_.negatives);
  at::Tensor pairs = at::empty({num_pairs, 2}, at::kLong);
  auto* at = pairs.mutable_data_ptr<std::int64_t>();
  const auto add = [&](const NodePair& pair) {
    *at++ = row_of_[pair.source];
    *at++ = row_of_[pair.destination];
  };
  for (std::size_t i = first; i < first + count; ++i) add(link_at(links, i));
  for (std::size_t i = first; i < first + count; ++i)
    for (int j = 0; j < rule_.negatives; ++j)
      add(negatives.of(kEvaluationKey, static_cast<std::uint32_t>(i), link_at(links, i), j));
  return pairs.to(run_.device.torch_device());
}

void LinkEvaluation::rank_links(const LinkTable& links, const at::Tensor& rows, const LinkDecoder& decoder,
                                Score& score) const {
  const auto negatives = static_cast<std::size_t>(rule_.negatives);
  const std::size_t block = std::max<std::size_t>(1, kBlockPairs / (1 + negatives));
  ComparedPairs compared(links.size(), negatives);
  RankTally tally;
  std::vector<float> ranks;
  std::size_t number = 0;  // of a block
  for (std::size_t chunk = 0; chunk < links.size(); chunk += kChunkLinks) {
    const std::size_t end = std::min(chunk + kChunkLinks, links.size());
    ranks.assign(end - chunk, 0);
    for (std::size_t first = chunk; first < end; first += block, ++number) {
      if (number % static_cast<std::size_t>(run_.comm.size()) != static_cast<std::size_t>(run_.comm.rank())) continue;
      const std::size_t count = std::min(block, end - first);
      const at::Tensor scores = decoder.scores(rows, pairs_of(links, first, count)).cpu().contiguous();
      const std::span<const float> all(scores.const_data_ptr<float>(), static_cast<std::size_t>(scores.numel()));
      for (std::size_t i = 0; i < count; ++i) {
        const std::span<const float> others = all.subspan(count + i * negatives, negatives);
        ranks[first + i - chunk] = static_cast<float>(rank_of(counts_among(all[i], others)));
        float* const kept = compared.of_link(first + i);
        kept[0] = all[i];
        std::copy_n(others.begin(), compared.negatives_of_link, kept + 1);
      }
    }
    share_values(run_.comm, ranks);
    for (const float rank : ranks) tally.add(rank);
  }
  share_values(run_.comm, compared.scores);
  if (std::ranges::any_of(compared.scores, [](float value) { return std::isnan(value); }))
    fail_on_all_ranks(run_.comm, ErrorKind::kDiverged, "scores of links are not numbers");
  add_figures(tally, compared, score.figures);
}

Score LinkEvaluation::score(EvaluationSet set, Model& model, int) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  Score score;
  const Ends& ends = ends_of(set);
  const at::Tensor rows = rows_of(set, model, ends, score.seconds);
  if (signals_.must_stop()) return score;
  rank_links(links_of(set), rows, LinkDecoder(model, options_.links.decoder, options_.model.hidden_dim), score);
  score.value = score.figures[metric_].value_or(0);
  score.seconds = timer.seconds();
  return score;
}

}  // namespace salient
