// workbench/referee/energy.cpp - see shape_timing.h: the joules of a run, where a device counts them.
#include <algorithm>
#include <memory>

#include "workbench/referee/orders.h"
#include "workbench/referee/shape_timing.h"

namespace salient::workbench {

std::optional<Finding> measure_energy(const ShapeSetup& setup, ShapeTimes& times) {
  const std::int64_t sm = setup.backend.machine().sm;
  const TimedSets sets = lay_out_sets(setup.problems, setup.kernels, sm, setup.seed, InputChange::kRotate);
  const TimingPlan plan = make_timing_plan({.problems = setup.problems,
                                            .kernels = setup.kernels,
                                            .sets = sets,
                                            .sm = sm,
                                            .samples = 2,
                                            .seed = mix(setup.seed)});
  const std::size_t num_sets = setup.problems.size();
  const auto sample_of = [&](std::size_t kernel) {
    const auto found = std::find_if(plan.samples.begin(), plan.samples.end(), [&](const TimedSample& sample) {
      return sample.orders.front() / num_sets == kernel;
    });
    return static_cast<std::size_t>(found - plan.samples.begin());
  };
  Arena arena(sets.end), result(sizeof(double));
  auto* const joules = reinterpret_cast<double*>(result.data());
  std::unique_ptr<Executor> executor;
  Worker worker([&] { executor = setup.backend.make_executor(setup.artifacts, arena.size()); },
                [&](std::size_t step) {  // 0: the inputs are brought; then the kernels
                  if (step == 0) return (void)executor->time(plan, 0, arena);
                  *joules = executor->joules(plan, sample_of(step - 1), setup.energy_seconds);
                },
                setup.backend.limits());
  prepare_sets(setup.problems, sets, arena);
  Reply reply = worker.wait_until_ready(60);
  const std::unique_ptr<DeviceTurn> turn = setup.backend.turn(DeviceTurn::Kind::kExclusive);
  if (reply.kind == Reply::Kind::kOk) reply = worker.run(0, setup.limit);
  for (const std::size_t kernel : {std::size_t{0}, setup.kernels.size() - 1}) {
    if (reply.kind == Reply::Kind::kOk) reply = worker.run(kernel + 1, setup.limit);
    if (reply.kind != Reply::Kind::kOk) return finding_while_timed(reply);
    (kernel == 0 ? times.start_joules : times.joules) = *joules / static_cast<double>(num_sets);
  }
  return std::nullopt;
}

}  // namespace salient::workbench
