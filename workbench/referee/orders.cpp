// workbench/referee/orders.cpp - see orders.h.
#include "workbench/referee/orders.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "workbench/referee/judge.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kFreeScratch = std::size_t{64} << 20, kScratchFactor = 4;  // of the case's own memory

ProblemSize size_of(const Problem& problem) { return {problem.definition(), problem.spec().dims}; }

}  // namespace

std::vector<std::size_t> buffer_bytes(const ProblemSize& problem, const Candidate& candidate, std::int64_t sm) {
  std::vector<std::size_t> bytes;
  for (const BufferSpec& buffer : problem.given.buffers) {
    const std::int64_t count = evaluate(buffer.count, problem.dims);
    if (count < 0) fail(ErrorKind::kBadData, buffer.name + ": negative size");
    bytes.push_back(static_cast<std::size_t>(count) * bytes_of(buffer.type));
  }
  const std::size_t limit = kFreeScratch + kScratchFactor * std::accumulate(bytes.begin(), bytes.end(), std::size_t{0});
  std::size_t scratch_bytes = 0;
  for (const BufferSpec& scratch : candidate.scratch) {
    bytes.push_back(scratch_elements(scratch, candidate, problem.dims, sm) * bytes_of(scratch.type));
    scratch_bytes += bytes.back();
  }
  if (scratch_bytes > limit)
    fail(ErrorKind::kBadData,
         "scratch of " + std::to_string(scratch_bytes) + " bytes, at most " + std::to_string(limit) + " here");
  return bytes;
}

namespace {

/// Extents of a buffer, then its strides by rows, in elements. @throws Error{kBadData} for what no memory has
std::vector<std::int64_t> array_of(const Candidate& candidate, const BufferSpec& buffer, const Variables& all) {
  std::vector<std::int64_t> extents, strides;
  for (const std::string& extent : extents_of(candidate, buffer)) extents.push_back(evaluate(extent, all));
  std::int64_t stride = 1;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    strides.insert(strides.begin(), stride);
    if (*extent < 0 || __builtin_mul_overflow(stride, std::max<std::int64_t>(*extent, 1), &stride))
      fail(ErrorKind::kBadData, "array " + buffer.name + ": an extent below 0, or more than 2^63 elements");
  }
  extents.insert(extents.end(), strides.begin(), strides.end());
  return extents;
}

}  // namespace

RunOrder make_order(const ProblemSize& problem, const Candidate& candidate, const Layout& layout, std::size_t artifact,
                    std::int64_t sm) {
  RunOrder order{.artifact = artifact, .launches = resolve_launches(candidate, problem.dims, sm), .end = layout.end};
  const LanguageTraits& language = traits_of(candidate.language);
  const Variables all = with_parameters(candidate, problem.dims, sm);
  const auto pass = [&](std::size_t b, const BufferSpec& buffer) {
    order.arguments.push_back({true, static_cast<std::int64_t>(layout.buffers[b].offset)});
    if (!language.has_arrays) return;
    const std::vector<std::int64_t> numbers = array_of(candidate, buffer, all);
    for (const std::int64_t number : numbers) order.arguments.push_back({false, number});
  };
  const std::size_t num_buffers = problem.given.buffers.size();
  for (std::size_t b = 0; b < num_buffers; ++b) pass(b, problem.given.buffers[b]);
  for (const std::string& dim : problem.given.dims) order.arguments.push_back({false, problem.dims.at(dim)});
  for (std::size_t s = 0; s < candidate.scratch.size(); ++s) pass(num_buffers + s, candidate.scratch[s]);
  order.arguments.resize(order.arguments.size() + language.hidden_parameters);
  return order;
}

namespace {

/// Room for copies of the inputs, from `end` on, which moves behind them.
std::vector<Placement> place_copies(const Problem& problem, std::size_t& end) {
  std::vector<Placement> copies(problem.num_buffers());
  for (std::size_t b = 0; b < problem.num_buffers(); ++b) {
    if (problem.definition().buffers[b].role == BufferRole::kOut) continue;
    copies[b] = {end, problem.bytes(b)};
    end = (end + problem.bytes(b) + 255) / 256 * 256;
  }
  return copies;
}

/// How many elements an input is rotated by; row offsets stay as they are.
std::size_t rotation_of(const Problem& problem, std::size_t b, std::uint64_t inputs) {
  const BufferSpec& buffer = problem.definition().buffers[b];
  const bool is_fixed = inputs == 0 || buffer.role == BufferRole::kOut || buffer.fill == Fill::kIndptr;
  return is_fixed || problem.elements(b) == 0 ? 0 : mix(inputs ^ mix(b)) % problem.elements(b);
}

}  // namespace

TimedSets lay_out_sets(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                       std::int64_t sm, std::uint64_t seed, InputChange how) {
  TimedSets sets;
  for (std::size_t s = 0; s < problems.size(); ++s) {
    std::vector<std::size_t> bytes;
    for (const Candidate* kernel : kernels) {
      const std::vector<std::size_t> needed = buffer_bytes(size_of(problems[s]), *kernel, sm);
      bytes.resize(std::max(bytes.size(), needed.size()));
      for (std::size_t b = 0; b < needed.size(); ++b) bytes[b] = std::max(bytes[b], needed[b]);
    }
    sets.layouts.push_back(lay_out(bytes, sets.end, mix(seed + s)));
    sets.end = sets.layouts.back().end;
  }
  for (const Problem& problem : problems)
    sets.pristine.push_back(how == InputChange::kRotate ? place_copies(problem, sets.end)
                                                        : std::vector<Placement>(problem.num_buffers()));
  return sets;
}

void prepare_sets(const std::vector<Problem>& problems, const TimedSets& sets, Arena& arena) {
  for (std::size_t s = 0; s < problems.size(); ++s) {
    prepare_arena(problems[s], sets.layouts[s], kDirt[0], arena);
    for (std::size_t b = 0; b < problems[s].num_buffers(); ++b)
      std::copy_n(problems[s].data(b).begin(), sets.pristine[s][b].bytes, arena.data() + sets.pristine[s][b].offset);
  }
}

Problem problem_with(const Problem& first, std::uint64_t inputs, InputChange how) {
  ProblemSpec spec = first.spec();
  if (how == InputChange::kRefill) {
    if (inputs != 0) spec.seed = inputs;
    return Problem(first.definition(), spec);
  }
  Problem problem = first;
  for (std::size_t b = 0; b < problem.num_buffers(); ++b)
    if (const std::size_t by = rotation_of(problem, b, inputs); by > 0) problem.rotate(b, by);
  return problem;
}

namespace {

/// What a run finds: poisoned outputs and scratch, and its inputs from their copies, rotated.
void add_restores(const TimingSetup& setup, std::size_t set, std::uint64_t inputs, std::vector<Restore>& list) {
  const Problem& problem = setup.problems[set];
  for (std::size_t b = 0; b < setup.sets.layouts[set].buffers.size(); ++b) {
    const Placement place = setup.sets.layouts[set].buffers[b];
    if (place.bytes == 0) continue;
    if (b >= problem.num_buffers() || problem.definition().buffers[b].role == BufferRole::kOut) {
      list.push_back({place.offset, place.bytes, std::nullopt});
      continue;
    }
    const std::size_t from = setup.sets.pristine[set][b].offset;
    const std::size_t by = rotation_of(problem, b, inputs) * bytes_of(problem.definition().buffers[b].type);
    list.push_back({place.offset, place.bytes - by, from + by});
    if (by > 0) list.push_back({place.offset + place.bytes - by, by, from});
  }
}

}  // namespace

std::vector<std::size_t> order_of_round(std::size_t num_kernels) {
  std::vector<std::size_t> order(2 * num_kernels);
  for (std::size_t k = 0; k < num_kernels; ++k) order[k] = order[2 * num_kernels - 1 - k] = k;
  return order;
}

TimingPlan make_timing_plan(const TimingSetup& setup) {
  TimingPlan plan;
  const std::size_t num_sets = setup.problems.size(), num_kernels = setup.kernels.size();
  for (std::size_t k = 0; k < num_kernels; ++k)
    for (std::size_t s = 0; s < num_sets; ++s)
      plan.orders.push_back(
          make_order(size_of(setup.problems[s]), *setup.kernels[k], setup.sets.layouts[s], k, setup.sm));
  const auto add_sample = [&](std::size_t kernel, std::size_t begin, std::size_t end) {
    TimedSample sample;
    for (std::size_t set = begin; set < end; ++set) {
      const std::uint64_t drawn = mix(setup.seed ^ mix(plan.samples.size() * num_sets + set + 1)) >> 1 | 1;
      sample.orders.push_back(kernel * num_sets + set);
      sample.inputs.push_back(plan.samples.empty() ? 0 : drawn);
      add_restores(setup, set, sample.inputs.back(), sample.before);
    }
    plan.samples.push_back(std::move(sample));
  };
  const std::size_t of_kind = num_sets / setup.kinds;
  const std::vector<std::size_t> order = order_of_round(num_kernels);
  for (int round = 0; round < (kWarmSamples + setup.samples) / 2; ++round)
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t k = 0; k < setup.kinds; ++k) {
        const std::size_t kind = i < num_kernels ? k : setup.kinds - 1 - k;
        add_sample(order[i], kind * of_kind, (kind + 1) * of_kind);
      }
  for (std::size_t s = 0; s < num_sets; ++s) add_sample(num_kernels - 1, s, s + 1);
  return plan;
}

}  // namespace salient::workbench
