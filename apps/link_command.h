// apps/link_command.h - the command line of salient-train --task link: embedding models of knowledge graphs.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/command.h"
#include "apps/run_config.h"
#include "apps/run_fields.h"
#include "apps/train_command.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/links/link_options.h"
#include "engine/train/train_options.h"

namespace salient {

/// What --task and --model say of such a run.
enum class LinkTask : std::uint8_t { kLink };
constexpr auto names_of(LinkTask) { return std::to_array<EnumName<LinkTask>>({{LinkTask::kLink, "link"}}); }
enum class LinkEncoder : std::uint8_t { kNone };
constexpr auto names_of(LinkEncoder) { return std::to_array<EnumName<LinkEncoder>>({{LinkEncoder::kNone, "none"}}); }

struct LinkRunOptions {
  DataOptions data{};
  LinkTask task = LinkTask::kLink;
  LinkEncoder model = LinkEncoder::kNone;
  std::string negatives = "all";  ///< or how many; link.negatives says it as a number
  LinkOptions link{};
  CommOptions comm{};
  OutputOptions output{};  ///< directory and resume
  ConsoleOptions console{};
};

/// What runs on triples share: the options of the data.
template <class Self, class Visit>
void visit_triples(Self& self, Visit&& field) {
  field("dataset", self.data.dataset, "name below --data-root, or a directory; made by salient-prepare triples");
  field("data-root", self.data.root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("task", self.task, "");
}

/// The others that they share: of a run that trains by epochs, its ranks and its directory.
template <class Self, class Visit>
void visit_run(Self& self, Visit&& field, std::string_view help_of_out) {
  field("seed", self.link.seed, "all randomness of the run derives from it");
  field("eval-every", self.link.eval_every, "epochs between validations; the last epoch is always validated");
  field("patience", self.link.patience, "ends when so many validations brought no better MRR; 0 = never");
  field("ties", self.link.ties, "the rank of a link among candidates of its score");
  field("threads", self.link.threads, "0 = all cores");
  visit_fields(self.comm, field);
  field("out", self.output.directory, help_of_out);
  field("checkpoint-every", self.link.checkpoint_every, "epochs between checkpoints; 0 = only the best and the last");
  field("resume", self.output.resume, "run directory to continue");
  visit_fields(self.console, field);
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, LinkRunOptions>
void visit_fields(Self& self, Visit&& field) {
  visit_triples(self, field);
  field("model", self.model, "no layers in front of the decoder: each node has a row");
  field("decoder", self.link.decoder, "how a link is scored from the rows of its ends and its relation");
  field("hidden", self.link.hidden, "width of the rows; of complex and rotate complex numbers");
  field("negatives", self.negatives, "candidates beside the true one: all nodes, or so many, uniform");
  field(
      "batch-size", self.link.batch_size,
      "links per step, each asked for from both sides; 0 = 512, or less where an epoch has fewer than ten steps then");
  field("epochs", self.link.epochs, "passes over the training links");
  field("optimizer", self.link.optimiser, "");
  field("lr", self.link.lr, "its step size");
  field("dropout", self.link.dropout, "share of the numbers of a query's rows that are dropped");
  field("n3", self.link.n3, "penalty: the sum of |x|^3 over the rows of a link, on average over links");
  field("weight-decay", self.link.weight_decay, "L2 penalty of the optimizer");
  field("label-smoothing", self.link.label_smoothing, "share of each label spread evenly over the candidates");
  visit_run(self, field, "run directory; empty = runs/DATASET-DECODER-TIME");
}

using LinkCommand = Command<LinkRunOptions, RankedActions>;

/// Whether a command line, its environment, its --config file or the run that it resumes say --task link, or leave the
/// task open for a data set with links, and this model, "none" or one of paths; no model is "none" for links of
/// relations. Throws nothing: what is wrong is said when the line is read.
bool is_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                     std::string_view model = "none");

/// Merges, the strongest last: defaults < configuration of the run that --resume names < --config file < SALIENT_* <
/// command line. @throws as read_train_command()
LinkCommand read_link_command(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                              const ConfigReader& read_run = read_resumed_config);

/// The options of a run of an embedding model, from its config.toml; none of another run, and where there is none.
/// @throws Error{kBadData} where it breaks a rule
std::optional<LinkRunOptions> embedding_options_of(const std::filesystem::path& run);

/// Every rule that the options break. Touches no disk.
std::vector<FieldProblem> problems_of(const LinkRunOptions& options);

/// The options of the trainer, with what --negatives says; none for text that is no number.
std::optional<LinkOptions> link_options_of(const LinkRunOptions& options);

/// Trains and prints the result. @return the exit code
int run_link_command(const LinkCommand& command, const Launch& launch, Communicator& control);

}  // namespace salient
