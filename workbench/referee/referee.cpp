// workbench/referee/referee.cpp - see referee.h. Gate, compiler, many small problems, then the clock
// (timed_shapes.cpp).
#include "workbench/referee/referee.h"

#include <signal.h>

#include <algorithm>

#include "core/error.h"
#include "workbench/referee/judge.h"
#include "workbench/referee/orders.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxSeeds = 8;
constexpr std::size_t kSmallGuardBytes = std::size_t{64} << 10;  // of problems that are small and many

/// What a worker's reply says of the candidate; for a fault of ours it throws.
Finding finding_of(const Reply& reply, const std::string& where) {
  switch (reply.kind) {
    case Reply::Kind::kTimeout: return {Verdict::kTimeout, reply.text + " " + where, {}};
    case Reply::Kind::kDied: return {Verdict::kRuntimeError, reply.text + " " + where, {}};
    case Reply::Kind::kError:
      if (reply.error == ErrorKind::kBadData) return {Verdict::kLaunchError, reply.text + " " + where, {}};
      if (reply.error == ErrorKind::kInternal) return {Verdict::kRuntimeError, reply.text + " " + where, {}};
      fail(reply.error, reply.text);
    case Reply::Kind::kOk: break;
  }
  return {};
}

std::string place_of(const ProblemSpec& spec) {
  return spec.set == ShapeSet::kHidden ? "on a hidden shape" : "on " + text_of(spec);
}

}  // namespace

Referee::Referee(Backend& backend, const Case& given, RefereeOptions options)
    : backend_(backend), case_(given), options_(std::move(options)) {}

void Referee::add_shape(const Variables& dims) {
  for (const std::string& dim : case_.dims)
    if (!dims.contains(dim)) fail(ErrorKind::kBadData, "a shape gives " + dim);
  if (dims.size() != case_.dims.size()) fail(ErrorKind::kBadData, "a shape has dims that the case lacks");
  std::size_t bytes = 0;
  for (const BufferSpec& buffer : case_.buffers) {
    const std::int64_t count = evaluate(buffer.count, dims);
    if (count < 0 || count > (std::int64_t{1} << 26))
      fail(ErrorKind::kBadData, "a shape of a test has at most 2^26 elements");
    if (buffer.fill == Fill::kIndex && count > 0 && evaluate(buffer.limit, dims) < 1)
      fail(ErrorKind::kBadData, "a shape with indices into nothing");
    if (buffer.fill == Fill::kIndptr && (count < 1 || (count == 1 && evaluate(buffer.limit, dims) > 0)))
      fail(ErrorKind::kBadData, "a shape with entries but without rows");
    bytes += static_cast<std::size_t>(count) * bytes_of(buffer.type);
  }
  for (const auto& [name, value] : dims)
    if (value < 0) fail(ErrorKind::kBadData, "a shape with a negative " + name);
  if (bytes > (std::size_t{256} << 20) || options_.more.shapes.size() >= 32)
    fail(ErrorKind::kBadData, "at most 32 shapes of 256 MiB may be added");
  options_.more.shapes.push_back(dims);
}

void Referee::add_shape(const Variables& dims, const Candidate& start) {
  const std::uint64_t seed = options_.seed != 0 ? options_.seed : seed_from_system();
  add_shape(dims);
  std::vector<ProblemSpec> of_shape = problems(seed);
  std::erase_if(of_shape, [&](const ProblemSpec& spec) { return spec.set != ShapeSet::kHidden || spec.dims != dims; });
  const Finding found = check_on(start, {{of_shape}}, seed).finding;
  if (found.verdict == Verdict::kAccepted) return;
  options_.more.shapes.pop_back();
  fail(ErrorKind::kBadData,
       std::string("the start kernel itself is rejected there: ") + word_of(found.verdict) + ", " + found.reason);
}

void Referee::add_seed(std::uint64_t seed) {
  if (options_.more.seeds.size() >= kMaxSeeds) fail(ErrorKind::kBadData, "at most 8 seeds may be added");
  options_.more.seeds.push_back(seed);
}

namespace {

/// Both runs of every problem: where its buffers are, and what the worker is told.
struct CheckPlan {
  std::vector<Layout> layouts{};
  std::vector<RunOrder> orders{};
  std::vector<Placement> fences{};  ///< that the worker may not touch
  std::vector<Placement> inputs{};  ///< rooms of inputs, which it may not write
  std::size_t end = 0;
};

struct CheckSetup {
  const Case& given;
  const Candidate& candidate;
  const std::vector<ProblemSpec>& specs;
  std::int64_t sm = 1;
  bool has_fences = false;  ///< the second run of every problem is between fences, at one end or the other
  std::size_t guard_bytes = kGuardBytes;
};

/// @throws Error{kBadData} for expressions that cannot be launched
CheckPlan make_check_plan(const CheckSetup& setup) {
  std::vector<std::vector<std::size_t>> bytes;
  std::vector<std::size_t> most;
  for (const ProblemSpec& spec : setup.specs) {
    try {
      bytes.push_back(buffer_bytes({setup.given, spec.dims}, setup.candidate, setup.sm));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      fail(ErrorKind::kBadData, std::string(error.what()) + " " + place_of(spec));
    }
    most.resize(bytes.back().size());
    for (std::size_t b = 0; b < most.size(); ++b) most[b] = std::max(most[b], bytes.back()[b]);
  }
  const Rooms rooms = make_rooms(most, 0, setup.specs.empty() ? 0 : mix(setup.specs.front().seed));
  CheckPlan plan;
  if (setup.has_fences) plan.fences = rooms.fences;
  for (std::size_t b = 0; b < setup.given.buffers.size() && setup.has_fences && !rooms.rooms.empty(); ++b)
    if (setup.given.buffers[b].role == BufferRole::kIn) plan.inputs.push_back(rooms.rooms[b]);
  const std::size_t begin = setup.has_fences ? rooms.end : 0;
  plan.end = begin;
  for (std::size_t p = 0; p < setup.specs.size(); ++p) {
    const ProblemSpec& spec = setup.specs[p];
    for (const std::uint64_t run : {std::uint64_t{1}, std::uint64_t{2}}) {
      const FencedSide side = p % 3 == 0 ? FencedSide::kBegin : FencedSide::kEnd;
      plan.layouts.push_back(run == 2 && setup.has_fences
                                 ? lay_out_in_rooms(rooms, bytes[p], side)
                                 : lay_out(bytes[p], begin, mix(spec.seed + run), setup.guard_bytes));
      try {
        plan.orders.push_back(make_order({setup.given, spec.dims}, setup.candidate, plan.layouts.back(), 0, setup.sm));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::kBadData) throw;
        fail(ErrorKind::kBadData, std::string(error.what()) + " " + place_of(spec));
      }
      plan.orders.back().shuffle = spec.seed / 2 * 2 + run;
      plan.end = std::max(plan.end, plan.layouts.back().end);
    }
  }
  return plan;
}

bool is_bad_access(const Reply& reply) { return reply.signal == SIGSEGV || reply.signal == SIGBUS; }

}  // namespace

std::optional<Finding> Referee::run_problems(const Candidate& candidate, const Artifact& artifact, const Group& group,
                                             Assessment& made) {
  const std::vector<ProblemSpec>& specs = group.specs;
  CheckPlan plan;
  try {
    plan = make_check_plan(
        {case_, candidate, specs, backend_.machine().sm, backend_.kind() == BackendKind::kHost, group.guard_bytes});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadData) throw;
    return Finding{Verdict::kLaunchError, error.what(), {}};
  }
  Arena arena(plan.end);
  std::unique_ptr<Executor> executor;
  const auto get_ready = [&] {
    for (const Placement& fence : plan.fences) arena.forbid(fence);
    for (const Placement& input : plan.inputs) arena.forbid_writes(input);
    executor = backend_.make_executor({artifact}, arena.size());
  };
  Worker worker(
      get_ready, [&](std::size_t step) { executor->run(plan.orders[step], arena); }, backend_.limits());
  if (const Reply ready = worker.wait_until_ready(60); ready.kind != Reply::Kind::kOk)
    return finding_of(ready, "when it was loaded");
  for (std::size_t p = 0; p < specs.size(); ++p) {
    const Problem problem(case_, specs[p]);
    Outputs outputs[2];
    for (const std::size_t run : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t step = 2 * p + run;
      prepare_arena(problem, plan.layouts[step], kDirt[run], arena);
      const Reply reply = [&] {
        const std::unique_ptr<DeviceTurn> turn = backend_.turn(DeviceTurn::Kind::kShared);
        return worker.run(step, options_.run_seconds);
      }();
      if (run == 1 && !plan.fences.empty() && is_bad_access(reply))
        return Finding{Verdict::kOutOfBounds,
                       "memory outside of all buffers was touched, an input was written and restored, or more "
                       "alignment than that of "
                       "elements was needed, " +
                           place_of(specs[p]),
                       {}};
      if (reply.kind != Reply::Kind::kOk) return finding_of(reply, place_of(specs[p]));
      if (auto found = judge_bounds(problem, plan.layouts[step], kDirt[run].guard, arena)) return found;
      outputs[run] = copy_outputs(problem, plan.layouts[step], arena);
    }
    if (auto found = judge_two_runs(problem, outputs[0], outputs[1])) return found;
    if (auto found = judge_numbers(problem, outputs[0], made.seed)) return found;
    if (case_.atomics)
      if (auto found = judge_numbers(problem, outputs[1], made.seed)) return found;
    ++made.problems;
    for (const std::string& size : sizes_of(case_))
      made.tried[size] = std::max(made.tried[size], specs[p].dims.at(size));
  }
  return std::nullopt;
}

Assessment Referee::check(const Candidate& candidate) {
  const std::uint64_t seed = options_.seed != 0 ? options_.seed : seed_from_system();
  std::vector<Group> groups = {{problems(seed)}, {swept_problems(case_, backend_.kind(), seed), kSmallGuardBytes}};
  if (options_.all_remainders) groups.push_back({problems_of_all_remainders(case_, backend_.kind(), seed)});
  return check_on(candidate, groups, seed);
}

Assessment Referee::check_on(const Candidate& candidate, const std::vector<Group>& groups, std::uint64_t seed) {
  Assessment made;
  made.seed = seed;
  std::variant<Artifact, Finding> compiled = backend_.compile(candidate, case_);
  if (auto* rejected = std::get_if<Finding>(&compiled)) {
    made.finding = std::move(*rejected);
    return made;
  }
  const Artifact& artifact = std::get<Artifact>(compiled);
  made.notes = artifact.notes;
  made.device = backend_.environment()["device"];
  for (const Group& group : groups)
    if (auto found = run_problems(candidate, artifact, group, made)) {
      made.finding = std::move(*found);
      return made;
    }
  made.finding = {Verdict::kAccepted, "correct on " + std::to_string(made.problems) + " problems", {}};
  return made;
}

Assessment Referee::assess(const Candidate& candidate, const Candidate& start, const Candidate& best) {
  Assessment made = check(candidate);
  if (made.finding.verdict != Verdict::kAccepted) return made;
  Finding during;
  made.timing = time(candidate, start, best, made.seed, during);
  if (during.verdict != Verdict::kAccepted) {
    made.finding = std::move(during);
    return made;
  }
  made.decision = decide(made.timing);
  // A host's times are those of a machine that others use, too: no verdict on a few per cent of them.
  const bool compares = backend_.kind() == BackendKind::kCuda && !case_.data_dependent;
  if (made.decision.verdict == Verdict::kAccepted && compares) {
    compare_values(candidate, start, made.seed, made.timing, during);
    if (during.verdict != Verdict::kAccepted) {
      made.timing = {};  // which would decide otherwise
      made.finding = std::move(during);
      return made;
    }
    made.decision = decide(made.timing);
  }
  made.finding = {made.decision.verdict, made.decision.reason, {}};
  const bool is_measured = is_correct(made.finding.verdict) && made.finding.verdict != Verdict::kImpossible;
  if (is_measured && options_.energy_seconds > 0 && backend_.counts_energy())
    measure_energy_of(candidate, start, made.seed, made.timing);
  if (options_.profiles) {
    const std::variant<Artifact, Finding> compiled = backend_.compile(candidate, case_);  // as it is, a second time
    if (const auto* artifact = std::get_if<Artifact>(&compiled))
      made.notes.insert(0, backend_.profile(candidate, case_, *artifact));
  }
  return made;
}

}  // namespace salient::workbench
