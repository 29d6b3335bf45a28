// workbench/referee/timed_shapes.cpp - times a candidate beside start and best on every public shape; see referee.h.
#include <algorithm>
#include <span>
#include <utility>

#include "core/error.h"
#include "workbench/referee/orders.h"
#include "workbench/referee/referee.h"
#include "workbench/referee/shape_timing.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMostSets = 12, kMaxBytes = std::size_t{2} << 30;
constexpr std::size_t kHostSets = 2 * kNumTimedPatterns;
constexpr int kAttempts = 3;
constexpr std::size_t kMostOfAKind = 8;
constexpr int kComparedSamples = 8;

/// Input sets in these patterns, in turns. On a device as many of each as fill four times the cache together.
std::vector<Problem> make_sets(const Case& given, const Variables& dims, const Machine& machine, BackendKind kind,
                               std::span<const Pattern> patterns, std::uint64_t seed) {
  std::vector<Problem> problems;
  std::size_t total = 0;
  const bool is_host = kind == BackendKind::kHost;
  for (std::size_t s = 0; s < (is_host ? kHostSets : kMostSets); ++s) {
    const bool is_enough = total > 4 * machine.cache_bytes || total > kMaxBytes;
    if (!is_host && s % patterns.size() == 0 && s > 0 && is_enough) break;
    problems.emplace_back(given,
                          ProblemSpec{ShapeSet::kPublic, dims, patterns[s % patterns.size()], mix(seed + s) >> 1});
    total += problems.back().total_bytes();
  }
  return problems;
}

/// Input sets for each of kComparedValues, kind by kind, with the same indices for all. As many as fill four times the
/// cache together.
std::vector<Problem> make_kinds(const Case& given, const Variables& dims, const Machine& machine, std::uint64_t seed) {
  const auto make = [&](ValuePattern values, std::size_t set) {
    return Problem(given, {ShapeSet::kPublic, dims, {values, IndexPattern::kUniform}, mix(seed + set) >> 1});
  };
  std::vector<Problem> problems = {make(kComparedValues[0], 0)};
  const std::size_t round = std::size(kComparedValues) * std::max<std::size_t>(problems[0].total_bytes(), 1);
  const std::size_t of_kind = std::clamp<std::size_t>(4 * machine.cache_bytes / round, 1, kMostOfAKind);
  for (const ValuePattern values : kComparedValues)
    for (std::size_t set = 0; set < of_kind; ++set)
      if (values != kComparedValues[0] || set > 0) problems.push_back(make(values, set));
  return problems;
}

/// The least work of a run, on average over the patterns.
ShapeTimes without_times(const Case& given, const Variables& dims, const std::vector<Problem>& problems) {
  ShapeTimes times{.shape = text_of(dims), .flops = static_cast<double>(evaluate(given.flops, dims))};
  for (std::size_t s = 0; s < kNumTimedPatterns; ++s)
    times.bytes += static_cast<double>(evaluate(given.bytes, with_distinct(problems[s]))) / double{kNumTimedPatterns};
  return times;
}

double floor_of(const ShapeTimes& times) {
  return std::max(times.copy_rate > 0 ? times.bytes / times.copy_rate : 0,
                  times.flop_rate > 0 ? times.flops / times.flop_rate : 0);
}

std::optional<Finding> time_shape_with(const ShapeSetup& setup, ShapeTimes& times) {
  return setup.backend.kind() == BackendKind::kHost ? time_in_processes(setup, times) : time_on_device(setup, times);
}

}  // namespace

Finding finding_while_timed(const Reply& reply) {
  if (reply.kind == Reply::Kind::kError && reply.error != ErrorKind::kInternal) fail(reply.error, reply.text);
  return {reply.kind == Reply::Kind::kTimeout ? Verdict::kTimeout : Verdict::kRuntimeError,
          reply.text + " while it was timed",
          {}};
}

Timing Referee::time(const Candidate& candidate, const Candidate& start, const Candidate& best, std::uint64_t seed,
                     Finding& finding) {
  const std::vector<const Candidate*> kernels = {&start, &best, &best, &candidate};
  std::vector<Artifact> artifacts;
  for (const Candidate* kernel : kernels) {
    std::variant<Artifact, Finding> compiled = backend_.compile(*kernel, case_);
    if (auto* rejected = std::get_if<Finding>(&compiled)) {
      finding = std::move(*rejected);
      return {};
    }
    artifacts.push_back(std::get<Artifact>(compiled));
  }
  return time_shapes(kernels, artifacts, seed, finding);
}

Timing Referee::time_shapes(const std::vector<const Candidate*>& kernels, const std::vector<Artifact>& artifacts,
                            std::uint64_t seed, Finding& finding) {
  Timing timing;
  for (const Variables& dims : public_shapes(case_, backend_.kind())) {
    ShapeTimes times;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {  // what looks impossible is measured again
      finding = {};
      const ShapeTimes before = std::exchange(
          times, time_shape(dims, kernels, artifacts,
                            mix(seed ^ timing.shapes.size()) + static_cast<std::uint64_t>(attempt), finding));
      times.copy_rate = std::max(times.copy_rate, before.copy_rate);  // a rate that was seen once is possible
      times.flop_rate = std::max(times.flop_rate, before.flop_rate);
      times.floor = floor_of(times);
      const Verdict verdict = finding.verdict == Verdict::kAccepted ? decide({{times}}).verdict : finding.verdict;
      if (verdict != Verdict::kImpossible) break;
    }
    if (finding.verdict != Verdict::kAccepted) return {};
    timing.shapes.push_back(std::move(times));
  }
  return timing;
}

ShapeTimes Referee::time_shape(const Variables& dims, const std::vector<const Candidate*>& kernels,
                               const std::vector<Artifact>& artifacts, std::uint64_t seed, Finding& finding) {
  const std::vector<Problem> problems =
      make_sets(case_, dims, backend_.machine(), backend_.kind(), kTimedPatterns, seed);
  ShapeTimes times = without_times(case_, dims, problems);
  const ShapeSetup setup{.backend = backend_,
                         .given = case_,
                         .kernels = kernels,
                         .artifacts = artifacts,
                         .problems = problems,
                         .samples = options_.samples,
                         .limit = options_.timing_seconds,
                         .seed = seed};
  if (auto found = time_shape_with(setup, times)) finding = std::move(*found);
  return times;
}

void Referee::compare_values(const Candidate& candidate, const Candidate& start, std::uint64_t seed, Timing& timing,
                             Finding& finding) {
  const bool has_values = std::any_of(case_.buffers.begin(), case_.buffers.end(), [](const BufferSpec& buffer) {
    return buffer.role != BufferRole::kOut && buffer.fill == Fill::kValues;
  });
  if (!has_values) return;
  const std::vector<const Candidate*> kernels = {&start, &candidate};
  const std::vector<Artifact> artifacts = artifacts_of(kernels);
  const std::vector<Variables> shapes = public_shapes(case_, backend_.kind());
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::uint64_t drawn = mix(seed ^ mix(s)) + static_cast<std::uint64_t>(attempt);
      finding = compare_values_on(shapes[s], kernels, artifacts, drawn, timing.shapes[s]).value_or(Finding{});
      if (finding.verdict == Verdict::kAccepted && decide({{timing.shapes[s]}}).verdict != Verdict::kInputDependent)
        break;
      if (finding.verdict != Verdict::kAccepted && finding.verdict != Verdict::kImpossible) return;
    }
    if (finding.verdict != Verdict::kAccepted) return;  // also of clocks that disagreed every time
  }
}

std::optional<Finding> Referee::compare_values_on(const Variables& dims, const std::vector<const Candidate*>& kernels,
                                                  const std::vector<Artifact>& artifacts, std::uint64_t seed,
                                                  ShapeTimes& of_shape) {
  of_shape.by_values.clear();
  ShapeTimes times{.shape = text_of(dims)};
  for (const ValuePattern values : kComparedValues) times.by_values.push_back({.values = text_of(values)});
  const std::vector<Problem> problems = make_kinds(case_, dims, backend_.machine(), seed);
  auto found = time_on_device({.backend = backend_,
                               .given = case_,
                               .kernels = kernels,
                               .artifacts = artifacts,
                               .problems = problems,
                               .samples = std::min(options_.samples, kComparedSamples),
                               .limit = options_.timing_seconds,
                               .seed = seed,
                               .kinds = std::size(kComparedValues)},
                              times);
  if (!found) of_shape.by_values = std::move(times.by_values);
  return found;
}

void Referee::measure_energy_of(const Candidate& candidate, const Candidate& start, std::uint64_t seed,
                                Timing& timing) {
  const std::vector<const Candidate*> kernels = {&start, &candidate};
  const std::vector<Artifact> artifacts = artifacts_of(kernels);
  const std::vector<Variables> shapes = public_shapes(case_, backend_.kind());
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const std::vector<Problem> problems =
        make_sets(case_, shapes[s], backend_.machine(), backend_.kind(), kTimedPatterns, mix(seed ^ s));
    const auto found = measure_energy({.backend = backend_,
                                       .given = case_,
                                       .kernels = kernels,
                                       .artifacts = artifacts,
                                       .problems = problems,
                                       .limit = options_.timing_seconds,
                                       .seed = seed,
                                       .energy_seconds = options_.energy_seconds},
                                      timing.shapes[s]);
    if (found) return;  // the verdict stands: this is a figure
  }
}

std::vector<Artifact> Referee::artifacts_of(const std::vector<const Candidate*>& kernels) {
  std::vector<Artifact> artifacts;  // compiled before
  for (const Candidate* kernel : kernels) artifacts.push_back(std::get<Artifact>(backend_.compile(*kernel, case_)));
  return artifacts;
}

}  // namespace salient::workbench
