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

RunOrder make_order(const ProblemSize& problem, const Candidate& candidate, const Layout& layout, std::size_t artifact,
                    std::int64_t sm) {
  RunOrder order{.artifact = artifact, .launches = resolve_launches(candidate, problem.dims, sm), .end = layout.end};
  const auto pass = [&](std::size_t b) {
    order.arguments.push_back({true, static_cast<std::int64_t>(layout.buffers[b].offset)});
  };
  const std::size_t num_buffers = problem.given.buffers.size();
  for (std::size_t b = 0; b < num_buffers; ++b) pass(b);
  for (const std::string& dim : problem.given.dims) order.arguments.push_back({false, problem.dims.at(dim)});
  for (std::size_t s = 0; s < candidate.scratch.size(); ++s) pass(num_buffers + s);
  return order;
}

TimedSets lay_out_sets(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                       std::int64_t sm, std::uint64_t seed) {
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
  for (const Problem& problem : problems) {
    std::vector<Placement> copies(problem.num_buffers());
    for (std::size_t b = 0; b < problem.num_buffers(); ++b) {
      if (problem.definition().buffers[b].role != BufferRole::kInOut) continue;
      copies[b] = {sets.end, problem.bytes(b)};
      sets.end = (sets.end + problem.bytes(b) + 255) / 256 * 256;
    }
    sets.pristine.push_back(copies);
  }
  return sets;
}

void prepare_sets(const std::vector<Problem>& problems, const TimedSets& sets, Arena& arena) {
  for (std::size_t s = 0; s < problems.size(); ++s) {
    prepare_arena(problems[s], sets.layouts[s], kPoisons[0], arena);
    for (std::size_t b = 0; b < problems[s].num_buffers(); ++b)
      std::copy_n(problems[s].data(b).begin(), sets.pristine[s][b].bytes, arena.data() + sets.pristine[s][b].offset);
  }
}

namespace {

std::vector<Restore> restores_of(const Problem& problem, const Layout& layout, const std::vector<Placement>& pristine) {
  std::vector<Restore> list;
  for (std::size_t b = 0; b < layout.buffers.size(); ++b) {
    const Placement place = layout.buffers[b];
    if (place.bytes == 0) continue;
    const bool is_scratch = b >= problem.num_buffers();
    if (is_scratch || problem.definition().buffers[b].role == BufferRole::kOut)
      list.push_back({place.offset, place.bytes, std::nullopt});
    else if (problem.definition().buffers[b].role == BufferRole::kInOut)
      list.push_back({place.offset, place.bytes, pristine[b].offset});
  }
  return list;
}

}  // namespace

// Its parameters: see orders.h.
TimingPlan make_timing_plan(const std::vector<Problem>& problems, const std::vector<const Candidate*>& kernels,
                            const std::vector<std::size_t>& artifacts, const TimedSets& sets, std::int64_t sm,
                            int samples, std::size_t batch) {
  TimingPlan plan;
  const std::size_t num_sets = problems.size();
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (std::size_t s = 0; s < num_sets; ++s) {
      plan.orders.push_back(make_order(size_of(problems[s]), *kernels[k], sets.layouts[s], artifacts[k], sm));
      plan.restores.push_back(restores_of(problems[s], sets.layouts[s], sets.pristine[s]));
    }
  std::size_t next_set = 0;
  const auto add_sample = [&](std::size_t kernel, std::size_t length) {
    TimedSample sample;
    for (std::size_t i = 0; i < length; ++i) sample.orders.push_back(kernel * num_sets + next_set++ % num_sets);
    plan.samples.push_back(std::move(sample));
  };
  for (int round = 0; round < (kWarmSamples + samples) / 2; ++round) {
    for (std::size_t k = 0; k < kernels.size(); ++k) add_sample(k, batch);
    for (std::size_t k = kernels.size(); k > 0; --k) add_sample(k - 1, batch);
  }
  next_set = 0;
  for (std::size_t s = 0; s < num_sets; ++s) add_sample(kernels.size() - 1, 1);
  return plan;
}

}  // namespace salient::workbench
