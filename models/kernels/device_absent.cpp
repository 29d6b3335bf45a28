// models/kernels/device_absent.cpp - takes the place of the *.cu files in a build without CUDA, where no tensor is on a
// device: no function here is ever reached.
#include "core/error.h"
#include "models/kernels/adam.h"
#include "models/kernels/adam_rows.h"
#include "models/kernels/attention_sum.h"
#include "models/kernels/class_counts.h"
#include "models/kernels/dropout.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/filled_rows.h"
#include "models/kernels/gat_bins.h"
#include "models/kernels/gat_logits.h"
#include "models/kernels/gatv2_bins.h"
#include "models/kernels/gatv2_logits.h"
#include "models/kernels/multilabel_bce_loss.h"
#include "models/kernels/row_moves.h"
#include "models/kernels/segment.h"
#include "models/kernels/sparse_dropout.h"
#include "models/kernels/sparse_product.h"

namespace salient {
namespace {

[[noreturn]] void refuse() { fail(ErrorKind::kInternal, "a kernel of the device in a build without CUDA"); }

}  // namespace

std::size_t transpose_scratch_bytes(std::int64_t) { refuse(); }
void transpose(const HopEdges&, std::int64_t, const TransposeBuffers&, CUstream_st*) { refuse(); }

template <class T>
void segment_reduce(const HopEdges&, const Reduction&, const T*, std::int64_t, float*, CUstream_st*) {
  refuse();
}
template <class T>
void segment_max(const HopEdges&, const T*, std::int64_t, float*, LocalId*, CUstream_st*) {
  refuse();
}
template void segment_reduce<float>(const HopEdges&, const Reduction&, const float*, std::int64_t, float*,
                                    CUstream_st*);
template void segment_reduce<Half>(const HopEdges&, const Reduction&, const Half*, std::int64_t, float*, CUstream_st*);
template void segment_max<float>(const HopEdges&, const float*, std::int64_t, float*, LocalId*, CUstream_st*);
template void segment_max<Half>(const HopEdges&, const Half*, std::int64_t, float*, LocalId*, CUstream_st*);
void segment_reduce_backward(const HopEdges&, const Reduction&, const float*, std::int64_t, float*,
                             const BackwardStream&) {
  refuse();
}
void segment_max_backward(const HopEdges&, const LocalId*, const float*, std::int64_t, float*, const BackwardStream&) {
  refuse();
}

void gat_logits(const HopEdges&, const GatScores&, float*, const LogitsStream&) { refuse(); }
void gat_logits_backward(const HopEdges&, const GatScores&, const float*, const GatGradients&, const BackwardStream&) {
  refuse();
}
void gat_scores_backward(const HopEdges&, const GatScores&, const float*, float*, const GatGradients&,
                         const BackwardStream&) {
  refuse();
}
void gatv2_logits(const HopEdges&, const Gatv2Inputs&, float*, const LogitsStream&) { refuse(); }
void gatv2_logits_backward(const HopEdges&, const Gatv2Inputs&, const float*, const Gatv2Gradients&,
                           const BackwardStream&) {
  refuse();
}
void gat_attention_backward_binned(const HopEdges&, const GatAttention&, const GatAttentionGradients&, CUstream_st*) {
  refuse();
}
void gatv2_attention_backward_binned(const HopEdges&, const Gatv2Inputs&, const Gatv2Attention&, const Gatv2Gradients&,
                                     const Gatv2Workspace&, CUstream_st*) {
  refuse();
}
void edge_softmax(const HopEdges&, std::int64_t, float*, CUstream_st*) { refuse(); }
void edge_softmax_backward(const HopEdges&, std::int64_t, const float*, float*, CUstream_st*) { refuse(); }
void attention_sum(const HopEdges&, const AttentionTerms&, float*, CUstream_st*) { refuse(); }
void attention_sum_backward(const HopEdges&, const AttentionTerms&, const float*, const AttentionSumGradients&,
                            const BackwardStream&) {
  refuse();
}

void adam_step(const AdamState&, const AdamRates&, CUstream_st*, const double*) { refuse(); }
void adam_rows_step(const AdamRowsState&, const AdamRates&, CUstream_st*) { refuse(); }

std::size_t filled_rows_scratch_bytes(std::int64_t) { refuse(); }
void find_filled_rows(const SlotRows&, const FilledRowArrays&, void*, std::size_t, CUstream_st*) { refuse(); }
void reorder_rows(const RowOrder&, LocalId*, LocalId*, void*, std::size_t, CUstream_st*) { refuse(); }
void take_rows(const RowPlaces&, const float*, float*, CUstream_st*) { refuse(); }
void put_rows(const RowPlaces&, const float*, float*, CUstream_st*) { refuse(); }
void places_in_table(const RowPlaces&, const NodeId*, std::int64_t, std::int64_t*, CUstream_st*) { refuse(); }

template <class T>
void sparse_product(const SparseRowsOf<T>&, const float*, std::int64_t, float*, CUstream_st*) {
  refuse();
}
template <class T>
void sparse_product_backward(const SparseRowsOf<T>&, const SourceEdges&, const float*, std::int64_t, float*,
                             CUstream_st*) {
  refuse();
}
template <class T>
void sparse_dropout(const DropoutMask&, const SparseRowsOf<T>&, const std::uint32_t*, float*, CUstream_st*) {
  refuse();
}
template void sparse_product<float>(const SparseRowsOf<float>&, const float*, std::int64_t, float*, CUstream_st*);
template void sparse_product<Half>(const SparseRowsOf<Half>&, const float*, std::int64_t, float*, CUstream_st*);
template void sparse_product_backward<float>(const SparseRowsOf<float>&, const SourceEdges&, const float*, std::int64_t,
                                             float*, CUstream_st*);
template void sparse_product_backward<Half>(const SparseRowsOf<Half>&, const SourceEdges&, const float*, std::int64_t,
                                            float*, CUstream_st*);
template void sparse_dropout<float>(const DropoutMask&, const SparseRowsOf<float>&, const std::uint32_t*, float*,
                                    CUstream_st*);
template void sparse_dropout<Half>(const DropoutMask&, const SparseRowsOf<Half>&, const std::uint32_t*, float*,
                                   CUstream_st*);

void dropout(const DropoutMask&, Activation, const NodeRows&, const DroppedRows&, CUstream_st*) { refuse(); }
void scale_where_positive(const PositiveBits&, const float*, float, float*, CUstream_st*) { refuse(); }

void count_classes(const ClassLogits&, const std::int32_t*, const ClassCounts&, CUstream_st*) { refuse(); }

void multilabel_bce_loss(BceTarget, std::span<const float>, const std::int8_t*, const MultilabelBceOutput&,
                         CUstream_st*) {
  refuse();
}

}  // namespace salient
