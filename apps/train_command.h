// apps/train_command.h - the command line of salient-train: its options, their rules, and where their values come from.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/applied_variables.h"
#include "apps/command.h"
#include "apps/run_config.h"
#include "apps/run_fields.h"
#include "engine/train/train_options.h"

namespace salient {

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, BatchOptions>
void visit_fields(Self& self, Visit&& field) {
  field("fanout", self.fanout,
        "neighbours kept per node, of typed graphs of each relation, the seeds' own hop first; -1 keeps all");
  field("fanout-of", self.fanout_of,
        "of a relation of a typed graph, SRC:NAME:DST=15,10,5 instead of --fanout, 0 = none at this hop; in evaluation "
        "too; may be repeated");
  visit_draw(self.draw, field,
             "each node draws its neighbours by itself, or by numbers that a batch's nodes share: fewer rows, the same "
             "law; in evaluation too");
  visit_time(self.time.seen, self.time.window, self.time.strategy, field,
             "which edges a seed of time T sees: those before T (lt), or also those of T (le); in evaluation too; of "
             "data with times of edges and nodes");
  field("batch-size", self.size,
        "seeds, or links, per rank and step; 0 = 1024, or less where an epoch has fewer than ten steps then");
  field("global-batch-size", self.global_size, "seeds per step over all ranks; 0 = ranks x batch-size");
  field("deal", self.deal,
        "how a step's seeds go to ranks: in the order of the epoch, or each to the rank that owns it, see "
        "salient-prepare partition");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, EvaluationOptions>
void visit_fields(Self& self, Visit&& field) {
  field("metric", self.metric,
        "what picks the best epoch; auto: rocauc for two classes and for several labels a node, r2 for regression, mrr "
        "for "
        "links, else accuracy");
  field("patience", self.patience, "ends when so many epochs brought no better validation result; 0 = never");
  field("eval-fanout", self.fanout, "fanouts of validation and test");
  field("eval-batch-size", self.batch_size, "seeds per evaluation batch");
  field("eval-every", self.every, "epochs between validations; the last epoch is always validated");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LinkTrainOptions>
void visit_fields(Self& self, Visit&& field) {
  field("decoder", self.decoder, "of --task link: how a link is scored from the rows of its ends");
  field("link-loss", self.loss,
        "of --task link: cross entropy of each pair, of a link among itself and its negatives, margin, or BPR");
  field("negatives", self.rule.negatives, "of --task link: pairs that are no links, for each training link");
  field(
      "negative-sampler", self.rule.sampler,
      "their other ends: any node (uniform), by degree^0.75, ends of the batch's other links, any but the same for all "
      "links of a batch (joint), or what the data set has as negatives of training (given)");
  field("corrupt", self.rule.corrupt, "which end of a link its negatives replace");
  field("negatives-strict", self.rule.is_strict, "negatives that are training links are drawn again");
  field("exclude", self.rule.exclude,
        "what a batch of links does not see: all edges between their ends; none lets it see what it predicts");
  field("pair-features", self.has_pair_features,
        "of links with times: how often the ends of a pair are among each other's neighbours, how many neighbours they "
        "share and how long ago they met, beside their rows");
  field("eval-negatives", self.eval_negatives,
        "of each validation and test link, the same in every run; those that a data set comes with are taken instead");
  field("test-messages", self.test_messages,
        "what edges the test sees: the training links, or those of validation, too, as of ogbl-collab");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, ModelOptions>
void visit_fields(Self& self, Visit&& field) {
  field("model", self.kind, "");
  field("layers", self.num_layers, "number of layers, one per fanout");
  field("hidden", self.hidden_dim, "width of the hidden layers");
  field("dropout", self.dropout, "share of activations dropped between layers");
  field("norm", self.norm, "normalisation of hidden layers");
  field("residual", self.residual, "hidden layers add their input");
  field("activate-input", self.activate_input,
        "of typed models: norm, ReLU and dropout behind the map of each type's features, as behind hidden layers");
  field("jk", self.jk, "jumping knowledge: all layers, then a linear map");
  field("aggr", self.aggr, "how sage aggregates neighbours");
  field("gcn-norm", self.gcn_norm,
        "of gcn: by the degrees of the whole graph at both ends of an edge, or the mean over the kept row");
  field("gin-sum", self.gin_sum,
        "of gin and gine: kept neighbours count all / kept times, so that fanouts may change, or once each");
  field("edge-features", self.edge_features,
        "auto: sage, gat, gatv2, transformer and gine read those of a data set that has some; none: no model does");
  field("time-encoding", self.time_encoding,
        "of sage, gat, gatv2, transformer and gine: columns cos(w ln(1 + dt) + b), dt how long before its seed an edge "
        "was, "
        "beside the features of edges; of runs with --time-rule; 0 = none");
  field("aggregate", self.aggregate,
        "weighted: a neighbour counts by the weight of its edge, in the means of sage, sage-ri and gcn, and in "
        "attention; not beside --draw weighted, which has it count already");
  field("heads", self.heads, "attention heads, which share --hidden");
  field("bases", self.bases, "of rgcn: matrices that its relations share, each a sum of them; 0 = one each");
  field("blocks", self.blocks, "of rgcn: blocks on the diagonal of hidden layers' matrices; 0 = whole ones");
  field("init", self.init, "pyg is uniform within 1/sqrt(fan_in), xavier the paper artifact's");
}

/// `self` is TrainOptions& when a value is set and const TrainOptions& when it is printed.
template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, TrainOptions>
void visit_fields(Self& self, Visit&& field) {
  field("dataset", self.data.dataset,
        "name below --data-root, a directory, or synthetic:arxiv|products|papers100M|mag240M[:SCALE]");
  field("data-root", self.data.root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("task", self.task,
        "of the data set, which must be this one; auto: whichever it is, its labels say, or its links to be predicted");
  visit_fields(self.model, field);
  visit_fields(self.batches, field);
  visit_fields(self.links, field);
  field("epochs", self.optimisation.epochs, "passes over the training nodes, or links");
  field("lr", self.optimisation.lr, "Adam step size");
  field("schedule", self.optimisation.schedule, "cosine goes down to 0 at the last step, plateau down when stuck");
  field("warmup", self.optimisation.warmup, "epochs, or part of one, over which the step size rises from 0");
  field("plateau-factor", self.optimisation.plateau_factor, "plateau: what the step size is multiplied by");
  field("plateau-patience", self.optimisation.plateau_patience,
        "plateau: epochs without a better validation result before that");
  field("weight-decay", self.optimisation.weight_decay, "L2 penalty of Adam");
  field("label-smoothing", self.optimisation.label_smoothing,
        "share of each label spread evenly over all classes, or over yes and no");
  field("class-weights", self.optimisation.class_weights,
        "how much each class counts in the loss: none = alike, balanced = by one over its training nodes, or a file of "
        "class,weight");
  field("loss", self.optimisation.loss,
        "of regression, in units of the targets' deviations; auto: mse, and cross entropy for other tasks");
  field("seed", self.seed, "all randomness of the run derives from it");
  field("trials", self.trials, "runs with the seeds seed, seed + 1, ...; ends with mean and standard deviation");
  field("deterministic", self.deterministic,
        "the same bits on the same model of GPU: gradients summed in a fixed order; a CPU always does so");
  visit_fields(self.evaluation, field);
  visit_fields(self.machine, field);
  field("precision", self.precision,
        "how matrices are multiplied; auto: bf16 in resident steps, fp32 elsewhere; tf32 needs a GPU, bf16 a GPU or "
        "AVX-512 BF16");
  field("step", self.step,
        "resident: with data on the GPU a step is one graph there; auto: where it can be and is faster");
  visit_fields(self.comm, field);
  field("out", self.output.directory, "run directory; empty = runs/DATASET-MODEL-TIME");
  field("checkpoint-every", self.output.checkpoint_every, "epochs between checkpoints; 0 = only the best and the last");
  field("keep", self.output.keep, "checkpoints kept beside the best one");
  field("resume", self.output.resume, "run directory to continue");
  visit_fields(self.console, field);
  field("trace", self.output.trace, "write trace.json: what every thread and stream did, for Perfetto");
}

struct TrainActions : RankedActions {
  bool dry_run = false;
};

/// The whole command line.
struct TrainCommand : Command<TrainOptions, TrainActions> {
  TrainCommand() : Command{.options = {.batches = {.size = kAutoBatchSize}}} {}
};

constexpr auto option_groups(const TrainCommand&) {
  return std::to_array<options::OptionGroup>({{"data", "dataset"},
                                              {"model", "model"},
                                              {"batches", "fanout"},
                                              {"links", "decoder"},
                                              {"optimisation", "epochs"},
                                              {"evaluation", "metric"},
                                              {"machine", "device"},
                                              {"ranks", "comm"},
                                              {"output", "out"},
                                              {"actions", "ranks"}});
}

/// Merges, the strongest last: defaults < recipe of model and data set < --config file < SALIENT_* < command line.
///
/// @param look_up   getenv in a program.
/// @param read_run  of the run that --resume names
/// @throws Error{kUsage} for a bad option from any source; Error{kNoInput} when the config file is missing.
TrainCommand read_train_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up,
                                const ConfigReader& read_run = read_resumed_config);

/// Every rule that the options break. Never touches disk, GPU or network.
std::vector<FieldProblem> problems_of(const TrainOptions& options);

}  // namespace salient
