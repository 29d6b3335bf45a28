// apps/salient_train.cpp - salient-train: argv -> options -> a training run.
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "apps/advice.h"
#include "apps/link_command.h"
#include "apps/older_runs.h"
#include "apps/open_named_dataset.h"
#include "apps/path_command.h"
#include "apps/program.h"
#include "apps/rank_table.h"
#include "apps/resumed_options.h"
#include "apps/run_config.h"
#include "apps/schema_of_run.h"
#include "apps/session.h"
#include "apps/train_command.h"
#include "apps/train_directory.h"
#include "apps/train_run.h"
#include "apps/train_warnings.h"
#include "apps/versions.h"
#include "core/console/log.h"
#include "core/console/trace.h"
#include "core/error.h"
#include "core/host/interrupt.h"
#include "core/host/machine.h"
#include "core/value_text.h"
#include "core/version.h"
#include "engine/comm/agreement.h"
#include "engine/device/fit_to_machine.h"
#include "engine/device/planned_data.h"
#include "engine/device/rank_parts.h"
#include "engine/device/tensor_memory.h"
#include "engine/train/class_weights.h"
#include "engine/train/run_model.h"
#include "engine/train/score.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "models/describe/costs.h"
#include "models/describe/layer_list.h"
#include "store/part_rows_file.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

constexpr const char* kProgram = "salient-train";
constexpr const char* kHelp =
    "salient-train - trains a graph neural network by sampled mini-batches\n\n"
    "  salient-train --dataset wordnet\n"
    "  salient-train --dataset data/my-graph --fanout 10,5 --hidden 128 --device cuda\n\n"
    "options (with their defaults); SALIENT_NAME variables and --config FILE.toml set them too:\n";

constexpr const char* kLinkHelp =
    "salient-train --task link - trains an embedding model of a knowledge graph\n\n"
    "  salient-train --dataset data/wn18rr --task link --model none --decoder complex\n\n"
    "options (with their defaults); SALIENT_NAME variables and --config FILE.toml set them too:\n";

constexpr const char* kPathHelp =
    "salient-train --task link --model nbfnet - trains a path-based model of a knowledge graph\n\n"
    "  salient-train --dataset data/umls --task link --model nbfnet --layers 3\n\n"
    "options (with their defaults); SALIENT_NAME variables and --config FILE.toml set them too:\n";

/// Options that may differ between hosts.
constexpr std::string_view kOwnToAHost[] = {"data-root", "workers", "threads", "slots", "progress", "log-level", "out"};

/// The node types and relations of a typed graph, each with its count.
void add_schema(const GraphSchema& schema, Facts& facts) {
  if (!schema.is_typed()) return;
  std::string types, relations;
  for (const NodeType& type : schema.node_types)
    types.append(types.empty() ? "" : ", ").append(type.name + " " + std::to_string(type.count));
  for (const Relation& relation : schema.relations)
    relations.append(relations.empty() ? "" : ", ")
        .append(text_of(schema, relation) + " " + std::to_string(relation.num_entries));
  facts["node_types"] = types;
  facts["relations"] = relations;
  facts["target_type"] = schema.target().name;
}

RunDescription describe_run(const TrainRun& run) {
  const Dataset& dataset = run.dataset;
  RunDescription about{.program = std::string(kProgram) + " " + kVersion, .versions = library_versions()};
  about.changed = changed_options(run.said);
  about.machine = {{"host", host_name()},
                   {"cpu", cpu_model()},
                   {"cores", num_usable_cores()},
                   {"device", run.session.device.name()},
                   {"ranks", run.session.comm->size()},
                   {"communication", std::string(run.session.comm->name())}};
  about.dataset = {{"name", dataset.name},
                   {"source", dataset.source_kind},
                   {"fingerprint", dataset.fingerprint},
                   {"nodes", static_cast<std::int64_t>(dataset.num_nodes())},
                   {"entries", dataset.num_edges()},
                   {"task", predicts_links(run.options) ? "link" : name_of(dataset.task)},
                   {words_of(dataset.task).outputs, dataset.num_classes}};
  if (predicts_links(run.options))
    for (const auto& [name, split] :
         {std::pair{"train_links", kTrainLinks}, {"valid_links", kValidLinks}, {"test_links", kTestLinks}})
      about.dataset[name] = static_cast<std::int64_t>(dataset.links[split].size());
  add_schema(dataset.types, about.dataset);
  return about;
}

/// A resumed run goes on in the precision that it came to, where this machine multiplies so. Collective.
void take_precision_of_resumed(TrainRun& run) {
  if (run.said.output.resume.empty() || run.said.precision) return;
  Communicator& comm = *run.session.comm;
  const std::optional<Precision> before = precision_of_run(comm, run.said.output.resume);
  const bool is_able = on_all_ranks(comm, !before || has_precision(run.session.device, *before));
  run.options.precision = is_able ? before : Precision::kFp32;
  if (!is_able && run.session.is_rank_0())
    log_warning("the run was in " + name_of(*before) +
                " so far, which this device lacks: it goes on in fp32, with other losses than it would have had");
}

/// Few nodes make smaller batches, so that an epoch has several steps.
void choose_batch_size(TrainRun& run) {
  BatchOptions& batches = run.options.batches;
  const int num_ranks = run.session.comm->size();
  const std::size_t num_items = num_training_items(run.options, run.dataset);
  const char* const items = predicts_links(run.options) ? " training links" : " training nodes";
  const int suited = auto_batch_size(num_items, num_ranks);
  if (batches.size != kAutoBatchSize) {
    if (run.session.is_rank_0() && batches.global_size == 0)
      warn_of_few_steps(num_items, global_batch_of(run.options, num_ranks),
                        static_cast<std::size_t>(suited) * static_cast<std::size_t>(num_ranks), suited);
    return;
  }
  batches.size = batches.global_size > 0 ? BatchOptions{}.size : suited;
  if (run.session.is_rank_0() && batches.size < BatchOptions{}.size)
    log_info("batches of " + std::to_string(batches.size) + " seeds, as there are " + std::to_string(num_items) +
             items + "; --batch-size chooses another size");
}

/// Device, ranks and data set of the run. Collective.
TrainRun set_up(const TrainOptions& said, const Launch& launch, Communicator& control) {
  TrainRun run{.session = open_session(said.machine, said.comm, launch, control), .said = said, .options = said};
  const Session& session = run.session;
  together(*session.comm, [&] {
    require_precision(session, said.precision);
    require_step(session, said.step);
  });
  take_precision_of_resumed(run);
  fit_to_machine(run.options.machine, session.device, launch.cores);
  RankTable ranks = log_rank_table(session, run.options.machine.workers);
  run.dataset = open_dataset_together(session, said.data, said.machine);
  if (!said.task && run.dataset.has_links) run.said.task = run.options.task = RunTask::kLink;
  if (predicts_links(run.options) && run.dataset.has_link_times && !run.options.batches.time.rule())
    run.said.batches.time.seen = run.options.batches.time.seen = SeenEdges::kBefore;
  together(*session.comm, [&] {
    std::vector<FieldProblem> problems;  // of a rule of times that follows from the data set
    add_problems(problems, run.options.batches.time, run.options.batches.draw, run.options.model);
    refuse(problems);
    require_trainable(run.options, run.dataset);
    if (predicts_links(run.options) && run.dataset.types.is_typed() && session.device.is_cuda())
      fail(ErrorKind::kUsage, "--device: links that have relations are trained on CPUs yet: --device cpu");
  });
  run.options.class_weights = class_weights_on_all_ranks(*session.comm, said.optimisation.class_weights, run.dataset);
  if (session.is_rank_0() && !run.options.class_weights.empty())
    log_info("class weights: " + class_weights_text(run.options.class_weights, run.dataset));
  choose_batch_size(run);
  run.about = describe_run(run);
  run.about.placement = std::move(ranks);
  return run;
}

/// Sparse rows that this model's first layer makes dense take the memory and time of dense ones.
void warn_of_dense_rows(const TrainRun& run) {
  const ModelOptions& model = run.options.model;
  if (run.dataset.has_sparse_features() && model.kind == ModelKind::kSage && model.aggr == Aggregation::kMax)
    log_warning("--aggr max makes the sparse rows of each batch dense, all " + std::to_string(run.dataset.feature_dim) +
                " columns; --aggr mean multiplies them as they are");
}

/// What the run was resolved to on this machine, for run.json and the log.
Facts resolved_facts(const TrainRun& run) {
  const DataResidency& residency = run.plan.data.residency;
  const MachineOptions& machine = run.options.machine;
  const int num_ranks = run.session.comm->size();
  const auto batch_size = static_cast<std::int64_t>(global_batch_of(run.options, num_ranks)) / num_ranks;
  Facts facts{{"device", to_text(machine.device)},
              {"features", name_of(residency.features)},
              {"sampler", name_of(residency.graph)},
              {"workers", machine.workers},
              {"threads", machine.threads},
              {"slots", machine.slots},
              {"precision", name_of(run.plan.precision())},
              {"comm", std::string(run.session.comm->name())},
              {"metric", name_of(metric_of_run(run.options, run.dataset))},
              {"step", name_of(run.plan.training.kind)},
              {"batch_size", batch_size}};
  if (!run.options.class_weights.empty()) facts["class_weights"] = to_text(run.options.class_weights);
  if (may_have_copies(residency.features)) {
    facts["cached_rows"] = static_cast<std::int64_t>(residency.cached_rows);
    facts["cache_policy"] = name_of(residency.cache_policy);
  }
  if (residency.graph_entries) facts["graph_entries"] = static_cast<std::int64_t>(*residency.graph_entries);
  return facts;
}

/// Of the model, for run.json: values that ranks sum, hence without rows that are learned.
Facts model_facts(const TrainRun& run) {
  const LayerList model = describe(model_of(run.plan.training.spec, run.dataset));
  return {{"parameters", num_parameters(model) - num_learned(model)}};
}

/// "device cpu, features host, ..."
std::string resolved_line(const Facts& facts) {
  std::string line = "resolved: ";
  for (const auto& [name, value] : facts) {
    line.append(line.ends_with(": ") ? "" : ", ").append(name).append(" ");
    std::visit([&](const auto& fact) { line.append(to_text(fact)); }, value);
  }
  return line;
}

/// trace.json of rank 0, trace-rank-R.json of the others that see the run directory.
void open_trace(const std::filesystem::path& directory, int rank) {
  if (rank > 0 && !std::filesystem::is_directory(directory)) return;
  Trace::global().open(directory / (rank == 0 ? "trace.json" : "trace-rank-" + std::to_string(rank) + ".json"), rank);
  Trace::global().name_row(trace_row::kMain, "main");
  Trace::global().name_row(trace_row::kComputeStream, "compute stream");
}

/// The rows that this rank will read, where the store has none but those of parts.
void check_part_rows(const DataPlan& plan, const Dataset& dataset, int rank) {
  const bool has_all = dataset.types.is_typed() || dataset.features.data != nullptr;
  if (plan.residency.features != Residency::kPartitioned || has_all) return;
  (void)open_part_rows(dataset, open_parts(dataset), rank);
}

int train(const TrainCommand& command, const Launch& launch, Communicator& control) {
  if (command.actions.print_config) {
    if (launch.rank == 0) options::print_toml(std::cout, command.options);
    return 0;
  }
  require_equal_programs(control, kProgram, common_configuration(command.options, kOwnToAHost));
  TrainRun run = set_up(command.options, launch, control);
  const Session& session = run.session;
  run.plan = plan_training(place_of(session), run.options, run.dataset);
  const DataPlan& plan = run.plan.data;
  if (command.actions.dry_run && session.is_rank_0()) {
    if (run.dataset.types.is_typed())
      log_lines(to_text(schema_of_run(run.options, run.dataset, launch.size)), log_result);
    log_lines(to_text(plan), log_result);
  }
  together(*session.comm, [&] { check(plan); });
  (void)parts_to_deal_by(command.options.batches.deal, run.dataset, *session.comm);  // before there is a directory
  if (command.actions.dry_run) {
    together(*session.comm, [&] { check_part_rows(plan, run.dataset, session.comm->rank()); });
    session.on_rank_0([&] { check_directory(run); });
    if (session.is_rank_0()) log_result("dry run: everything is in place, nothing was trained");
    return 0;
  }
  const std::int64_t spare = (plan.available.host_bytes - plan.host_bytes) * launch.ranks_on_host;
  const bool samples_on_host = plan.residency.graph == GraphResidency::kHost;
  use_huge_pages(run.dataset, samples_on_host ? spare / 2 : 0, *session.comm, launch);
  run.data = make_resident(place_of(session), run.dataset, plan);
  install_interrupt_handlers();  // only now: until here a signal ends the process at once, and nothing is left behind
  const std::optional<RunLock> lock = take_directory(run);
  run.about.resolved = resolved_facts(run);
  run.about.model = model_facts(run);
  if (session.is_rank_0()) log_info(resolved_line(run.about.resolved));
  if (session.is_rank_0()) warn_of_dense_rows(run);
  if (session.is_rank_0()) warn_of_data(run.dataset);
  if (session.is_rank_0() && predicts_links(run.options)) warn_of_leak(run.options.links);
  if (session.is_rank_0() && !predicts_links(run.options))
    note_unreached_types(run.dataset, training_rule(run.options, run.dataset));
  if (session.is_rank_0()) note_unused_times(run.dataset, run.options.batches.time);
  if (session.is_rank_0()) note_edge_features(run.dataset, run.options.model);
  if (run.dataset.types.is_typed())
    session.on_rank_0([&] { write_schema(run.directory, schema_of_run(run.options, run.dataset, launch.size)); });
  const std::string older_kind = older_kind_line(run.options.model);
  if (session.is_rank_0() && !run.options.output.resume.empty() && !older_kind.empty()) log_info(older_kind);
  if (run.options.output.trace) together(*session.comm, [&] { open_trace(run.directory, session.comm->rank()); });
  if (!run.session.device.is_cuda()) reuse_tensor_memory();
  return carry_out(run);
}

}  // namespace
}  // namespace salient

int main(int argc, char** argv) {
  using namespace salient;
  const std::span<const char* const> said(argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  if (is_link_command(said, in_environment, name_of(PathModelName::kNbfnet)))
    return run_program<PathCommand>({kProgram, train_advice, kPathHelp, read_path_command, run_path_command}, argc,
                                    argv);
  if (is_link_command(said, in_environment))
    return run_program<LinkCommand>({kProgram, train_advice, kLinkHelp, read_link_command, run_link_command}, argc,
                                    argv);
  return run_program<TrainCommand>({kProgram, train_advice, kHelp, read_train_command, train}, argc, argv);
}
