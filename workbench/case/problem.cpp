// workbench/case/problem.cpp - see problem.h.
#include "workbench/case/problem.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <thread>

#include "core/error.h"

namespace salient::workbench {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 30;
constexpr double kFullMantissa = 0.5182959437370300;  // 0.47 of tf32's last bit away from a tf32, likewise for bf16
constexpr std::uint64_t kSparseShare = 16;            // of which one is not zero

constexpr const char* kValueWords[] = {"zero-mean",  "positive", "wide",   "equal",
                                       "non-finite", "extreme",  "sparse", "far"};
constexpr const char* kIndexWords[] = {"uniform", "sorted", "equal", "power-law", "empty-row"};
constexpr const char* kSetWords[] = {"public", "edge", "hidden"};

/// In (0, 1), 53 bits.
double unit(std::uint64_t random) { return (static_cast<double>(random >> 11) + 0.5) * 0x1p-53; }

/// Of 16 values one is a zero, one a small power of two, as programs' constants are, and, where the case takes such
/// exponents, one a subnormal number of the format, of either sign. Sums of a GPU's memory flush those, and kernels
/// multiply what is left of them.
double extreme_value(const Case& given, ElementType type, std::uint64_t random) {
  const double smallest = smallest_normal(type), sign = random % 2 == 0 ? 1 : -1;
  const std::uint64_t other = mix(random);
  if (other % 16 == 0) return sign * 0.0;
  if (other % 16 == 1 && given.least_exponent < std::ilogb(smallest)) return sign * unit(random) * smallest;
  const int least = std::max(given.least_exponent, std::ilogb(smallest));
  const int most = std::min(given.most_exponent, std::ilogb(largest_finite(type)));
  const auto exponents = static_cast<std::uint64_t>(most - least + 1);
  if (other % 16 == 2) return sign * std::ldexp(1, std::clamp(static_cast<int>(other / 16 % 9) - 4, least, most));
  const int exponent = least + static_cast<int>(other / 16 % exponents);
  return sign * std::ldexp(1 + 0.99 * unit(random), exponent);  // the format's rounding makes no infinity of it
}

/// Half of them are as values of zero mean; the others have magnitudes that the case takes, but no subnormal ones and
/// none of whose squares a format is out of.
double far_value(const Case& given, ElementType type, std::uint64_t random) {
  const double u = unit(random), near = 2 * u - 1;
  const std::uint64_t other = mix(random);
  if (other % 2 == 0) return near;
  const int reach = std::min(60, std::ilogb(largest_finite(type)) / 2);
  const int least = std::clamp(given.least_exponent, -reach, 0), most = std::clamp(given.most_exponent, 0, reach);
  return std::ldexp(near, least + static_cast<int>(other / 2 % static_cast<std::uint64_t>(most - least + 1)));
}

double value_of_pattern(ValuePattern pattern, std::uint64_t random) {
  const double u = unit(random);
  switch (pattern) {
    case ValuePattern::kZeroMean: return 2 * u - 1;
    case ValuePattern::kPositive: return u;
    case ValuePattern::kWide: {
      const double magnitude = std::exp2(static_cast<double>(mix(random) % 25) - 12);
      return (2 * u - 1) * magnitude;
    }
    case ValuePattern::kEqual: return kFullMantissa;
    case ValuePattern::kSparse: return mix(random) % kSparseShare == 0 ? 2 * u - 1 : 0;
    case ValuePattern::kExtreme:    // see extreme_value
    case ValuePattern::kFar:        // see far_value
    case ValuePattern::kNonFinite:  // see Problem::spoil
      return 2 * u - 1;
  }
  return 0;
}

/// A number in [0, limit).
std::uint64_t index_of_pattern(IndexPattern pattern, std::uint64_t random, std::size_t index, std::size_t count,
                               std::uint64_t limit) {
  switch (pattern) {
    case IndexPattern::kUniform: return random % limit;
    case IndexPattern::kSorted: return index * limit / count;
    case IndexPattern::kEqual: return limit / 2;
    case IndexPattern::kPowerLaw: {  // density ~ 1/x: few rows are asked for often
      const double position = std::pow(static_cast<double>(limit), unit(random)) - 1;
      return std::min(limit - 1, static_cast<std::uint64_t>(position));
    }
    case IndexPattern::kEmptyRows: return random % limit / 4 * 4 % limit;
  }
  return 0;
}

/// Of a list of uniform numbers the one at `index`; one of eight is another one's of the list with one bit changed, so
/// that not all bits but one tell numbers apart.
std::uint64_t uniform_index(std::uint64_t seed, std::size_t index, std::size_t count, std::uint64_t limit) {
  const std::uint64_t own = mix(seed + index), drawn = mix(own);
  if (drawn % 8 != 0) return own % limit;
  const auto bits = static_cast<std::uint64_t>(std::bit_width(limit - 1));
  const std::uint64_t near =
      mix(seed + drawn / 8 % count) % limit ^ (bits == 0 ? 0 : std::uint64_t{1} << mix(drawn) % bits);
  return near < limit ? near : own % limit;
}

/// Offsets of `rows` rows with `total` entries.
std::vector<std::int64_t> offsets_of_pattern(IndexPattern pattern, std::uint64_t seed, std::size_t rows,
                                             std::int64_t total) {
  std::vector<std::int64_t> offsets(rows + 1, 0);
  if (rows == 0) return offsets;
  const auto limit = static_cast<std::uint64_t>(rows);
  if (pattern == IndexPattern::kEqual) {
    const auto width = static_cast<std::int64_t>(rows);
    for (std::int64_t row = 0; row <= width; ++row)
      offsets[static_cast<std::size_t>(row)] = total / width * row + total % width * row / width;
    return offsets;
  }
  const auto entries = static_cast<std::size_t>(total);
  const IndexPattern drawn = pattern == IndexPattern::kSorted ? IndexPattern::kUniform : pattern;
  for (std::size_t e = 0; e < entries; ++e)
    ++offsets[1 + index_of_pattern(drawn, mix(seed ^ mix(e)), e, entries, limit)];
  if (pattern == IndexPattern::kSorted) std::sort(offsets.begin() + 1, offsets.end());
  for (std::size_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];
  return offsets;
}

/// f(i) for i in [0, count); large counts by threads, which have ended when it returns.
template <class F>
void for_ranges(std::size_t count, const F& f) {
  constexpr std::size_t kLeast = std::size_t{1} << 18, kMostThreads = 8;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(count / kLeast, 1, std::min(cores, kMostThreads));
  const auto run = [&](std::size_t part) {
    for (std::size_t i = count * part / parts; i < count * (part + 1) / parts; ++i) f(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t part = 1; part < parts; ++part) threads.emplace_back(run, part);
  run(0);
}

}  // namespace

std::vector<Pattern> draw_patterns(const Case& given, std::uint64_t random) {
  const bool has_values = std::any_of(given.buffers.begin(), given.buffers.end(), [](const BufferSpec& buffer) {
    return buffer.role != BufferRole::kOut && buffer.fill == Fill::kValues;
  });
  std::vector<ValuePattern> values = {ValuePattern::kZeroMean, ValuePattern::kPositive, ValuePattern::kWide,
                                      ValuePattern::kEqual, ValuePattern::kExtreme};
  if (given.nonfinite) values.push_back(ValuePattern::kNonFinite);
  if (!given.mean.empty()) values.push_back(ValuePattern::kSparse);
  constexpr std::uint64_t kNumIndexPatterns = std::size(kIndexWords);
  if (!has_values) values.assign(kNumIndexPatterns, ValuePattern::kZeroMean);
  std::vector<Pattern> patterns;
  for (const ValuePattern pattern : values)
    patterns.push_back({pattern, static_cast<IndexPattern>(random++ % kNumIndexPatterns)});
  return patterns;
}

std::string text_of(ValuePattern pattern) { return kValueWords[static_cast<std::size_t>(pattern)]; }

std::string text_of(Pattern pattern) {
  return std::string(kValueWords[static_cast<std::size_t>(pattern.values)]) + " values, " +
         kIndexWords[static_cast<std::size_t>(pattern.indices)] + " indices";
}

std::string text_of(const Variables& dims) {
  std::string text;
  for (const auto& [name, value] : dims)
    text.append(text.empty() ? "" : " ").append(name).append("=") += std::to_string(value);
  return text;
}

std::string text_of(const ProblemSpec& spec) {
  return std::string(kSetWords[static_cast<std::size_t>(spec.set)]) + (spec.dims.empty() ? "" : " ") +
         text_of(spec.dims) + ", " + text_of(spec.pattern) + ", seed " + std::to_string(spec.seed);
}

std::vector<Variables> public_shapes(const Case& given, BackendKind backend) {
  std::vector<Variables> shapes;
  for (const ShapeSpec& shape : given.shapes) {
    if (shape.set != ShapeSet::kPublic || (!shape.backend.empty() && shape.backend != word_of(backend))) continue;
    Variables& dims = shapes.emplace_back();
    for (const DimRange& dim : shape.dims) dims[dim.name] = dim.low;
  }
  return shapes;
}

Problem::Problem(const Case& given, const ProblemSpec& spec) : case_(&given), spec_(spec) {
  std::uint64_t total = 0;
  for (const BufferSpec& buffer : given.buffers) {
    const std::int64_t count = value_of(buffer.count);
    if (count < 0) fail(ErrorKind::kBadData, buffer.name + ": negative size");
    elements_.push_back(static_cast<std::size_t>(count));
    total += elements_.back() * bytes_of(buffer.type);
    if (total > kMaxBytes)
      fail(ErrorKind::kHostMemory,
           "case " + given.name + ": a shape of more than " + std::to_string(kMaxBytes) + " bytes");
  }
  data_.resize(elements_.size());
  for (std::size_t b = 0; b < data_.size(); ++b)
    if (given.buffers[b].role != BufferRole::kOut) fill(b);
}

void Problem::fill(std::size_t buffer) {
  const BufferSpec& as = case_->buffers[buffer];
  const std::size_t count = elements_[buffer];
  data_[buffer].resize(bytes(buffer));
  const std::uint64_t seed = mix(spec_.seed ^ mix(buffer + 1));
  std::byte* const out = data_[buffer].data();
  if (as.fill == Fill::kIndptr) {
    const std::vector<std::int64_t> offsets =
        offsets_of_pattern(spec_.pattern.indices, seed, count - 1, value_of(as.limit));
    for (std::size_t i = 0; i < count; ++i) store_element(as.type, out, i, static_cast<double>(offsets[i]));
    return;
  }
  const auto limit =
      as.fill == Fill::kIndex ? static_cast<std::uint64_t>(std::max<std::int64_t>(1, value_of(as.limit))) : 1;
  const bool is_extreme = spec_.pattern.values == ValuePattern::kExtreme;
  const bool is_any = is_extreme && as.fill == Fill::kValues && case_->exact == Exact::kBits;
  for_ranges(count, [&](std::size_t i) {
    const std::uint64_t random = mix(seed + i);
    double value = 0;
    if (is_any && random % 8 != 0) return store_bits(as.type, out, i, static_cast<std::uint32_t>(random >> 32));
    if (as.fill == Fill::kValues && is_extreme)
      value = extreme_value(*case_, as.type, random);
    else if (as.fill == Fill::kValues && spec_.pattern.values == ValuePattern::kFar)
      value = far_value(*case_, as.type, random);
    else if (as.fill == Fill::kValues)
      value = value_of_pattern(spec_.pattern.values, random);
    else if (as.fill == Fill::kIndex && spec_.pattern.indices == IndexPattern::kUniform)
      value = static_cast<double>(uniform_index(seed, i, count, limit));
    else if (as.fill == Fill::kIndex)
      value = static_cast<double>(index_of_pattern(spec_.pattern.indices, random, i, count, limit));
    else
      value = static_cast<double>(random >> 32);
    store_element(as.type, out, i, value);
  });
  if (as.fill == Fill::kValues && spec_.pattern.values == ValuePattern::kNonFinite) spoil(buffer, seed);
}

/// Where they are and how many of a row must not be foreseen. The first and the last element have one in three of four
/// problems: what is done at the ends of a buffer has code of its own.
void Problem::spoil(std::size_t buffer, std::uint64_t seed) {
  constexpr double kSpoilt[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity()};
  constexpr std::size_t kOfEach = 3;
  for (std::size_t k = 0; k < kOfEach * std::size(kSpoilt) && elements_[buffer] > 0; ++k)
    store_element(case_->buffers[buffer].type, data_[buffer].data(), mix(~seed - k) % elements_[buffer],
                  kSpoilt[k % std::size(kSpoilt)]);
  if (elements_[buffer] == 0) return;
  for (const std::size_t end : {std::size_t{0}, elements_[buffer] - 1})
    if (const std::uint64_t drawn = mix(~seed + end + 100) % 4; drawn < std::size(kSpoilt))
      store_element(case_->buffers[buffer].type, data_[buffer].data(), end, kSpoilt[drawn]);
}

void Problem::rotate(std::size_t buffer, std::size_t by) {
  const std::size_t bytes = by * bytes_of(case_->buffers[buffer].type);
  std::rotate(data_[buffer].begin(), data_[buffer].begin() + static_cast<std::ptrdiff_t>(bytes), data_[buffer].end());
}

std::int64_t Problem::dim(std::string_view name) const {
  const auto found = spec_.dims.find(name);
  require(found != spec_.dims.end(), "a reference names dims of its case");
  return found->second;
}

std::size_t Problem::index_of(std::string_view buffer) const {
  for (std::size_t b = 0; b < case_->buffers.size(); ++b)
    if (case_->buffers[b].name == buffer) return b;
  require(false, "a reference names buffers of its case");
  return 0;
}

std::size_t Problem::total_bytes() const {
  std::size_t total = 0;
  for (std::size_t b = 0; b < num_buffers(); ++b) total += bytes(b);
  return total;
}

Variables with_distinct(const Problem& problem) {
  Variables all = problem.spec().dims;
  for (std::size_t b = 0; b < problem.num_buffers(); ++b) {
    const BufferSpec& buffer = problem.definition().buffers[b];
    if (buffer.fill != Fill::kIndex) continue;
    std::vector<bool> is_there(static_cast<std::size_t>(std::max<std::int64_t>(1, problem.value_of(buffer.limit))));
    std::int64_t distinct = 0;
    for (std::size_t i = 0; i < problem.elements(b); ++i) {
      const auto index = static_cast<std::size_t>(problem.at(b, i));
      distinct += is_there[index] ? 0 : 1;
      is_there[index] = true;
    }
    all["distinct_" + buffer.name] = distinct;
  }
  return all;
}

double repetition_of_indices(const Problem& problem) {
  double most = 1;
  for (std::size_t b = 0; b < problem.num_buffers(); ++b) {
    const BufferSpec& buffer = problem.definition().buffers[b];
    if (buffer.fill != Fill::kIndex || problem.elements(b) == 0) continue;
    std::vector<double> sorted;
    for (std::size_t i = 0; i < problem.elements(b); ++i) sorted.push_back(problem.at(b, i));
    std::ranges::sort(sorted);
    double squares = 0;
    for (auto first = sorted.begin(); first != sorted.end();) {
      const auto next = std::upper_bound(first, sorted.end(), *first);
      const auto count = static_cast<double>(next - first);
      squares += count * count;
      first = next;
    }
    most = std::max(most, squares / static_cast<double>(problem.elements(b)));
  }
  return most;
}

std::uint64_t seed_from_system() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != static_cast<ssize_t>(sizeof seed))
    fail(ErrorKind::kIo, "the operating system gives no random bytes");
  return seed >> 1;
}

}  // namespace salient::workbench
