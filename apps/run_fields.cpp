// apps/run_fields.cpp - see run_fields.h.
#include "apps/run_fields.h"

#include <string>

#include "core/error.h"
#include "core/memory_size.h"
#include "core/value_text.h"
#include "models/describe/costs.h"

namespace salient {

void add_problems(std::vector<FieldProblem>& found, const MachineOptions& options) {
  const bool may_have_gpu = options.device != DeviceKind::kCpu;
  const bool is_on_gpu = !is_x_from_host(options.features.value_or(Residency::kHost));
  const bool may_cache = !options.features || may_have_copies(*options.features);
  check_field(found, are_gigabytes(options.cache_gb), "cache-gb", kGigabytesRule);
  check_field(found, options.cache_gb == 0 || (options.features && may_cache), "cache-gb",
              "only with --features cached, sharded or partitioned");
  check_field(found, are_gigabytes(options.graph_gb), "graph-gb", kGigabytesRule);
  check_field(found, options.graph_gb == 0 || options.sampler == GraphResidency::kDevice, "graph-gb",
              "only with --sampler device");
  check_field(found, may_have_gpu || !is_on_gpu, "features", to_text(options.features) + " needs a GPU");
  check_field(found, may_have_gpu || options.sampler != GraphResidency::kDevice, "sampler", "device needs a GPU");
  check_field(found, options.workers >= 0 && options.workers <= 1024, "workers", "1 to 1024, or 0 for the default");
  check_field(found, options.threads >= 0 && options.threads <= 1024, "threads", "1 to 1024, or 0 for the default");
  check_field(found, options.slots == 0 || (options.slots >= 2 && options.slots <= 4096), "slots",
              "2 to 4096, or 0 for the default");
}

void add_problems(std::vector<FieldProblem>& found, const CommOptions& options, const MachineOptions& machine) {
  const bool is_by_nccl = options.rows == RowBackend::kNccl;
  check_field(found, !options.rows || machine.features == Residency::kPartitioned, "comm-rows",
              "only with --features partitioned");
  check_field(found, !is_by_nccl || options.backend.value_or(CommBackend::kNccl) == CommBackend::kNccl, "comm-rows",
              "nccl needs --comm nccl");
  check_field(found, !is_by_nccl || machine.device != DeviceKind::kCpu, "comm-rows", "nccl needs a GPU");
  check_field(found, options.timeout_seconds >= 1, "comm-timeout", "at least 1 second");
}

void add_problems(std::vector<FieldProblem>& found, const TimeOptions& options, Draw draw, const ModelOptions& model) {
  check_field(found, options.window.length.value_or(1) >= 1, "time-window", "at least 1, or all");
  if (options.seen == SeenEdges::kAll) return;
  check_field(found, options.strategy != TimeStrategy::kLast || draw == Draw::kUniform, "time-strategy",
              "last draws nothing, and so not by " + name_of(draw));
  check_field(found, !problems_of(model).empty() || !reads_degrees(model), "time-rule",
              "not with this " + name_of(model.kind) +
                  ", which reads the degrees of the whole graph, and so edges later than a seed; " +
                  (model.kind == ModelKind::kGcn ? "--gcn-norm row does not" : "--gin-sum plain does not"));
}

void add_problems(std::vector<FieldProblem>& found, Draw draw, const ModelOptions& model) {
  check_field(found, draw != Draw::kWeighted || !is_by_weight(model), "draw",
              "weights would count twice: weighted draws estimate the weighted mean, --aggregate weighted computes it; "
              "one of them");
}

void refuse(const std::vector<FieldProblem>& problems) {
  std::string all;
  for (const FieldProblem& problem : problems)
    all.append(all.empty() ? "--" : "; --").append(problem.field).append(": ").append(problem.rule);
  if (!all.empty()) fail(ErrorKind::kUsage, all);
}

}  // namespace salient
