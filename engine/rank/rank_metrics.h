// engine/rank/rank_metrics.h - metrics of links from ranks, by the exact rules of the field.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/enum_names.h"

namespace salient {

/// What a target's rank follows from: the other candidates whose scores are above its own, and equal to it.
struct RankCounts {
  std::uint64_t greater = 0, equal = 0;

  bool operator==(const RankCounts&) const = default;
};

/// Where among candidates of the same score a target is.
enum class TieRule : std::uint8_t {
  kRealistic,    ///< in their middle: 1 + greater + equal / 2; of OGB and PyKEEN
  kOptimistic,   ///< before them
  kPessimistic,  ///< behind them
};

constexpr auto names_of(TieRule) {
  return std::to_array<EnumName<TieRule>>({{TieRule::kRealistic, "realistic"},
                                           {TieRule::kOptimistic, "optimistic"},
                                           {TieRule::kPessimistic, "pessimistic"}});
}

/// From 1 on; with the realistic rule a half of an odd number.
double rank_of(const RankCounts& counts, TieRule rule = TieRule::kRealistic);

/// Sums over ranks, which may be added in any grouping that keeps their order.
class RankTally {
 public:
  void add(double rank);
  void add(const RankTally& other);

  std::uint64_t count() const { return count_; }
  double mean_rank() const { return count_ == 0 ? 0 : rank_sum_ / static_cast<double>(count_); }
  /// The mean of 1 / rank; 0 without ranks.
  double mrr() const { return count_ == 0 ? 0 : reciprocal_sum_ / static_cast<double>(count_); }
  /// The share of ranks up to k, 1, 3, 10, 20, 50 or 100. @throws Error{kInternal} for another one
  double hits_at(std::uint64_t k) const;

 private:
  static constexpr std::uint64_t kCounted[] = {1, 3, 10, 20, 50, 100};
  std::uint64_t count_ = 0;
  std::uint64_t hits_[std::size(kCounted)] = {};
  double rank_sum_ = 0, reciprocal_sum_ = 0;
};

/// hits@k by the rule of ogbl-collab, -ppa and -ddi: the share of positives strictly above the k-th best of all
/// negatives; 1 with fewer than k of them.
/// @param k  at least 1    @return  nullopt without positives, or where a score is not a number
/// Cost: a partial sort of a copy of the negatives
std::optional<double> ogb_hits_at(std::span<const float> positives, std::span<const float> negatives, std::size_t k);

/// The counts of one positive among its own negatives, as ogbl-citation2, -wikikg2, -biokg and -vessel rank it.
RankCounts counts_among(float positive, std::span<const float> negatives);

}  // namespace salient
