// engine/train/trainer.cpp - see trainer.h. A step never waits for the device; an epoch waits once, at its end.
#include "engine/train/trainer.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/timer.h"
#include "engine/comm/agreement.h"
#include "engine/device/step_clock.h"
#include "engine/report/confusion.h"
#include "engine/report/report_page.h"
#include "engine/train/checkpoint.h"
#include "engine/train/epoch_seeds.h"
#include "engine/train/flat_adam.h"
#include "engine/train/objective.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"
#include "engine/train/schedule.h"
#include "engine/train/score.h"
#include "engine/train/signal_agreement.h"
#include "loaders/batch_loader.h"
#include "loaders/resident_data.h"
#include "models/batch_view.h"
#include "models/model.h"

namespace salient {
namespace {

std::vector<std::int64_t> sum_over_ranks(Communicator& comm, const std::vector<std::int64_t>& counts) {
  std::vector<double> sums(counts.begin(), counts.end());
  comm.all_reduce_sum(std::span<double>(sums));
  return {sums.begin(), sums.end()};
}

Schedule schedule_of(const OptimisationOptions& options, std::size_t steps_per_epoch) {
  const auto steps = static_cast<double>(steps_per_epoch);
  return {.kind = options.schedule,
          .lr = options.lr,
          .warmup_steps = std::llround(options.warmup * steps),
          .total_steps = static_cast<std::int64_t>(options.epochs) * static_cast<std::int64_t>(steps_per_epoch),
          .factor = options.plateau_factor,
          .patience = options.plateau_patience};
}

/// @return  the nodes, or none of them if no label of theirs is known
std::span<const NodeId> those_to_score(const Dataset& dataset, std::span<const NodeId> nodes, const char* which) {
  const LabelTable labels = dataset.label_table();
  if (nodes.empty() || std::ranges::any_of(nodes, [&](NodeId node) { return labels.num_known(node) > 0; }))
    return nodes;
  log_warning("no " + std::string(which) + " node has a label: there is nothing to compare predictions with");
  return {};
}

DataResidency residency_of(const TrainOptions& options) {
  return {.features = options.machine.features.value_or(Residency::kHost),
          .cached_rows = options.cached_rows,
          .graph = options.machine.sampler.value_or(GraphResidency::kHost)};
}

}  // namespace

struct Trainer::Impl {
  Impl(const TrainOptions& train_options, const Dataset& data, const ComputeDevice& compute_device,
       Communicator& communicator, std::filesystem::path run_directory, std::unique_ptr<BatchSource> batch_source)
      : options(train_options),
        dataset(data),
        device(compute_device),
        comm(communicator),
        directory(std::move(run_directory)),
        valid_nodes(those_to_score(dataset, dataset.valid, "validation")),
        test_nodes(those_to_score(dataset, dataset.test, "test")),
        seeds(dataset, options.seed, global_batch_of(options, comm.size()), comm.rank(), comm.size()),
        schedule(schedule_of(options.optimisation, seeds.num_steps())),
        metric(metric_for(options.evaluation.metric, dataset)),
        model(make_model(model_options_of(options, dataset), numerics_of(options))),
        optimizer((model->to(device.torch_device()), *model),
                  {.lr = options.optimisation.lr, .weight_decay = options.optimisation.weight_decay}),
        resident(dataset, residency_of(options)),
        source(batch_source ? std::move(batch_source)
                            : std::make_unique<BatchLoader>(dataset, loader_options(options.batches.fanout))),
        eval_loader(dataset, loader_options(options.evaluation.fanout)),
        report(directory),
        clock(device, /*has_exchange=*/comm.size() > 1),
        signals(comm, /*steps_between=*/device.is_cuda() && comm.size() > 1 ? 8 : 1),
        objective(options.optimisation.label_smoothing, seeds.num_steps(), device.torch_device()) {
    if (dataset.task == Task::kMultiClass && dataset.num_classes <= kMaxConfusionClasses)
      confusion.emplace(dataset.num_classes, device.torch_device());
  }

  LoaderOptions loader_options(const std::vector<int>& fanouts) const {
    return {.fanouts = fanouts,
            .with_replacement = options.batches.with_replacement,
            .num_workers = options.machine.workers,
            .num_slots = options.machine.slots,
            .to_device = device.is_cuda(),
            .data = resident.view()};
  }

  CheckpointIdentity identity() const { return checkpoint_identity(options, dataset, comm.size()); }
  std::filesystem::path checkpoints() const { return directory / "checkpoints"; }

  /// Forward, backward, gradient exchange, update. Enqueues and returns.
  void step(const Batch& batch) {
    optimizer.zero_gradients();
    if (batch.layout.num_seeds > 0) {
      const NoHostWait rule(device);
      const BatchView view = view_of(batch, device.torch_device().index());
      const DropoutKey key{
          .seed = options.seed, .step = static_cast<std::uint32_t>(progress.global_step), .nodes = view.nodes};
      const at::Tensor loss_sum = objective.loss_sum(batch.key.batch, model->forward(view, key), view.y);
      (loss_sum / static_cast<double>(seeds.num_labels(batch.key.batch))).backward();  // the mean over the global batch
    }
    clock.exchange_begins();
    comm.all_reduce_sum(optimizer.gradients(), device.stream());
    clock.exchange_ends();
    optimizer.set_lr(schedule.rate(progress.global_step, progress.plateau));
    optimizer.step();
    ++progress.global_step;
  }

  /// Adds the steps up to `end_step` that are not in the running sums yet, over all ranks. Waits for the device.
  /// @throws RankError{kDiverged}.
  void collect(std::size_t end_step) {
    auto step = static_cast<std::size_t>(progress.step_in_epoch);
    for (const Objective::StepSums& sums : objective.collect(comm, progress.epoch + 1, step, end_step)) {
      progress.partial_loss_sum += sums.loss;
      progress.partial_correct += sums.correct;
      progress.partial_labels += seeds.num_labels(step++);
    }
    progress.step_in_epoch = static_cast<std::int64_t>(end_step);
  }

  /// Does what rank 0 does alone, such as writing files; when that fails, every rank hears it. Collective.
  template <class Work>
  void on_rank_0(Work&& work) {
    together(comm, [&] {
      if (comm.rank() == 0) work();
    });
  }

  EpochMetrics train_epoch() {
    const int epoch = progress.epoch + 1;
    const auto first_step = static_cast<std::size_t>(progress.step_in_epoch);
    const Timer timer;
    objective.start_epoch();
    model->train();
    Progress bar("epoch " + std::to_string(epoch), seeds.num_steps() - first_step, "batches");
    source->start(seeds.start(epoch, first_step));
    clock.start_epoch();
    std::size_t done = first_step;
    while (const Batch* batch = source->next(device.stream())) {
      clock.batch_arrived();
      step(*batch);
      clock.step_done();
      ++done;
      bar.add(1);
      const SignalAgreement::Wishes wishes = signals.after_step();
      if (wishes.stop) {
        source->stop();
        break;
      }
      if (wishes.checkpoint) {
        collect(done);
        save();
      }
    }
    const StepClock::Totals times = clock.totals();
    const double seconds = timer.seconds();
    collect(done);
    const LoaderStats stats = source->stats();
    EpochMetrics m{.epoch = epoch, .step = progress.global_step};
    const auto labels = static_cast<double>(std::max<std::int64_t>(1, progress.partial_labels));
    m.loss = progress.partial_loss_sum / labels;
    m.train_accuracy = static_cast<double>(progress.partial_correct) / labels;
    m.lr = schedule.rate(progress.global_step - 1, progress.plateau);  // also if no step was left after a resume
    m.epoch_seconds = seconds;
    m.train_seconds = times.train_seconds;
    if (comm.size() > 1) m.allreduce_seconds = times.exchange_seconds;
    m.blocked_seconds = times.blocked_seconds;
    m.transfer_seconds = stats.transfer_seconds;
    std::array<double, 7> work{stats.sample_seconds,
                               stats.gather_seconds,
                               static_cast<double>(stats.batches),
                               static_cast<double>(stats.seeds),
                               static_cast<double>(stats.nodes),
                               static_cast<double>(stats.edges),
                               static_cast<double>(stats.bytes)};
    comm.all_reduce_sum(std::span<double>(work));  // what all ranks did; the other figures are rank 0's
    m.sample_seconds = work[0];
    m.gather_seconds = work[1];
    m.batches = static_cast<std::int64_t>(work[2]);
    m.seeds = static_cast<std::int64_t>(work[3]);
    m.nodes = static_cast<std::int64_t>(work[4]);
    m.edges = static_cast<std::int64_t>(work[5]);
    m.bytes_transferred = static_cast<std::int64_t>(work[6]);
    m.hop_nodes = sum_over_ranks(comm, stats.hop_nodes);
    m.hop_edges = sum_over_ranks(comm, stats.hop_edges);
    m.host_rss_bytes = resident_bytes();
    m.device_bytes = device.peak_bytes();
    return m;
  }

  /// @param set  "valid" | "test"; its confusion matrix replaces the last one in the run directory.
  Score evaluate(const std::string& set, std::span<const NodeId> nodes, int epoch) {
    if (confusion) confusion->clear();
    const Score score = score_nodes(metric, dataset, nodes, *model, eval_loader,
                                    {.batch_size = static_cast<std::size_t>(options.evaluation.batch_size),
                                     .seed = options.seed,
                                     .label = set,
                                     .confusion = confusion ? &*confusion : nullptr,
                                     .must_stop = [this] { return signals.must_stop_after_round(); }},
                                    device, comm);
    if (confusion && !signals.must_stop()) keep_confusion(set, epoch);
    return score;
  }

  void keep_confusion(const std::string& set, int epoch) {
    const ConfusionMatrix matrix{
        .set = set,
        .epoch = epoch,
        .num_classes = dataset.num_classes,
        .class_names = read_class_names(dataset.directory / "class_names.txt", dataset.num_classes),
        .counts = confusion->sum_over_ranks(comm)};
    on_rank_0([&] { write_confusion(directory, matrix); });
  }

  /// Only after a validation that brought nothing better: validations may be further apart than the patience.
  bool is_out_of_patience() const {
    return options.evaluation.patience > 0 && progress.best_epoch > 0 &&
           progress.epoch % options.evaluation.every == 0 &&
           progress.epoch - progress.best_epoch >= options.evaluation.patience;
  }

  /// What a plateau schedule makes of the epoch: of the validation metric, or of the training loss without one.
  PlateauState plateau_after(const EpochMetrics& metrics, const std::optional<Score>& valid) const {
    if (valid) return schedule.after_epoch(progress.plateau, valid->value, Schedule::Better::kHigher);
    if (!valid_nodes.empty()) return progress.plateau;  // not validated in this epoch
    return schedule.after_epoch(progress.plateau, *metrics.loss, Schedule::Better::kLower);
  }

  void save() {
    require_equal_parameters(comm, optimizer, "after step " + std::to_string(progress.global_step));
    on_rank_0([&] { write_checkpoint(checkpoints(), *model, optimizer, progress, identity(), options.output.keep); });
  }

  /// One epoch with everything around it. @return false when a signal ended it; `progress` is then inside the epoch.
  bool run_epoch(EpochMetrics& metrics) {
    const int epoch = progress.epoch + 1;
    const bool is_last = epoch == options.optimisation.epochs;
    metrics = train_epoch();
    if (signals.must_stop()) return false;
    std::optional<Score> valid;
    if (!valid_nodes.empty() && (is_last || epoch % options.evaluation.every == 0)) {
      take_weights_of_rank_0(comm, device, *model, optimizer);
      valid = evaluate("valid", valid_nodes, epoch);
      if (signals.must_stop()) return false;
      metrics.valid_accuracy = valid->accuracy;
      metrics.valid_rocauc = valid->rocauc;
      metrics.valid_f1 = valid->f1;
      metrics.eval_seconds = valid->seconds;
    }
    const bool is_best = valid && (progress.best_epoch == 0 || valid->value > progress.best_valid);
    progress = {.epoch = epoch,
                .global_step = progress.global_step,
                .best_epoch = is_best ? epoch : progress.best_epoch,
                .best_valid = is_best ? valid->value : progress.best_valid,
                .plateau = plateau_after(metrics, valid)};
    on_rank_0(
        [&] { files->append(metrics); });  // before the checkpoint: a resumed run removes rows, it cannot add them
    const bool is_due = options.output.checkpoint_every > 0 && epoch % options.output.checkpoint_every == 0;
    if (is_last || is_best || is_due || is_out_of_patience()) save();
    return true;
  }

  TrainResult run() {
    if (!options.output.resume.empty()) {
      on_rank_0([&] { progress = read_latest_checkpoint(checkpoints(), *model, optimizer, identity()); });
      take_state_of_rank_0(comm, device, *model, optimizer, progress);
      log_info("resuming after epoch " + std::to_string(progress.epoch) + ", step " +
               std::to_string(progress.step_in_epoch));
    }
    take_weights_of_rank_0(comm, device, *model, optimizer);
    on_rank_0([&] { files.emplace(directory, progress.epoch + 1); });
    TrainResult result;
    while (progress.epoch < options.optimisation.epochs && !is_out_of_patience()) {
      if (!run_epoch(result.last_epoch)) {
        save();
        result.interrupted_by = signals.signal();
        return result;
      }
      result.epochs.push_back(result.last_epoch);
      on_rank_0([&] {
        log_info(summary_line(result.last_epoch));
        report.refresh_if_due();
      });
    }
    if (is_out_of_patience() && progress.epoch < options.optimisation.epochs)
      log_info("ended after epoch " + std::to_string(progress.epoch) + ": no better validation result for " +
               std::to_string(options.evaluation.patience) + " epochs");
    result.metric = name_of(metric);
    result.best_epoch = progress.best_epoch;
    if (progress.best_epoch > 0) result.valid = progress.best_valid;
    if (!test_nodes.empty()) {
      on_rank_0([&] { load_best_weights(checkpoints(), *model); });
      take_weights_of_rank_0(comm, device, *model, optimizer);
      result.test = evaluate("test", test_nodes, progress.best_epoch).value;
    }
    if (signals.must_stop()) result.interrupted_by = signals.signal();
    return result;
  }

  const TrainOptions options;
  const Dataset& dataset;
  const ComputeDevice device;
  Communicator& comm;
  const std::filesystem::path directory;
  const std::span<const NodeId> valid_nodes, test_nodes;  // empty if none of them has a label
  EpochSeeds seeds;
  const Schedule schedule;
  const Metric metric;
  std::shared_ptr<Model> model;
  FlatAdam optimizer;
  ResidentData resident;
  std::unique_ptr<BatchSource> source;
  BatchLoader eval_loader;
  std::optional<ConfusionCounter> confusion;  // of the last evaluation; none for many classes, or several labels
  std::optional<MetricsFiles> files;          // of rank 0
  LiveReport report;
  StepClock clock;
  SignalAgreement signals;
  Objective objective;
  TrainProgress progress{};
};

void require_trainable(const TrainOptions& options, const Dataset& dataset) {
  if (dataset.feature_dim == 0) fail(ErrorKind::kUsage, dataset.name + ": has no features to train on");
  if (dataset.num_classes == 0) fail(ErrorKind::kUsage, dataset.name + ": has no labels to train on");
  if (dataset.train.empty()) fail(ErrorKind::kUsage, dataset.name + ": has no training nodes");
  (void)metric_for(options.evaluation.metric, dataset);
  if (options.evaluation.patience > 0 && dataset.valid.empty())
    fail(ErrorKind::kUsage, dataset.name + ": has no validation nodes, so a run cannot end by its patience");
}

Trainer::Trainer(const TrainOptions& options, const Dataset& dataset, const ComputeDevice& device, Communicator& comm,
                 std::filesystem::path directory, std::unique_ptr<BatchSource> source) {
  require_trainable(options, dataset);
  impl_ = std::make_unique<Impl>(options, dataset, device, comm, std::move(directory), std::move(source));
}

Trainer::~Trainer() = default;

std::size_t Trainer::num_gradients() const { return impl_->optimizer.gradients().size(); }

TrainResult Trainer::run() {
  try {
    // The parallel loops of CPU models keep to --threads threads: the other cores are the workers' and other ranks'.
    oneapi::tbb::task_arena compute(impl_->options.machine.threads);
    return compute.execute([&] { return impl_->run(); });
  } catch (...) {
    impl_->comm.cancel();  // nothing that is cleaned up on the way out may wait for the other ranks
    throw;
  }
}

}  // namespace salient
