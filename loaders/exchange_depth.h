// loaders/exchange_depth.h - how many batches of partitioned features are on their way between ranks.
#pragma once

#include <cstddef>

namespace salient {

/// Batches that may be between RowExchange::ask() and take().
inline constexpr std::size_t kExchangeDepth = 4;

/// Slabs beside a loader's own: of the batches whose rows are on the way.
inline constexpr int kBatchesOnTheWay = static_cast<int>(kExchangeDepth) - 1;

/// The most rows on the way, in batches: those slabs, and what each of the depth sends and gets.
inline constexpr int kRowsOnTheWay = kBatchesOnTheWay + 2 * static_cast<int>(kExchangeDepth);

}  // namespace salient
