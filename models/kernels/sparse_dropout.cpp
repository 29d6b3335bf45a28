// models/kernels/sparse_dropout.cpp - see sparse_dropout.h.
#include "models/kernels/sparse_dropout.h"

#include "models/kernels/parallel.h"
#include "models/kernels/simd.h"

namespace salient {

template <class T>
void sparse_dropout(const DropoutMask& mask, const SparseRowsOf<T>& x, const std::uint32_t* nodes, float* out) {
  constexpr std::int64_t kRowsPerTask = 64;
  parallel_rows(x.num_rows, kRowsPerTask, [&](std::int64_t i) {
    for (LocalId k = x.begin[i]; k < x.begin[i + 1]; ++k) {
      const auto column = static_cast<std::uint32_t>(x.columns[k]);
      const bool is_in = is_kept(mask, nodes[i], column);
      out[k] = is_in ? to_float(x.values[k]) * mask.scale : 0.0f;
    }
  });
}

template void sparse_dropout<float>(const DropoutMask&, const SparseRowsOf<float>&, const std::uint32_t*, float*);
template void sparse_dropout<Half>(const DropoutMask&, const SparseRowsOf<Half>&, const std::uint32_t*, float*);

}  // namespace salient
