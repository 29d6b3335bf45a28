// workbench/referee/judge.cpp - see judge.h.
#include "workbench/referee/judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "workbench/case/reference.h"

namespace salient::workbench {
namespace {

constexpr double kAccumulator = 0x1p-24;                // unit roundoff of f32
constexpr double kShortTerms = 0x1p-7;                  // of products of bf16 numbers
constexpr double kMeanBase = 8, kMeanShare = 1.0 / 64;  // of the bound c: see judge_numbers
constexpr double kMostRepetition = 8;                   // of terms whose roundings cancel: see judge_numbers
constexpr double kReferenceOperations = 3e7;            // per problem: about a tenth of a second
constexpr std::size_t kLeastRows = 24;

bool is_written(const Problem& problem, std::size_t b) {
  return problem.definition().buffers[b].role != BufferRole::kIn;
}

std::string place_of(const Problem& problem) {
  if (problem.spec().set == ShapeSet::kHidden) return "on a hidden shape with " + text_of(problem.spec().pattern);
  return "on " + text_of(problem.spec());
}

/// Below this, numbers of the format may be rounded to a multiple of their least bit or to zero.
double smallest_step(ElementType type) { return type == ElementType::kF16 ? 0x1p-24 : 0x1p-126; }

enum class Fit { kRight, kImprecise, kWrong };

/// Of a case whose outputs are exact.
Fit exact_fit_of(const Problem& problem, const ResultPart& part, std::size_t i, const Outputs& outputs) {
  const ElementType type = problem.definition().buffers[part.buffer].type;
  const std::byte* const written = outputs[part.buffer].data();
  bool is_right = false;
  if (problem.definition().exact == Exact::kBits && !part.bits.empty()) {
    is_right = load_bits(type, written, part.first + i) == part.bits[i];
  } else {
    const double o = load_element(type, written, part.first + i), r = part.value[i];
    const bool is_alike = problem.definition().exact == Exact::kValues || std::signbit(o) == std::signbit(r);
    is_right = (o == r && is_alike) || (std::isnan(o) && std::isnan(r));
  }
  return is_right ? Fit::kRight : Fit::kWrong;
}

Fit fit_of(ElementType type, double o, double r, double magnitude, double c) {
  if (!is_float(type)) return o == r ? Fit::kRight : Fit::kWrong;
  if (std::isnan(r)) return std::isnan(o) ? Fit::kRight : Fit::kWrong;
  const double eps = unit_roundoff(type), largest = largest_finite(type);
  if (std::isinf(r)) return o == r ? Fit::kRight : Fit::kWrong;
  if (!std::isfinite(magnitude)) magnitude = std::abs(r);
  const double bound = c * kAccumulator * magnitude + eps * std::abs(r) + smallest_step(type);
  if (std::isinf(o) && std::signbit(o) == std::signbit(r) && std::abs(r) + bound > largest) return Fit::kRight;
  if (!std::isfinite(o) && magnitude > largest_finite(ElementType::kF32)) return Fit::kRight;  // a sum on the way
  const double error = std::abs(o - r);
  if (error <= bound) return Fit::kRight;
  return error <= kShortTerms * (magnitude + std::abs(r)) ? Fit::kImprecise : Fit::kWrong;  // NaN is wrong
}

double worst_of(const ResultPart& part, std::size_t i) {
  return part.worst.empty() ? part.magnitude[i] : part.worst[i];
}

/// Root mean square of errors beyond the rounding of the result, in units of 2^-24 * sum|terms|.
class MeanError {
 public:
  void add(ElementType type, double o, double r, double magnitude) {
    if (!is_float(type) || !(magnitude > 0) || !std::isfinite(magnitude) || !std::isfinite(o)) return;
    const double error = std::abs(o - r) - unit_roundoff(type) * std::abs(r) - smallest_step(type);
    const double units = std::max(0.0, error) / (kAccumulator * magnitude);
    sum_ += units * units;
    ++count_;
  }
  /// Of few errors the root mean square may be larger by chance.
  double chance() const { return count_ == 0 ? 1 : 1 + 3 / std::sqrt(static_cast<double>(count_)); }
  double value() const { return count_ == 0 ? 0 : std::sqrt(sum_ / static_cast<double>(count_)); }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

std::vector<std::size_t> rows_to_check(const Problem& problem, std::uint64_t seed) {
  const auto rows = static_cast<std::size_t>(problem.value_of(problem.definition().rows));
  const double cost = std::max(1.0, static_cast<double>(problem.value_of(problem.definition().row_cost)));
  const auto affordable = std::max(kLeastRows, static_cast<std::size_t>(kReferenceOperations / cost));
  std::vector<std::size_t> chosen;
  if (rows <= affordable) {
    for (std::size_t i = 0; i < rows; ++i) chosen.push_back(i);
    return chosen;
  }
  for (std::size_t i = 0; i + 2 < affordable; ++i) chosen.push_back(mix(seed ^ mix(i)) % rows);
  chosen.push_back(0);
  chosen.push_back(rows - 1);
  return chosen;
}

std::string number(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string hexadecimal(std::uint32_t bits) {
  char text[16];
  (void)std::snprintf(text, sizeof text, "0x%X", bits);
  return text;
}

/// Where and how an output differs from the reference.
std::string difference(const Problem& problem, const ResultPart& part, std::size_t i,
                       const std::vector<std::byte>& output) {
  const BufferSpec& buffer = problem.definition().buffers[part.buffer];
  const std::size_t at = part.first + i;
  const std::string element = buffer.name + "[" + std::to_string(at) + "]";
  if (!part.bits.empty())
    return element + " has the bits " + hexadecimal(load_bits(buffer.type, output.data(), at)) + ", right are " +
           hexadecimal(part.bits[i]);
  return element + " is " + number(load_element(buffer.type, output.data(), at)) + ", right is " +
         number(part.value[i]);
}

/// What another run may have left in an output: usual numbers, of either sign if the type has one.
std::vector<std::byte> former_results(const Problem& problem, std::size_t b) {
  const ElementType type = problem.definition().buffers[b].type;
  const std::uint64_t seed = mix(problem.spec().seed ^ mix(b + 1000));
  std::vector<std::byte> bytes(problem.bytes(b));
  for (std::size_t i = 0; i < problem.elements(b); ++i) {
    const std::uint64_t random = mix(seed + i);
    const double whole = static_cast<double>(random % 1000);
    const double part = static_cast<double>(random >> 11) * 0x1p-52 - 1;  // of (-1, 1)
    store_element(type, bytes.data(), i, is_float(type) ? part * static_cast<double>(1 + random % 4) : whole);
  }
  return bytes;
}

}  // namespace

void prepare_arena(const Problem& problem, const Layout& layout, Dirt dirt, Arena& arena) {
  for (const Placement& place : guards_of(layout)) arena.fill(place.offset, place.offset + place.bytes, dirt.guard);
  for (std::size_t b = 0; b < layout.buffers.size(); ++b) {
    const Placement place = layout.buffers[b];
    const bool is_of_case = b < problem.num_buffers() && place.bytes > 0;
    if (is_of_case && !problem.data(b).empty())
      std::memcpy(arena.data() + place.offset, problem.data(b).data(), place.bytes);
    else if (is_of_case && dirt.has_former_results)
      std::memcpy(arena.data() + place.offset, former_results(problem, b).data(), place.bytes);
    else
      arena.fill(place.offset, place.offset + place.bytes, dirt.poison);
  }
}

std::optional<Finding> judge_bounds(const Problem& problem, const Layout& layout, std::byte guard, const Arena& arena) {
  if (arena.first_broken_guard(layout, guard) != layout.end)
    return Finding{Verdict::kOutOfBounds, "memory outside of all buffers was written " + place_of(problem), {}};
  for (std::size_t b = 0; b < problem.num_buffers(); ++b) {
    if (is_written(problem, b)) continue;
    const Placement place = layout.buffers[b];
    if (place.bytes > 0 && std::memcmp(arena.data() + place.offset, problem.data(b).data(), place.bytes) != 0)
      return Finding{Verdict::kInputModified,
                     "the input " + problem.definition().buffers[b].name + " was changed " + place_of(problem),
                     {}};
  }
  return std::nullopt;
}

Outputs copy_outputs(const Problem& problem, const Layout& layout, const Arena& arena) {
  Outputs outputs(problem.num_buffers());
  for (std::size_t b = 0; b < outputs.size(); ++b) {
    if (!is_written(problem, b)) continue;
    const std::byte* const from = arena.data() + layout.buffers[b].offset;
    outputs[b].assign(from, from + layout.buffers[b].bytes);
  }
  return outputs;
}

std::optional<Finding> judge_two_runs(const Problem& problem, const Outputs& first, const Outputs& second) {
  for (std::size_t b = 0; b < first.size(); ++b) {
    const BufferSpec& buffer = problem.definition().buffers[b];
    if (buffer.role != BufferRole::kOut) continue;
    const std::size_t width = bytes_of(buffer.type);
    const std::vector<std::byte> former = former_results(problem, b);
    for (std::size_t i = 0; i < first[b].size(); i += width) {
      const auto is_as_before = [&](std::size_t at) {
        return first[b][at] == kDirt[0].poison && second[b][at] == former[at];
      };
      bool is_unwritten = true;
      for (std::size_t at = i; at < i + width && is_unwritten; ++at) is_unwritten = is_as_before(at);
      if (is_unwritten)
        return Finding{Verdict::kUnwritten,
                       buffer.name +
                           (problem.spec().set == ShapeSet::kHidden ? std::string(" has an element")
                                                                    : "[" + std::to_string(i / width) + "]") +
                           " that was never written, " + place_of(problem),
                       {}};
    }
  }
  if (problem.definition().atomics) return std::nullopt;
  for (std::size_t b = 0; b < first.size(); ++b)
    if (first[b] != second[b])
      return Finding{Verdict::kNondeterministic,
                     "two runs differ in " + problem.definition().buffers[b].name + " " + place_of(problem),
                     {}};
  return std::nullopt;
}

std::optional<Finding> judge_numbers(const Problem& problem, const Outputs& outputs, std::uint64_t seed) {
  const std::unique_ptr<Reference> reference = make_reference(problem);
  const double c = static_cast<double>(problem.value_of(problem.definition().bound));
  const bool is_hidden = problem.spec().set == ShapeSet::kHidden;
  std::optional<Finding> found;
  MeanError mean;
  for (const std::size_t row : rows_to_check(problem, seed))
    for (const ResultPart& part : reference->row(row)) {
      const BufferSpec& buffer = problem.definition().buffers[part.buffer];
      for (std::size_t i = 0; i < part.value.size(); ++i) {
        const double o = load_element(buffer.type, outputs[part.buffer].data(), part.first + i);
        mean.add(buffer.type, o, part.value[i], part.magnitude[i]);
        const Fit fit = problem.definition().exact == Exact::kNo
                            ? fit_of(buffer.type, o, part.value[i], worst_of(part, i), c)
                            : exact_fit_of(problem, part, i, outputs);
        if (fit == Fit::kRight || (fit == Fit::kImprecise && found)) continue;
        const std::string what =
            is_hidden ? "wrong numbers in " + buffer.name : difference(problem, part, i, outputs[part.buffer]);
        found = Finding{fit == Fit::kWrong ? Verdict::kIncorrect : Verdict::kPrecision,
                        (fit == Fit::kWrong ? "" : "beyond the error bound: ") + what + " " + place_of(problem),
                        {}};
        if (fit == Fit::kWrong) return found;
      }
    }
  const std::string& limit = problem.definition().mean;
  const double most =
      limit.empty() ? kMeanBase + c * kMeanShare : static_cast<double>(problem.value_of(limit)) * mean.chance();
  const ValuePattern values = problem.spec().pattern.values;
  const bool has_mean = values == ValuePattern::kZeroMean || values == ValuePattern::kSparse;
  if (!found && has_mean && mean.value() > most && repetition_of_indices(problem) <= kMostRepetition)
    found = Finding{Verdict::kPrecision,
                    "root mean square of errors: " + number(mean.value()) + " x 2^-24 of the terms, at most " +
                        number(most) + ", " + place_of(problem),
                    {}};
  return found;
}

}  // namespace salient::workbench
