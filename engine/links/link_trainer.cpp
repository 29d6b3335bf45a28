// engine/links/link_trainer.cpp - see link_trainer.h.
#include "engine/links/link_trainer.h"

#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/host/interrupt.h"
#include "core/number_text.h"
#include "core/timer.h"
#include "sampler/seed_order.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

class LinkTrainer {
 public:
  explicit LinkTrainer(const LinkTraining& training)
      : dataset_(training.dataset),
        options_(training.options),
        directory_(training.directory),
        root_(directory_ / "checkpoints"),
        identity_(training.identity),
        learner_(training.learner) {
    if (has_latest(root_)) {
      progress_ = read_latest(root_, identity_, learner_);
      log_info("goes on behind epoch " + std::to_string(progress_.epoch));
    }
    metrics_.emplace(directory_, progress_.epoch + 1);
  }

  LinkResult run(const std::function<void()>& after_epoch) {
    LinkResult result;
    while (progress_.epoch < options_.epochs && !is_stale()) {
      result.last_epoch = run_epoch();
      if (after_epoch) after_epoch();
      if (interrupt_signal() != 0 && progress_.epoch < options_.epochs && !is_stale()) {
        write_latest(root_, learner_, progress_, identity_);
        result.interrupted_by = interrupt_signal();
        return result;
      }
    }
    result.best_epoch = progress_.best_epoch;
    result.valid = progress_.best;
    result.test = rank_test();
    return result;
  }

 private:
  bool is_stale() const { return options_.patience > 0 && progress_.stale >= options_.patience; }
  bool has_validation() const { return dataset_.links[kValidLinks].size() > 0; }

  EpochMetrics run_epoch() {
    const Timer timer;
    EpochMetrics metrics{.epoch = progress_.epoch + 1};
    const double loss_sum = train_epoch(static_cast<std::uint32_t>(progress_.epoch), metrics);
    ++progress_.epoch;
    metrics.step = progress_.step;
    metrics.loss = loss_sum / static_cast<double>(2 * dataset_.links[kTrainLinks].size());
    metrics.lr = options_.lr;
    metrics.train_seconds = timer.seconds();
    const bool is_last = progress_.epoch == options_.epochs;
    if (has_validation() && (is_last || progress_.epoch % options_.eval_every == 0)) validate(metrics);
    const bool is_due = options_.checkpoint_every > 0 && progress_.epoch % options_.checkpoint_every == 0;
    if (is_last || is_stale() || is_due || take_checkpoint_request())
      write_latest(root_, learner_, progress_, identity_);
    metrics.epoch_seconds = timer.seconds();
    metrics_->append(metrics);
    log_info(summary_line(metrics, Metric::kMrr));
    return metrics;
  }

  double train_epoch(std::uint32_t epoch, EpochMetrics& metrics) {
    const LinkTable& links = dataset_.links[kTrainLinks];
    std::vector<NodeId> order(links.size());
    std::iota(order.begin(), order.end(), NodeId{0});
    shuffle_seeds(order, options_.seed, epoch);
    const auto size = static_cast<std::size_t>(link_batch_size(options_, links.size()));
    double loss_sum = 0;
    std::uint32_t batch = 0;
    const std::size_t num_batches = (order.size() + size - 1) / size;
    const auto later = static_cast<std::size_t>(options_.epochs - metrics.epoch) * num_batches;
    Progress bar("epoch " + std::to_string(metrics.epoch) + "/" + std::to_string(options_.epochs), num_batches,
                 "batches", later, [&] {
                   return printed("loss %.3g",
                                  loss_sum / (2.0 * static_cast<double>(std::min(batch * size, order.size()))));
                 });
    for (std::size_t begin = 0; begin < order.size(); begin += size) {
      const auto here = std::span(order).subspan(begin, std::min(size, order.size() - begin));
      const double loss = learner_.step({options_.seed, epoch, batch}, here);
      if (!std::isfinite(loss))
        fail(ErrorKind::kDiverged,
             "the loss is not finite in epoch " + std::to_string(epoch + 1) + ", step " + std::to_string(batch + 1),
             Topic::kLearningRate);
      loss_sum += loss;
      ++progress_.step;
      ++batch;
      bar.add(1);
    }
    metrics.batches = batch;
    metrics.seeds = std::ssize(order);
    return loss_sum;
  }

  void validate(EpochMetrics& metrics) {
    const Timer timer;
    metrics.valid = figures_of(learner_.ranks(kValidLinks).all());
    metrics.eval_seconds = timer.seconds();
    ++progress_.stale;
    const bool is_best = progress_.best_epoch == 0 || *metrics.valid[Metric::kMrr] > *progress_.best[Metric::kMrr];
    if (!is_best) return;
    progress_.best_epoch = progress_.epoch;
    progress_.best = metrics.valid;
    progress_.stale = 0;
    write_best(root_, learner_, progress_, identity_);
  }

  Figures rank_test() {
    if (dataset_.links[kTestLinks].size() == 0) return {};
    learner_.read_model(best_model(root_, identity_));
    const LinkRanks ranks = learner_.ranks(kTestLinks);
    replace_text_file(directory_ / "test_relations.csv", ranks_csv(ranks, dataset_.types));
    return figures_of(ranks.all());
  }

  const Dataset& dataset_;
  const LinkOptions& options_;
  const fs::path directory_, root_;
  const LinkIdentity& identity_;
  LinkLearner& learner_;
  LinkProgress progress_{};
  std::optional<MetricsFiles> metrics_{};
};

}  // namespace

std::vector<FieldProblem> problems_of_epochs(const LinkOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, options.negatives >= 0 && options.negatives < 1 << 18, "negatives", "all, or 1 to 262143");
  check_field(found, options.batch_size >= 0, "batch-size", "at least 1, or 0");
  check_field(found, options.epochs >= 1, "epochs", "at least 1");
  check_field(found, options.lr > 0, "lr", "above 0");
  check_field(found, options.weight_decay >= 0, "weight-decay", "at least 0");
  check_field(found, options.eval_every >= 1, "eval-every", "at least 1");
  check_field(found, options.patience >= 0, "patience", "at least 1, or 0 for never");
  check_field(found, options.checkpoint_every >= 0, "checkpoint-every", "at least 0");
  return found;
}

std::vector<FieldProblem> problems(const LinkOptions& options) {
  std::vector<FieldProblem> found = problems_of_epochs(options);
  const bool has_rows = relation_halves(options.decoder) > 0;
  check_field(found, has_rows, "decoder",
              name_of(options.decoder) + " has no rows of relations; distmult, complex and rotate have");
  check_field(found, options.hidden >= 1 && options.hidden <= 65536, "hidden", "1 to 65536");
  check_field(found, options.dropout >= 0 && options.dropout < 1, "dropout", "from 0 to below 1");
  check_field(found, options.n3 >= 0, "n3", "at least 0");
  check_field(found, options.label_smoothing >= 0 && options.label_smoothing < 1, "label-smoothing",
              "from 0 to below 1");
  return found;
}

LinkIdentity identity_of(const Dataset& dataset, const LinkOptions& options) {
  const EmbeddingShape shape = shape_of(dataset, options);
  return {.dataset = dataset.name,
          .fingerprint = dataset.fingerprint,
          .shape = {{"decoder", name_of(shape.decoder)},
                    {"hidden", shape.hidden},
                    {"nodes", shape.num_nodes},
                    {"relations", shape.num_relations}},
          .optimiser = options.optimiser,
          .seed = options.seed};
}

LinkResult run_epochs(const LinkTraining& training, const std::function<void()>& after_epoch) {
  return LinkTrainer(training).run(after_epoch);
}

void require_triples(const Dataset& dataset) {
  require(dataset.has_links, "a data set with links");
  if (!dataset.types.is_typed())
    fail(ErrorKind::kUsage,
         dataset.name + ": its links have no relations, of which embedding models have rows; encoders are for them");
  const auto has_negatives = [&](std::size_t split) {
    return dataset.links[split].size() == 0 || open_negatives(dataset, split).of_link() > 0;
  };
  if (dataset.types.node_types.size() > 1 && !(has_negatives(kValidLinks) && has_negatives(kTestLinks)))
    fail(ErrorKind::kUsage, dataset.name + ": links of " + std::to_string(dataset.types.node_types.size()) +
                                " node types; embedding models are of one, or of links that come with their negatives");
  if (dataset.links[kTrainLinks].size() == 0) fail(ErrorKind::kBadData, dataset.name + ": has no training links");
}

LinkResult train_links(const Dataset& dataset, const LinkOptions& options, const fs::path& directory,
                       const std::function<void()>& after_epoch) {
  require(problems(options).empty(), "options of a run");
  require_triples(dataset);
  if (options.negatives > 0 && dataset.num_nodes() < 2)
    fail(ErrorKind::kUsage, dataset.name + ": negatives of one node");
  return arena_of(options.threads).execute([&] {
    EmbeddingLearner learner(dataset, options);
    return run_epochs({dataset, options, directory, identity_of(dataset, options), learner}, after_epoch);
  });
}

}  // namespace salient
