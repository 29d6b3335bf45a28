// models/kernels/row_moves.cpp - see row_moves.h.
#include "models/kernels/row_moves.h"

#include <algorithm>

#include "models/kernels/parallel.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 64, kNumbersPerTask = 4096;

}  // namespace

void take_rows(const RowPlaces& places, const float* from, float* to) {
  parallel_rows(places.count, kRowsPerTask, [&](std::int64_t i) {
    std::copy_n(from + std::int64_t{places.place[i]} * places.width, places.width, to + i * places.width);
  });
}

void put_rows(const RowPlaces& places, const float* from, float* to) {
  parallel_rows(places.count, kRowsPerTask, [&](std::int64_t i) {
    std::copy_n(from + i * places.width, places.width, to + std::int64_t{places.place[i]} * places.width);
  });
}

void places_in_table(const RowPlaces& places, const NodeId* nodes, std::int64_t first, std::int64_t* to) {
  parallel_rows(places.count, kNumbersPerTask,
                [&](std::int64_t i) { to[i] = std::int64_t{nodes[places.place[i]]} - first; });
}

}  // namespace salient
