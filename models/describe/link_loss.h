// models/describe/link_loss.h - what training of links minimises, by the scores of a link s and of its negatives n.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class LinkLoss : std::uint8_t {
  kBce,      ///< -log sigmoid(s), and -log(1 - sigmoid(n)) of each negative: the mean over all pairs
  kSoftmax,  ///< cross entropy of the link among itself and its negatives: the mean over links
  kMargin,   ///< max(0, 1 - s + n): the mean over negatives, as the next
  kBpr,      ///< -log sigmoid(s - n)
};

constexpr auto names_of(LinkLoss) {
  return std::to_array<EnumName<LinkLoss>>({{LinkLoss::kBce, "bce"},
                                            {LinkLoss::kSoftmax, "softmax"},
                                            {LinkLoss::kMargin, "margin"},
                                            {LinkLoss::kBpr, "bpr"}});
}

/// Terms of the sum for each link, of which a step minimises the mean.
constexpr int terms_of_link(LinkLoss loss, int negatives) {
  switch (loss) {
    case LinkLoss::kBce: return 1 + negatives;
    case LinkLoss::kSoftmax: return 1;
    case LinkLoss::kMargin:
    case LinkLoss::kBpr: return negatives;
  }
  return 1;
}

}  // namespace salient
