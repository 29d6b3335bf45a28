// workbench/case/problem.h - one shape of a case with its inputs: what a candidate is run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workbench/case/case.h"

namespace salient::workbench {

enum class ValuePattern : std::uint8_t {
  kZeroMean,   ///< uniform in (-1, 1)
  kPositive,   ///< uniform in (0, 1): sums do not cancel
  kWide,       ///< magnitudes 2^-12 to 2^12, both signs
  kEqual,      ///< one number with a full mantissa: rounding to a shorter format shows
  kNonFinite,  ///< zero mean, with NaN and infinities at places that the seed draws
  kExtreme,    ///< all exponents that the case takes, both zeros, subnormals; any bits where bits are copied
  kSparse,     ///< uniform in (-1, 1), but most are zero: sums of a few terms, of which every bit shows
  kFar,        ///< magnitudes up to 2^60, both signs, among values of zero mean: for times, not for results alone
};
enum class IndexPattern : std::uint8_t { kUniform, kSorted, kEqual, kPowerLaw, kEmptyRows };

struct Pattern {
  ValuePattern values = ValuePattern::kZeroMean;
  IndexPattern indices = IndexPattern::kUniform;
};
std::string text_of(ValuePattern pattern);
std::string text_of(Pattern pattern);  ///< "wide values, sorted indices"
/// Every pattern of values and every pattern of indices that makes a difference to the case, in pairs that `random`
/// draws.
std::vector<Pattern> draw_patterns(const Case& given, std::uint64_t random);

/// Everything that decides a problem's inputs.
struct ProblemSpec {
  ShapeSet set = ShapeSet::kPublic;
  Variables dims{};
  Pattern pattern{};
  std::uint64_t seed = 0;
};
std::string text_of(const ProblemSpec& spec);  ///< "public n=1024, zero-mean values, uniform indices, seed 12"

/// The inputs in host memory, private to the referee: candidates get copies.
class Problem {
 public:
  /// @throws Error{kBadData} if an expression fails, Error{kHostMemory} beyond 16 GiB
  Problem(const Case& given, const ProblemSpec& spec);

  const Case& definition() const { return *case_; }
  const ProblemSpec& spec() const { return spec_; }
  std::int64_t dim(std::string_view name) const;
  std::int64_t value_of(const std::string& expression) const { return evaluate(expression, spec_.dims); }

  std::size_t num_buffers() const { return data_.size(); }
  std::size_t index_of(std::string_view buffer) const;
  std::size_t elements(std::size_t buffer) const { return elements_[buffer]; }
  std::size_t bytes(std::size_t buffer) const { return elements_[buffer] * bytes_of(case_->buffers[buffer].type); }
  std::size_t total_bytes() const;
  /// Inputs; empty for buffers that are only written.
  const std::vector<std::byte>& data(std::size_t buffer) const { return data_[buffer]; }
  /// Element i becomes what element (i + by) mod elements was. @param by  below elements
  void rotate(std::size_t buffer, std::size_t by);
  std::uint32_t bits_at(std::size_t buffer, std::size_t index) const {
    return load_bits(case_->buffers[buffer].type, data_[buffer].data(), index);
  }
  double at(std::size_t buffer, std::size_t index) const {
    return load_element(case_->buffers[buffer].type, data_[buffer].data(), index);
  }

 private:
  void fill(std::size_t buffer);
  void spoil(std::size_t buffer, std::uint64_t seed);

  const Case* case_;  ///< outlives this
  ProblemSpec spec_;
  std::vector<std::size_t> elements_;
  std::vector<std::vector<std::byte>> data_;
};

/// The problem's sizes, and for each buffer of indices distinct_NAME: how many different ones it holds.
Variables with_distinct(const Problem& problem);

/// How many entries have the index of an entry, itself included, in the mean over entries; of the buffer of indices
/// where that is most, 1 without one.
double repetition_of_indices(const Problem& problem);

/// The sizes of the shapes that are timed on this back end.
std::vector<Variables> public_shapes(const Case& given, BackendKind backend);
std::string text_of(const Variables& dims);  ///< "k=64 m=16 n=8"

/// Hash of a counter: the source of all inputs. Algorithm: SplitMix64's output function (Steele, Lea, Flood, 2014).
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

std::uint64_t seed_from_system();  ///< 63 fresh bits of the operating system. @throws Error{kIo}

}  // namespace salient::workbench
