// workbench/referee/problems.cpp - see problems.h.
#include "workbench/referee/problems.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>

namespace salient::workbench {
namespace {

/// Sizes of one range: at random, but in turns of all remainders by kRemainders, so that 2^b draws that follow each
/// other have all remainders by 2^b. Of a range with fewer sizes they are its sizes in turns.
class SizeDraws {
 public:
  explicit SizeDraws(std::uint64_t seed) : seed_(seed) {}

  std::int64_t draw(const DimRange& dim, std::uint64_t random) {
    const auto low = static_cast<std::uint64_t>(dim.low), span = static_cast<std::uint64_t>(dim.high) - low + 1;
    const std::uint64_t turns = std::min(span, kRemainders), first = mix(seed_ ^ std::hash<std::string>{}(dim.name));
    std::uint64_t step = mix(first) % turns | 1;
    while (std::gcd(step, turns) != 1) ++step;
    const std::uint64_t turn = (first % turns + step * (turns_[dim.name]++ % turns)) % turns;
    if (span < kRemainders) return static_cast<std::int64_t>(low + turn);
    const std::uint64_t drawn = low + random % span, moved = drawn - drawn % kRemainders + turn;
    return static_cast<std::int64_t>(moved < low           ? moved + kRemainders
                                     : moved >= low + span ? moved - kRemainders
                                                           : moved);
  }

 private:
  std::uint64_t seed_;
  std::map<std::string, std::uint64_t> turns_{};
};

bool is_of(const ShapeSpec& shape, BackendKind backend) {
  return shape.backend.empty() || shape.backend == word_of(backend);
}

/// The problems of one seed.
std::vector<ProblemSpec> problems_of_seed(const Case& given, BackendKind backend,
                                          const std::vector<Variables>& more_shapes, std::uint64_t seed) {
  std::vector<ProblemSpec> edge, hidden, open;
  std::uint64_t counter = seed;
  SizeDraws sizes(seed);
  const auto add = [&](std::vector<ProblemSpec>& list, ShapeSet set, const Variables& dims, Pattern pattern) {
    list.push_back({set, dims, pattern, mix(++counter) >> 1});
  };
  for (const ShapeSpec& shape : given.shapes) {
    if (!is_of(shape, backend)) continue;
    Variables dims;
    for (const Pattern pattern : draw_patterns(given, mix(++counter) >> 1)) {
      for (const DimRange& dim : shape.dims) dims[dim.name] = sizes.draw(dim, mix(++counter));
      add(shape.set == ShapeSet::kPublic ? open
          : shape.set == ShapeSet::kEdge ? edge
                                         : hidden,
          shape.set, dims, pattern);
    }
  }
  for (const Variables& dims : more_shapes) {
    add(hidden, ShapeSet::kHidden, dims, {ValuePattern::kZeroMean, IndexPattern::kUniform});
    add(hidden, ShapeSet::kHidden, dims, {ValuePattern::kWide, IndexPattern::kPowerLaw});
  }
  edge.insert(edge.end(), hidden.begin(), hidden.end());
  edge.insert(edge.end(), open.begin(), open.end());
  return edge;
}

/// Makes swept_problems().
class Sweep {
 public:
  Sweep(const Case& given, BackendKind backend, std::uint64_t seed)
      : given_(given),
        few_(seed),
        some_(mix(seed)),
        random_(mix(~seed)),
        of_values_(draw_patterns(given, random_ >> 1)),
        is_size_(sizes_of(given)) {
    for (const ShapeSpec& shape : given.shapes) {
      if (shape.set != ShapeSet::kHidden || !is_of(shape, backend)) continue;
      if (first_.empty()) first_ = shape.dims;
      for (const DimRange& dim : shape.dims) most_[dim.name] = std::max(most_[dim.name], dim.high);
    }
  }

  std::vector<ProblemSpec> problems() {
    for (const DimRange& dim : first_)
      if (is_size(dim.name)) sweep({dim.name, dim.low, most_[dim.name]});
    for (std::int64_t value = 2; value <= kMostEqual && !first_.empty(); ++value) add_equal(value);
    return std::move(made_);
  }

 private:
  static constexpr std::int64_t kFew = 16, kSome = 64;  // values of other sizes, beside the smallest and the larger
  static constexpr std::int64_t kMostEqual = 32;
  static constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  static constexpr double kMostWork = 0x1p20;

  bool is_size(const std::string& name) const {
    return std::find(is_size_.begin(), is_size_.end(), name) != is_size_.end();
  }

  std::uint64_t next() { return random_ = mix(random_); }

  bool is_small(const Variables& dims) const {
    std::size_t bytes = 0;
    for (const BufferSpec& buffer : given_.buffers)
      bytes += static_cast<std::size_t>(evaluate(buffer.count, dims)) * bytes_of(buffer.type);
    const double work =
        static_cast<double>(evaluate(given_.rows, dims)) * static_cast<double>(evaluate(given_.row_cost, dims));
    return bytes <= kMostBytes && work <= kMostWork;
  }

  /// All dims drawn, sizes from `most` small ones, and less where `name` = value would make the problem too large.
  Variables dims_with(const std::string& name, std::int64_t value, std::int64_t most) {
    Variables dims;
    for (const DimRange& dim : first_)
      dims[dim.name] =
          (most == kFew ? few_ : some_)
              .draw({dim.name, dim.low, is_size(dim.name) ? std::min(dim.high, dim.low + most - 1) : most_[dim.name]},
                    next());
    dims[name] = value;
    for (std::int64_t rest = most; rest > 1 && !is_small(dims); rest /= 2)
      for (const DimRange& dim : first_)
        if (dim.name != name && is_size(dim.name)) dims[dim.name] = dim.low + (dims[dim.name] - dim.low) / 2;
    return dims;
  }

  /// The largest value of a dim, up to `most`, of a small problem with these other dims.
  std::int64_t largest(Variables dims, const std::string& name, std::int64_t most) const {
    std::int64_t fits = dims[name];
    for (std::int64_t low = fits, high = most; low <= high;) {
      dims[name] = low + (high - low) / 2;
      if (is_small(dims)) {
        fits = dims[name];
        low = fits + 1;
      } else {
        high = dims[name] - 1;
      }
    }
    return fits;
  }

  void add(const Variables& dims, Pattern pattern) { made_.push_back({ShapeSet::kHidden, dims, pattern, next() >> 1}); }
  Pattern some_pattern() { return of_values_[next() % of_values_.size()]; }

  /// All sizes alike, or the nearest that the hidden shapes have.
  void add_equal(std::int64_t value) {
    Variables dims = dims_with(first_.front().name, first_.front().low, kFew);
    for (const DimRange& dim : first_)
      if (is_size(dim.name)) dims[dim.name] = std::clamp(value, dim.low, dim.high);
    add(dims, {});
  }

  void sweep(const DimRange& dim) {
    const auto least = static_cast<std::int64_t>(kRemainders);
    const std::int64_t count = std::min(dim.high - dim.low + 1, least);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t value = dim.low + i;
      add(dims_with(dim.name, value, kFew), {});
      Variables dims = dims_with(dim.name, value, kSome);
      const std::int64_t turns = (largest(dims, dim.name, dim.high) - value) / least;  // further sizes of its remainder
      if (turns > 0) {
        const double part = static_cast<double>(next() >> 11) * 0x1p-53;
        dims[dim.name] += least * static_cast<std::int64_t>(std::pow(static_cast<double>(turns), part));
      }
      add(dims, some_pattern());
    }
    for (std::int64_t power = least; power <= dim.high; power *= 2)
      for (const std::int64_t value : {power - 1, power, power + 1}) {
        const Variables dims = dims_with(dim.name, value, kFew);
        if (value >= dim.low && value <= dim.high && is_small(dims)) add(dims, some_pattern());
      }
  }

  const Case& given_;
  SizeDraws few_, some_;  ///< of the other sizes
  std::uint64_t random_;
  std::vector<Pattern> of_values_;
  std::vector<std::string> is_size_;
  std::vector<DimRange> first_{};  ///< the first hidden range: sizes that fit together
  std::map<std::string, std::int64_t> most_{};
  std::vector<ProblemSpec> made_{};
};

}  // namespace

std::vector<ProblemSpec> problems_of(const Case& given, BackendKind backend, const MoreTests& more,
                                     std::uint64_t seed) {
  std::vector<ProblemSpec> all = problems_of_seed(given, backend, more.shapes, seed);
  for (const std::uint64_t another : more.seeds)
    for (ProblemSpec& spec : problems_of_seed(given, backend, more.shapes, another))
      if (spec.set != ShapeSet::kPublic) all.push_back(std::move(spec));
  return all;
}

std::vector<ProblemSpec> swept_problems(const Case& given, BackendKind backend, std::uint64_t seed) {
  return Sweep(given, backend, seed).problems();
}

std::vector<ProblemSpec> problems_of_all_remainders(const Case& given, BackendKind backend, std::uint64_t seed) {
  std::vector<ProblemSpec> all;
  std::uint64_t counter = mix(seed);
  for (const ShapeSpec& shape : given.shapes) {
    if (shape.set != ShapeSet::kHidden || !is_of(shape, backend)) continue;
    const std::vector<Pattern> patterns = draw_patterns(given, mix(++counter) >> 1);
    SizeDraws sizes(mix(++counter));
    std::int64_t most = 1;
    for (const DimRange& dim : shape.dims) most = std::max(most, dim.high - dim.low + 1);
    for (std::uint64_t i = 0; i < std::min(kRemainders, static_cast<std::uint64_t>(most)); ++i) {
      Variables dims;
      for (const DimRange& dim : shape.dims) dims[dim.name] = sizes.draw(dim, mix(++counter));
      all.push_back({ShapeSet::kHidden, dims, patterns[i % patterns.size()], mix(++counter) >> 1});
    }
  }
  return all;
}

}  // namespace salient::workbench
