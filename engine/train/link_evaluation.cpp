// engine/train/link_evaluation.cpp - see link_evaluation.h.
#include "engine/train/link_evaluation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/timer.h"
#include "engine/infer/average_precision.h"
#include "engine/infer/loader_predictions.h"
#include "engine/infer/make_predictions.h"
#include "engine/infer/roc_auc.h"
#include "engine/rank/rank_metrics.h"
#include "engine/remote/partitioned_batches.h"
#include "engine/train/link_rows.h"
#include "engine/train/message_graph.h"
#include "engine/train/run_model.h"
#include "sampler/link_seeds.h"

namespace salient {
namespace {

constexpr std::size_t kBlockPairs = std::size_t{1} << 15;  // scored at a time
constexpr std::size_t kChunkLinks = std::size_t{1} << 18;  // whose ranks go over the ranks of the run at a time
constexpr std::array kHits = {Metric::kHitsAt1,  Metric::kHitsAt3,  Metric::kHitsAt10,
                              Metric::kHitsAt20, Metric::kHitsAt50, Metric::kHitsAt100};

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

/// Of a graph that the run's copy in GPU memory is not: the host samples it, and batches are eager.
std::unique_ptr<Predictions> make_predictions_on_host(const TrainOptions& options, const TrainingRun& run) {
  LoaderOptions loading = loader_options_of(options, evaluation_rule(options, run.dataset), run);
  loading.data.graph = nullptr;
  return std::make_unique<LoaderPredictions>(make_batches(run.dataset, loading, run.comm), run.device);
}

NodePair link_at(const LinkTable& links, std::size_t i) { return {links.source(i), links.destination(i)}; }

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

/// @param metric  of the run: is there, too
Figures figures_of_ranks(const RankTally& ranks, Metric metric) {
  Figures figures;
  figures[Metric::kMrr] = ranks.mrr();
  for (const Metric hits : kHits)
    if (hits_of(hits) <= 10 || hits == metric) figures[hits] = ranks.hits_at(hits_of(hits));
  return figures;
}

void add_areas(std::span<const float> scores, std::span<const std::int8_t> labels, Figures& figures) {
  figures[Metric::kRocAuc] = roc_auc(scores, labels).value_or(0);
  figures[Metric::kAveragePrecision] = average_precision(scores, labels).value_or(0);
}

/// @param descending  scores of negatives
RankCounts counts_in(std::span<const float> descending, float score) {
  const auto above = std::ranges::lower_bound(descending, score, std::greater<>());
  const auto below = std::ranges::upper_bound(above, descending.end(), score, std::greater<>());
  return {.greater = static_cast<std::uint64_t>(above - descending.begin()),
          .equal = static_cast<std::uint64_t>(below - above)};
}

/// Null where the test sees what validation sees.
std::unique_ptr<const Dataset> dataset_of_test(const TrainOptions& options, const Dataset& dataset) {
  if (options.links.test_messages == TestMessages::kTrain || dataset.links[kTestLinks].size() == 0) return nullptr;
  return std::make_unique<const Dataset>(with_validation_messages(dataset));
}

}  // namespace

LinkEvaluation::LinkEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                               const Model& model)
    : options_(options),
      run_(run),
      signals_(signals),
      metric_(metric_of_run(options, run.dataset)),
      rule_(evaluation_rule_of(options.links)),
      for_test_(dataset_of_test(options, run.dataset)),
      predictions_(!run.dataset.has_link_times && (has(EvaluationSet::kValid) || has(EvaluationSet::kTest))
                       ? make_predictions_of(options, run, model)
                       : nullptr),
      timed_(run.dataset.has_link_times
                 ? std::make_unique<TimedPairs>(run.dataset,
                                                loader_options_of(options, evaluation_rule(options, run.dataset), run),
                                                run.device, static_cast<std::size_t>(options.evaluation.batch_size),
                                                options.seed, options.links.has_pair_features)
                 : nullptr) {
  if (!for_test_) return;
  test_run_ = std::make_unique<const TrainingRun>(
      TrainingRun{*for_test_, run.data, run.device, run.comm, run.plan, run.directory});
  of_test_ = make_predictions_on_host(options, *test_run_);
}

const LinkTable& LinkEvaluation::links_of(EvaluationSet set) const {
  return run_.dataset.links[set == EvaluationSet::kValid ? kValidLinks : kTestLinks];
}

const EvaluationNegatives& LinkEvaluation::negatives_of(EvaluationSet set) {
  std::optional<EvaluationNegatives>& negatives = negatives_[static_cast<std::size_t>(set)];
  if (!negatives) negatives.emplace(run_.dataset, set == EvaluationSet::kValid ? kValidLinks : kTestLinks, rule_);
  return *negatives;
}

const LinkEvaluation::Ends& LinkEvaluation::ends_of(EvaluationSet set) {
  Ends& ends = ends_[static_cast<std::size_t>(set)];
  const LinkTable& links = links_of(set);
  if (ends.empty()) {
    const EvaluationNegatives& negatives = negatives_of(set);
    std::vector<bool> is_end(run_.dataset.num_nodes(), false);
    const auto add = [&](const NodePair& pair) { is_end[pair.source] = is_end[pair.destination] = true; };
    for (std::size_t i = 0; i < links.size(); ++i) {
      add(link_at(links, i));
      for (std::size_t j = 0; j < negatives.of_link(); ++j) add(negatives.negative(i, j));
    }
    for (std::size_t p = 0; p < negatives.num_shared(); ++p) add(negatives.shared(p));
    for (NodeId v = 0; v < is_end.size(); ++v)
      if (is_end[v]) ends.push_back(v);
  }
  row_of_.resize(run_.dataset.num_nodes());
  for (std::size_t row = 0; row < ends.size(); ++row) row_of_[ends[row]] = static_cast<NodeId>(row);
  return ends;
}

/// [ends, width] on the device, all of them on every rank.
at::Tensor LinkEvaluation::rows_of(EvaluationSet set, Model& model, const Ends& ends, double& seconds) {
  at::Tensor rows = at::zeros({static_cast<std::int64_t>(ends.size()), options_.model.hidden_dim}, at::kFloat);
  seconds = compute_rows({options_, run_, signals_, set}, model,
                         set == EvaluationSet::kTest && of_test_ ? *of_test_ : *predictions_, ends,
                         {rows.mutable_data_ptr<float>(), static_cast<std::size_t>(rows.numel())});
  return rows.to(run_.device.torch_device());
}

template <class Pair>
at::Tensor LinkEvaluation::pairs_of(std::size_t number, Pair pair) const {
  at::Tensor pairs = at::empty({static_cast<std::int64_t>(number), 2}, at::kLong);
  auto* at = pairs.mutable_data_ptr<std::int64_t>();
  for (std::size_t i = 0; i < number; ++i) {
    const NodePair ends = pair(i);
    *at++ = row_of_[ends.source];
    *at++ = row_of_[ends.destination];
  }
  return pairs.to(run_.device.torch_device());
}

LinkEvaluation::ScorePairs LinkEvaluation::scores_by_rows(const at::Tensor& rows, const LinkDecoder& decoder) const {
  return [this, &rows, &decoder](std::size_t number, const auto& pair, const auto&) {
    const at::Tensor scores = decoder.scores(rows, pairs_of(number, pair)).cpu().contiguous();
    const float* const values = scores.const_data_ptr<float>();
    return std::vector<float>(values, values + scores.numel());
  };
}

/// Pairs are scored link by link, each with its negatives, so that the ends of a link are computed once for all.
LinkEvaluation::ScorePairs LinkEvaluation::scores_at_times(const LinkTable& links, Model& model,
                                                           const LinkDecoder& decoder) {
  return [this, &links, &model, &decoder](std::size_t number, const auto& pair, const auto& link) {
    std::vector<std::size_t> order(number);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, link);
    std::vector<NodePair> pairs(number);
    std::vector<std::int64_t> times(number);
    for (std::size_t i = 0; i < number; ++i) {
      pairs[i] = pair(order[i]);
      times[i] = links.times[link(order[i])];
    }
    const std::vector<float> scores = timed_->scores(model, decoder, pairs, times);
    std::vector<float> in_order(number);
    for (std::size_t i = 0; i < number; ++i) in_order[order[i]] = scores[i];
    return in_order;
  };
}

template <class Use>
void LinkEvaluation::for_blocks(std::size_t begin, std::size_t end, std::size_t block, std::size_t& number,
                                Use use) const {
  for (std::size_t first = begin; first < end; first += block, ++number)
    if (number % static_cast<std::size_t>(run_.comm.size()) == static_cast<std::size_t>(run_.comm.rank()))
      use(first, std::min(block, end - first));
}

void LinkEvaluation::rank_among_own(const Scored& scored, Score& score) const {
  const auto& [links, of, of_pairs] = scored;
  const std::size_t negatives = of.of_link(), questions = of.groups().size();
  const std::size_t block = std::max<std::size_t>(1, kBlockPairs / (1 + negatives));
  ComparedPairs compared(links.size(), negatives);
  RankTally tally;
  std::vector<float> ranks;
  std::size_t number = 0;  // of a block
  for (std::size_t chunk = 0; chunk < links.size(); chunk += kChunkLinks) {
    const std::size_t end = std::min(chunk + kChunkLinks, links.size());
    ranks.assign((end - chunk) * questions, 0);
    for_blocks(chunk, end, block, number, [&](std::size_t first, std::size_t count) {
      const auto link_of = [&](std::size_t p) { return first + (p < count ? p : (p - count) / negatives); };
      const std::vector<float> scores = of_pairs(
          count * (1 + negatives),
          [&](std::size_t p) {
            return p < count ? link_at(links, first + p) : of.negative(link_of(p), (p - count) % negatives);
          },
          link_of);
      const std::span<const float> all(scores);
      for (std::size_t i = 0; i < count; ++i) {
        std::span<const float> others = all.subspan(count + i * negatives, negatives);
        float* const kept = compared.of_link(first + i);
        kept[0] = all[i];
        std::copy_n(others.begin(), compared.negatives_of_link, kept + 1);
        for (std::size_t q = 0; q < questions; others = others.subspan(of.groups()[q++]))
          ranks[(first + i - chunk) * questions + q] =
              static_cast<float>(rank_of(counts_among(all[i], others.first(of.groups()[q]))));
      }
    });
    share_values(run_.comm, ranks);
    for (const float rank : ranks) tally.add(rank);
  }
  share_values(run_.comm, compared.scores);
  require_numbers(run_.comm, compared.scores);
  score.figures = figures_of_ranks(tally, metric_);
  add_areas(compared.scores, compared.labels(), score.figures);
}

/// On every rank.
std::vector<float> LinkEvaluation::scores_of(const Scored& scored, std::size_t number,
                                             const std::function<NodePair(std::size_t)>& pair) const {
  std::vector<float> scores(number, 0);
  std::size_t block_number = 0;
  for_blocks(0, number, kBlockPairs, block_number, [&](std::size_t first, std::size_t count) {
    const std::vector<float> block = scored.of_pairs(
        count, [&](std::size_t i) { return pair(first + i); }, [&](std::size_t i) { return first + i; });
    std::ranges::copy(block, scores.begin() + static_cast<std::ptrdiff_t>(first));
  });
  share_values(run_.comm, scores);
  require_numbers(run_.comm, scores);
  return scores;
}

void LinkEvaluation::rank_among_shared(const Scored& scored, Score& score) const {
  const auto& [links, of, of_pairs] = scored;
  std::vector<float> all = scores_of(scored, links.size(), [&](std::size_t i) { return link_at(links, i); });
  std::vector<float> negatives = scores_of(scored, of.num_shared(), [&](std::size_t p) { return of.shared(p); });
  std::ranges::sort(negatives, std::greater<>());
  RankTally tally;
  for (const float link : all) tally.add(rank_of(counts_in(negatives, link)));
  score.figures[Metric::kMrr] = tally.mrr();
  for (const Metric hits : kHits)
    if (hits_of(hits) <= negatives.size()) score.figures[hits] = ogb_hits_at(all, negatives, hits_of(hits));
  std::vector<std::int8_t> labels(all.size(), 1);
  labels.resize(all.size() + negatives.size(), 0);
  all.insert(all.end(), negatives.begin(), negatives.end());
  add_areas(all, labels, score.figures);
}

Score LinkEvaluation::score(EvaluationSet set, Model& model, int) {
  const at::NoGradGuard no_gradients;
  const Timer timer;
  Score score;
  const at::Tensor rows = timed_ ? at::Tensor() : rows_of(set, model, ends_of(set), score.seconds);
  if (signals_.must_stop()) return score;
  const EvaluationNegatives& negatives = negatives_of(set);
  const LinkDecoder decoder(model, options_.links.decoder, options_.model.hidden_dim);
  const Scored scored{links_of(set), negatives,
                      timed_ ? scores_at_times(links_of(set), model, decoder) : scores_by_rows(rows, decoder)};
  if (negatives.num_shared() > 0)
    rank_among_shared(scored, score);
  else
    rank_among_own(scored, score);
  score.value = score.figures[metric_].value_or(0);
  score.seconds = timer.seconds();
  return score;
}

}  // namespace salient
