// engine/rank/rank_metrics.cpp - see rank_metrics.h.
#include "engine/rank/rank_metrics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "core/error.h"

namespace salient {

double rank_of(const RankCounts& counts, TieRule rule) {
  const auto greater = static_cast<double>(counts.greater), equal = static_cast<double>(counts.equal);
  switch (rule) {
    case TieRule::kRealistic: return 1 + greater + equal / 2;
    case TieRule::kOptimistic: return 1 + greater;
    case TieRule::kPessimistic: return 1 + greater + equal;
  }
  return 0;
}

void RankTally::add(double rank) {
  ++count_;
  rank_sum_ += rank;
  reciprocal_sum_ += 1 / rank;
  for (std::size_t i = 0; i < std::size(kCounted); ++i) hits_[i] += rank <= static_cast<double>(kCounted[i]);
}

void RankTally::add(const RankTally& other) {
  count_ += other.count_;
  rank_sum_ += other.rank_sum_;
  reciprocal_sum_ += other.reciprocal_sum_;
  for (std::size_t i = 0; i < std::size(kCounted); ++i) hits_[i] += other.hits_[i];
}

double RankTally::hits_at(std::uint64_t k) const {
  const auto* found = std::ranges::find(kCounted, k);
  require(found != std::end(kCounted), "hits are counted at 1, 3, 10, 20, 50 and 100");
  return count_ == 0 ? 0 : static_cast<double>(hits_[found - kCounted]) / static_cast<double>(count_);
}

std::optional<double> ogb_hits_at(std::span<const float> positives, std::span<const float> negatives, std::size_t k) {
  require(k >= 1, "hits are counted at 1 or more");
  const auto is_no_number = [](float score) { return std::isnan(score); };
  if (positives.empty() || std::ranges::any_of(positives, is_no_number) || std::ranges::any_of(negatives, is_no_number))
    return std::nullopt;
  if (negatives.size() < k) return 1;
  std::vector<float> sorted(negatives.begin(), negatives.end());
  const auto kth = sorted.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(sorted.begin(), kth, sorted.end(), std::greater<>());
  const auto num_hits = std::ranges::count_if(positives, [&](float score) { return score > *kth; });
  return static_cast<double>(num_hits) / static_cast<double>(positives.size());
}

RankCounts counts_among(float positive, std::span<const float> negatives) {
  RankCounts counts;
  for (const float negative : negatives) {
    counts.greater += negative > positive;
    counts.equal += negative == positive;
  }
  return counts;
}

}  // namespace salient
