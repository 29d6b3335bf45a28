// store/synthetic_relation.cpp - see synthetic_relation.h.
#include "store/synthetic_relation.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace salient {
namespace {

using Range = oneapi::tbb::blocked_range<std::uint64_t>;

/// The mean of floor(spread * (1 / sqrt(u) - 1)), at most `max`: the sum over k of its chance to be k or more, which is
/// (1 + k / spread)^-2; from kExact on as an integral.
double mean_of_power_law(double spread, double max) {
  constexpr double kExact = 256;
  double mean = 0;
  for (double k = 1; k <= std::min(max, kExact); ++k) mean += 1 / ((1 + k / spread) * (1 + k / spread));
  if (max > kExact) mean += spread * spread * (1 / (spread + kExact + 0.5) - 1 / (spread + max + 0.5));
  return mean;
}

double spread_with_mean(double mean, double max) {
  double low = 0, high = 4 * mean + 4;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    (mean_of_power_law(middle, max) < mean ? low : high) = middle;
  }
  return high;
}

}  // namespace

DegreeTable::DegreeTable(const DegreeLaw& law, PhiloxKey key, std::uint32_t salt) : law_(law), key_(key), salt_(salt) {
  if (law.max > 0) spread_ = spread_with_mean(law.mean, static_cast<double>(law.max));
}

std::uint64_t DegreeTable::degree_of(NodeId rank) const {
  const PhiloxBlock draw = philox4x32(key_, {{rank, salt_, 0, static_cast<std::uint32_t>(SyntheticDraw::kDegree)}});
  const double u = (draw.word[0] + 0.5) * 0x1p-32;
  if (law_.max == 0) return static_cast<std::uint64_t>(2 * law_.mean * u + draw.word[1] * 0x1p-32);
  return static_cast<std::uint64_t>(std::min(spread_ * (1 / std::sqrt(u) - 1), static_cast<double>(law_.max)));
}

SyntheticRelation::SyntheticRelation(const Communities& sources, const DegreeLaw& of_sources,
                                     const Communities& destinations, const DegreeLaw& of_destinations,
                                     double homophily, PhiloxKey key) {
  sides_.push_back(draw_side(sources, of_sources, key, 1));
  sides_.push_back(draw_side(destinations, of_destinations, key, 2));
  share_out(homophily, key);
}

SyntheticRelation::Side SyntheticRelation::draw_side(const Communities& communities, const DegreeLaw& law,
                                                     PhiloxKey key, std::uint32_t salt) {
  const DegreeTable degrees(law, key, salt);
  const std::uint64_t num_nodes = communities.num_nodes();
  UnsetHugeVector<std::uint64_t> prefix(num_nodes + 1);
  prefix[0] = 0;
  oneapi::tbb::parallel_for(Range(0, num_nodes, 4096), [&](const Range& range) {
    for (std::uint64_t r = range.begin(); r < range.end(); ++r)
      prefix[r + 1] = degrees.degree_of(static_cast<NodeId>(r));
  });
  for (std::uint64_t r = 0; r < num_nodes; ++r) prefix[r + 1] += prefix[r];
  std::vector<std::uint64_t> bounds;
  for (int c = 0; c <= communities.count(); ++c) bounds.push_back(prefix[communities.first_rank(c)]);
  Side side{.communities = &communities, .owners = StubOwners(std::move(prefix)), .bounds = std::move(bounds)};
  for (std::size_t c = 0; c + 1 < side.bounds.size(); ++c)
    side.shuffles.emplace_back(side.bounds[c + 1] - side.bounds[c],
                               PhiloxKey{{key.word[0], key.word[1] + static_cast<std::uint32_t>(c)}}, 16 * salt + 1);
  return side;
}

/// Of each community as many stubs stay inside as the end with fewer has times `homophily`; all others are outside.
void SyntheticRelation::share_out(double homophily, PhiloxKey key) {
  const auto size_of = [](const Side& side, std::size_t c) { return side.bounds[c + 1] - side.bounds[c]; };
  for (std::size_t c = 0; c < sides_[0].shuffles.size(); ++c) {
    const std::uint64_t fewer = std::min(size_of(sides_[0], c), size_of(sides_[1], c));
    num_inside_.push_back(static_cast<std::uint64_t>(homophily * static_cast<double>(fewer)));
  }
  for (std::uint32_t s = 0; s < 2; ++s) {
    Side& side = sides_[s];
    side.outside_begin.push_back(0);
    for (std::size_t c = 0; c < num_inside_.size(); ++c)
      side.outside_begin.push_back(side.outside_begin.back() + size_of(side, c) - num_inside_[c]);
    side.outside = IndexPermutation(side.outside_begin.back(), key, 16 * (s + 1) + 2);
  }
  num_outside_ = std::min(sides_[0].outside.size(), sides_[1].outside.size());
}

/// @param c  the community of the stub's owner
std::uint64_t SyntheticRelation::partner_of(const Side& from, const Side& to, std::size_t c, std::uint64_t stub) const {
  const auto at = [&](std::size_t community, std::uint64_t place) {
    return to.bounds[community] + to.shuffles[community].inverse(place);
  };
  const std::uint64_t place = from.shuffles[c](stub - from.bounds[c]);
  if (place < num_inside_[c]) return at(c, place);
  const std::uint64_t joint = from.outside(from.outside_begin[c] + place - num_inside_[c]);
  if (joint >= num_outside_) return kNoStub;
  const std::uint64_t other = to.outside.inverse(joint);
  const auto d =
      static_cast<std::size_t>(std::ranges::upper_bound(to.outside_begin, other) - to.outside_begin.begin()) - 1;
  return at(d, num_inside_[d] + other - to.outside_begin[d]);
}

NodeId* SyntheticRelation::row(End end, NodeId rank, NodeId* out) const {
  const Side& from = side(end);
  const Side& to = side(end == End::kSource ? End::kDestination : End::kSource);
  const auto community = static_cast<std::size_t>(from.communities->community_of(rank));
  to.owners.visit_partners(
      from.owners.begin_of(rank), from.owners.end_of(rank),
      [&](std::uint64_t stub) { return partner_of(from, to, community, stub); },
      [&](NodeId partner) { *out++ = to.communities->node_of(partner); });
  return out;
}

}  // namespace salient
