// apps/infer_command.cpp - see infer_command.h.
#include "apps/infer_command.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apps/applied_variables.h"
#include "apps/options/checkpoint_name.h"
#include "core/memory_size.h"
#include "core/value_text.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

constexpr const char* kSampledOnly = "not with --exact, which takes all neighbours";
constexpr const char* kExactOnly = "only with --exact";

void add_problems(std::vector<FieldProblem>& found, const SampledOptions& options, bool is_exact) {
  const SampledOptions none;
  check_field(found, options.fanout.empty() || are_fanouts(options.fanout), "fanout", "each 1 to 65535, or -1 for all");
  check_field(found, !is_exact || options.fanout.empty(), "fanout", kSampledOnly);
  check_field(found, !is_exact || options.fanout_of.empty(), "fanout-of", kSampledOnly);
  check_field(found, !is_exact || !options.draw, "draw", kSampledOnly);
  check_field(found, !is_exact || options.batch_size == none.batch_size, "batch-size", kSampledOnly);
  check_field(found, !is_exact || options.seed == none.seed, "seed", kSampledOnly);
  check_field(found, options.seed >= -1 && options.seed < std::int64_t{1} << 32, "seed",
              "0 to 2^32 - 1, or -1 for the run's");
  check_field(found, options.batch_size >= 0, "batch-size", "at least 1, or 0 for the run's");
}

void add_problems(std::vector<FieldProblem>& found, const LayerwiseOptions& options, bool is_exact) {
  const LayerwiseOptions none;
  check_field(found, is_exact || options.activations == none.activations, "activations", kExactOnly);
  check_field(found, is_exact || options.activation_dtype == none.activation_dtype, "activation-dtype", kExactOnly);
  check_field(found,
              options.activations != ActivationStorage::kDevice || options.activation_dtype != ActivationDtype::kF16,
              "activation-dtype", "f16 is for host memory and files");
  check_field(found, is_exact || options.memory_gb == none.memory_gb, "memory-gb", kExactOnly);
  check_field(found, is_exact || options.scratch == none.scratch, "scratch", kExactOnly);
  check_field(found, is_exact || options.block_mb == none.block_mb, "block-mb", kExactOnly);
  check_field(found, are_gigabytes(options.memory_gb), "memory-gb", kGigabytesRule);
  check_field(found, options.block_mb >= 1 && options.block_mb <= 1 << 20, "block-mb", "1 to 1048576");
}

void add_problems_of_new_nodes(std::vector<FieldProblem>& found, const InferOptions& options) {
  const bool are_new = !options.added.nodes.empty();
  check_field(found, are_new || options.added.edges.empty(), "new-edges", "only of --new-nodes");
  if (!are_new) return;
  const NodeSelection none;
  check_field(found, options.nodes.what == none.what && !options.nodes.by, "nodes", "not with --new-nodes");
  check_field(found, !options.exact, "exact", "not with --new-nodes; --fanout of -1 a layer takes all neighbours");
  check_field(found, options.sampled.step != StepKind::kResident, "step",
              "resident is not with --new-nodes, whose batches are eager");
  check_field(found, options.machine.features != Residency::kPartitioned, "features",
              "partitioned is not with --new-nodes, which read rows of any node");
}

}  // namespace

std::vector<FieldProblem> problems_of(const InferOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.run.empty(), "run", "is required, the directory of a run of salient-train");
  const NodeSelection& nodes = options.nodes;
  check_field(found, !nodes.what.empty(), "nodes", "train, valid, test, all, ids or a file with ids, not ''");
  check_field(found,
              nodes.id_column.empty() || !options.added.nodes.empty() ||
                  (is_node_file(nodes.what) && !nodes.what.ends_with(".npy")),
              "id-column", "only of --nodes that are a table, and of --new-nodes");
  add_problems_of_new_nodes(found, options);
  check_field(found, options.links.empty() || (nodes.what == NodeSelection().what && options.added.nodes.empty()),
              "links", "instead of --nodes and --new-nodes");
  check_field(found, options.links.empty() || options.results.top_k == ResultOptions().top_k, "top-k",
              "not with --links, which are scored as they are");
  check_field(found, options.link_time_column.empty() || !options.links.empty(), "link-time-column", "of --links");
  check_field(found, options.link_time_column.empty() || !options.sampled.asked, "link-time-column",
              "or --time for all pairs, not both");
  check_field(found,
              !options.negatives.are_there() || (options.links.empty() && options.relation.empty() &&
                                                 nodes.what == NodeSelection().what && options.added.nodes.empty()),
              "valid-negatives", "instead of --links, --nodes, --new-nodes and --relation");
  check_field(found, options.links.empty() || options.relation.empty(), "relation",
              "not with --links, whose triples name theirs");
  check_field(found, options.links.empty() || options.side == InferOptions().side, "side", "not with --links");
  options::check_checkpoint_name(found, options.checkpoint);
  add_problems(found, options.sampled, options.exact);
  add_problems(found, options.layerwise, options.exact);
  check_field(found, options.results.top_k >= 1, "top-k", "at least 1");
  check_field(found, options.results.embeddings >= 0, "embeddings", "a layer, from 1, or 0 for none");
  const bool may_have_gpu = options.machine.device != DeviceKind::kCpu;
  check_field(found, may_have_gpu || options.sampled.step != StepKind::kResident, "step", "resident needs a GPU");
  check_field(found, may_have_gpu || options.precision != Precision::kTf32, "precision",
              to_text(options.precision) + " needs a GPU");
  check_field(found, options.sampled.step != StepKind::kResident || options.results.embeddings == 0, "embeddings",
              "not with --step resident, which keeps no layer's result");
  const bool is_resident_exact = options.exact && options.sampled.step == StepKind::kResident;
  check_field(found, !is_resident_exact || options.layerwise.activation_dtype != ActivationDtype::kF32,
              "activation-dtype", "f32 is not with --step resident, which keeps layers' results in f16");
  check_field(found, options.sampled.step != StepKind::kResident || !options.layerwise.activations, "activations",
              "not with --step resident, which keeps layers' results in GPU memory");
  add_problems(found, options.machine);
  add_problems(found, options.comm, options.machine);
  return found;
}

InferCommand read_infer_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up) {
  return merged_command<InferCommand>(args, look_up);
}

InferOptions with_defaults_of(InferOptions options, const TrainOptions& run) {
  SampledOptions& sampled = options.sampled;
  if (options.data.dataset.empty()) options.data.dataset = run.data.dataset;
  if (options.data.root.empty()) options.data.root = run.data.root;
  if (sampled.fanout.empty() && !options.exact) sampled.fanout = run.evaluation.fanout;
  if (sampled.fanout_of.empty()) sampled.fanout_of = run.batches.fanout_of;
  if (!sampled.draw) sampled.draw = run.batches.draw;
  const TimeOptions& time = run.batches.time;
  const bool chooses_times = sampled.window || sampled.strategy;
  if (!sampled.seen) sampled.seen = time.seen;
  const bool is_timed = sampled.seen != SeenEdges::kAll;
  if (!sampled.window) sampled.window = time.window;
  if (!sampled.strategy) sampled.strategy = time.strategy;
  if (sampled.batch_size == 0) sampled.batch_size = run.evaluation.batch_size;
  if (sampled.seed < 0) sampled.seed = run.seed;
  const std::string num_layers = std::to_string(run.model.num_layers);
  std::vector<FieldProblem> problems;
  add_problems(problems, sampled.time(), *sampled.draw, run.model);
  add_problems(problems, *sampled.draw, run.model);
  check_field(problems, is_timed || run.model.time_encoding == 0, "time-rule",
              "lt or le: the run's model reads how long before its seed an edge was");
  check_field(problems, is_timed || !chooses_times, "time-rule", "lt or le is needed for a window or a strategy");
  check_field(problems, is_timed || !sampled.asked, "time",
              "the run's neighbours are of all times, and a time would change nothing; --time-rule lt or le");
  check_field(problems, !is_timed || !options.exact, "exact",
              "computes a node once for all that read it, and by --time-rule each sees other edges; --time-rule none");
  check_field(problems, !is_timed || options.added.nodes.empty(), "new-nodes",
              "have no times to draw by; --time-rule none");
  check_field(problems, !is_timed || options.machine.sampler != GraphResidency::kDevice, "sampler",
              "the host draws by --time-rule");
  check_field(problems, options.exact || std::ssize(sampled.fanout) == run.model.num_layers, "fanout",
              num_layers + " numbers, one per layer of the run's model");
  check_field(problems, are_fanouts_of(sampled.fanout_of, run.model.num_layers), "fanout-of",
              "SRC:NAME:DST=" + num_layers + " numbers, each 0 to 65535, or -1 for all");
  check_field(problems, options.results.embeddings <= run.model.num_layers, "embeddings",
              "the run's model has " + num_layers + " layers");
  refuse(problems);
  return options;
}

}  // namespace salient
