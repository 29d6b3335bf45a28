// apps/link_scorer.cpp - see link_scorer.h.
#include "apps/link_scorer.h"

#include <numeric>
#include <utility>
#include <vector>

#include "apps/run_config.h"
#include "apps/triple_model.h"
#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/error.h"
#include "engine/comm/communicator.h"

namespace salient {
namespace {

constexpr std::int64_t kBlockQueries = 64, kBlockCandidates = 512;  // as salient-infer's

/// Rows of all nodes by the encoder, and its decoder.
class EncoderScorer final : public LinkScorer {
 public:
  EncoderScorer(const std::string& run, const PredictorOptions& options, std::string decoder)
      : predictor_(run, options), decoder_(std::move(decoder)) {
    if (predictor_.dataset().types.is_typed())
      fail(ErrorKind::kUsage, run + ": links that have relations are served by embedding models, not by encoders yet");
    std::vector<NodeId> nodes(predictor_.dataset().num_nodes());
    std::iota(nodes.begin(), nodes.end(), NodeId{0});
    log_info("computes the rows of " + std::to_string(nodes.size()) + " nodes");
    rows_ = predictor_.logits(nodes);
  }

  const Dataset& dataset() const override { return predictor_.dataset(); }
  PredictorFacts facts() const override { return predictor_.facts(); }
  std::string decoder() const override { return decoder_; }
  std::optional<std::uint16_t> relation_named(std::string_view) const override { return std::nullopt; }
  RankBlocks blocks() const override { return {.queries = kBlockQueries, .candidates = kBlockCandidates}; }

  float score(std::uint16_t, const NodePair& link) override {
    const std::int64_t pair[] = {link.source, link.destination};
    return predictor_.pair_scores(rows_, pair)[0];
  }

  void scores(const BestLinks& wanted, std::span<const NodeId> nodes, std::int64_t first, std::int64_t count,
              float* out) override {
    pairs_.clear();
    for (const NodeId node : nodes)
      for (std::int64_t other = first; other < first + count; ++other) {
        const bool asks_tail = wanted.side == LinkSide::kTail;
        pairs_.push_back(asks_tail ? std::int64_t{node} : other);
        pairs_.push_back(asks_tail ? other : std::int64_t{node});
      }
    std::ranges::copy(predictor_.pair_scores(rows_, pairs_), out);
  }

 private:
  Predictor predictor_;
  std::string decoder_;
  std::vector<float> rows_{};
  std::vector<std::int64_t> pairs_{};
};

class TripleScorer final : public LinkScorer {
 public:
  TripleScorer(const std::string& run, const PredictorOptions& options)
      : model_(open_triple_model(run, DataOptions{.dataset = options.dataset, .root = options.data_root})) {}

  const Dataset& dataset() const override { return model_->dataset(); }
  PredictorFacts facts() const override {
    return {.model = model_->model(), .checkpoint = "best", .precision = "fp32"};
  }
  std::string decoder() const override { return model_->decoder(); }
  std::optional<std::uint16_t> relation_named(std::string_view name) const override {
    return model_->relation_named(name);
  }
  RankBlocks blocks() const override { return model_->blocks(); }

  float score(std::uint16_t relation, const NodePair& link) override {
    const AskedTriple triple{link, relation};
    return model_->scores_of(std::span(&triple, 1))[0];
  }

  void scores(const BestLinks& wanted, std::span<const NodeId> nodes, std::int64_t first, std::int64_t count,
              float* out) override {
    model_->scores({wanted.side, wanted.relation, nodes}, first, count, out);
  }

 private:
  const std::unique_ptr<TripleModel> model_;
};

}  // namespace

std::unique_ptr<LinkScorer> open_link_scorer(const std::string& run, const PredictorOptions& options) {
  if (is_run_of_triples(run)) {
    if (options.checkpoint != PredictorOptions().checkpoint || !options.fanouts.empty() || options.step)
      fail(ErrorKind::kUsage, run + ": a run of embeddings has its best rows alone, no fanouts and no steps");
    return std::make_unique<TripleScorer>(run, options);
  }
  const TrainOptions trained = read_run_options(*make_self_communicator(), run);
  if (!predicts_links(trained)) return nullptr;
  if (trained.batches.time.rule())
    fail(ErrorKind::kUsage, run +
                                ": its links have times; salient-infer --links scores pairs at theirs, a server "
                                "does not yet");
  PredictorOptions of_links = options;
  of_links.predicts_links = true;
  return std::make_unique<EncoderScorer>(run, of_links, name_of(trained.links.decoder));
}

}  // namespace salient
