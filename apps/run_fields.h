// apps/run_fields.h - the options that salient-train, salient-infer and the benchmarks share: names, help and rules.
#pragma once

#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/options/options.h"
#include "core/console/console_options.h"
#include "core/field_problem.h"
#include "core/value_text.h"
#include "engine/comm/comm_options.h"
#include "engine/device/machine_options.h"
#include "engine/plan/time_options.h"
#include "models/describe/model_options.h"
#include "sampler/sampling_rule.h"

namespace salient {

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, MachineOptions>
void visit_fields(Self& self, Visit&& field) {
  field("device", self.device, "");
  field(
      "features", self.features,
      "in host memory, the most used rows on the GPU too (cached), all on the GPU (device), or a part of them on "
      "each GPU of the host (sharded); auto: what fits; partitioned: each rank has those of its part (salient-prepare "
      "partition) and gets others from other ranks");
  field("cache-gb", self.cache_gb,
        "GPU memory for the rows of --features cached, or with sharded for copies of other GPUs' rows, 0 = what is "
        "left; with partitioned, host memory for copies of other ranks' rows, 0 = a tenth of a part");
  field("cache-policy", self.cache_policy,
        "which rows --features cached, sharded or partitioned copies: of the nodes that batches are expected to meet "
        "most, by a formula (vip) or by sampling two epochs (counted), or of those with the most neighbours; likewise "
        "which rows of the graph the GPU has where not all fit");
  field("sampler", self.sampler,
        "who samples; auto: the GPU if the graph fits too, or enough of it; batches are the same");
  field("graph-gb", self.graph_gb,
        "GPU memory for the graph with --sampler device; rows that have no room stay in pinned host memory, where the "
        "GPU reads them; 0 = all of it, or what is left");
  field("workers", self.workers, "threads that prepare batches; 0 = cores - 2, at least 1");
  field("threads", self.threads, "threads of the dense layers on a CPU; 0 = all cores");
  field("slots", self.slots, "batches in flight; 0 = a quarter more than workers");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, CommOptions>
void visit_fields(Self& self, Visit&& field) {
  field("comm", self.backend, "how ranks exchange data");
  field("comm-rows", self.rows,
        "how the rows of --features partitioned move between ranks; auto: nccl with --comm nccl, else mpi");
  field("comm-timeout", self.timeout_seconds, "seconds to wait for other ranks before giving up");
}

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, ConsoleOptions>
void visit_fields(Self& self, Visit&& field) {
  field("progress", self.progress, "");
  field("log-level", self.log_level, "");
}

/// --draw and its older spelling. @param draw  Draw, or std::optional<Draw> where it may be left open
template <class DrawField, class Visit>
void visit_draw(DrawField& draw, Visit&& field, std::string_view help) {
  options::Alias with_replacement{
      .field = "draw", .value = "with-replacement", .otherwise = "uniform", .is = to_text(draw)};
  field("with-replacement", with_replacement, "as --draw with-replacement");
  field("draw", draw, help);
}

/// Which edges seeds see. @param seen, window, strategy  as TimeOptions has them; optional ones may be left open
template <class Seen, class Window, class Strategy, class Visit>
void visit_time(Seen& seen, Window& window, Strategy& strategy, Visit&& field, std::string_view help) {
  field("time-rule", seen, help);
  field("time-window", window, "of --time-rule: how far back they may be, in the unit of the edges' times; all = any");
  field("time-strategy", strategy, "of --time-rule: --fanout of these are drawn, or the latest are kept");
}

/// Adds the rules that these choices break to `found`.
void add_problems(std::vector<FieldProblem>& found, const MachineOptions& options);
void add_problems(std::vector<FieldProblem>& found, const CommOptions& options, const MachineOptions& machine);
void add_problems(std::vector<FieldProblem>& found, const TimeOptions& options, Draw draw, const ModelOptions& model);
void add_problems(std::vector<FieldProblem>& found, Draw draw, const ModelOptions& model);

/// @throws Error{kUsage} with all of them on one line, as "--field: rule; --field: rule"; nothing without problems.
void refuse(const std::vector<FieldProblem>& problems);

}  // namespace salient
