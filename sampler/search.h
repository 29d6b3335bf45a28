// sampler/search.h - binary searches that host and device share.
#pragma once

#include "core/philox.h"

namespace salient {

/// The last i in [low, high) whose begin_of(i) is not above `item`; that of `low` is not. Of equal begins it finds the
/// last: the one interval that is not empty.
template <class Index, class Item, class BeginOf>
SALIENT_HOST_DEVICE Index last_not_above(Index low, Index high, Item item, const BeginOf& begin_of) {
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (begin_of(middle) <= item)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The first place of [0, count) at which an item is not below another one, or `count`.
template <class Index, class IsBelow>
SALIENT_HOST_DEVICE Index first_not_below(Index count, const IsBelow& is_below) {
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (is_below(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

}  // namespace salient
