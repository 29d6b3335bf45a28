// models/ops/operators.h - the neighbour operators as differentiable tensor functions, on host and device.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/numerics.h"

namespace salient {

inline constexpr float kAttentionSlope = 0.2f;  ///< of leaky_relu's negative side, in both kinds of attention

/// out[i, :] = mean (sum) of x[j, :] over the entries j of row i, 0 for an empty row. Differentiable in x.
///
/// @param x  [num_src, width] f16 or f32, contiguous, on the hop's device; more rows than num_src are allowed
/// @param order  of the gradient's sums on a device
/// @return   [num_dst, width] f32
/// @throws Error{kInternal} for other shapes, dtypes, or devices.
/// Ordering: on a device the current stream's work.   Lifetime: the hop's memory must outlive the backward pass.
/// Determinism, Cost, Oracle: see models/kernels/segment.h
at::Tensor segment_mean(const HopView& hop, const at::Tensor& x, GradientOrder order = GradientOrder::kAny);
at::Tensor segment_sum(const HopView& hop, const at::Tensor& x, GradientOrder order = GradientOrder::kAny);

/// segment_mean() of x[j, :] * weight_of_source[j], without a copy of x. Differentiable in x alone.
/// @param weight_of_source  [num_src] f32, contiguous, on the hop's device
at::Tensor weighted_mean(const HopView& hop, const at::Tensor& x, const at::Tensor& weight_of_source,
                         GradientOrder order = GradientOrder::kAny);

/// y[i, :] = x[row[i], :]. Differentiable in x, as the sums above; index_select()'s gradient has no order on a device.
/// @param row  [n] int32
at::Tensor select_rows(const at::Tensor& x, const at::Tensor& row, GradientOrder order = GradientOrder::kAny);

/// segment_mean(hop, x) weight_l^T + x[0 .. num_dst] weight_r^T, the products in the given precision. Differentiable in
/// x and both weights; the same values as the four operators one after the other, up to rounding; moves less memory.
///
/// @param x         as of segment_mean      @param weight_l, weight_r  [out, width] f32
/// @return          [num_dst, out] f32
at::Tensor sage_convolution(const HopView& hop, const at::Tensor& x, const at::Tensor& weight_l,
                            const at::Tensor& weight_r, const Numerics& numerics = {});

/// out[i, c] = the largest x[j, c] over the entries j of row i, 0 for an empty row. The gradient goes to the first
/// entry that has it. Otherwise as above.
at::Tensor segment_max(const HopView& hop, const at::Tensor& x, GradientOrder order = GradientOrder::kAny);

/// out[i, k, :] = sum of a_ijk * z[j, k, :] over the entries j != i of row i, and i itself, where a is the softmax over
/// them of leaky_relu(score_src[j, k] + score_dst[i, k]), slope 0.2. Differentiable in z and both scores.
///
/// @param z          [num_src, heads * channels] f32, on the hop's device
/// @param score_src  [num_src, heads] f32   @param score_dst  [num_dst, heads] f32
/// @return           [num_dst, heads * channels] f32
/// Ordering, Lifetime: as above.   Cost: one f32 per entry and head is kept for the backward pass, no rows; on a
/// device, of hops that are large and wide enough, 68 bytes a source and 12 an entry too.
/// Oracle: attention_reference()
at::Tensor attention(const HopView& hop, const at::Tensor& z, const at::Tensor& score_src, const at::Tensor& score_dst,
                     GradientOrder order = GradientOrder::kAny);

/// out[i, k, :] = sum of a_ijk * z_src[j, k, :] over the same j, where a is the softmax over them of
/// <att[k, :], leaky_relu(z_src[j, k, :] + z_dst[i, k, :])>, slope 0.2. Differentiable in z_src, z_dst and att.
///
/// @param z_src  [num_src, heads * channels] f32   @param z_dst  [num_dst, heads * channels] f32
/// @param att    [heads, channels] f32             @return       [num_dst, heads * channels] f32
/// Ordering, Lifetime: as above.   Cost: likewise, and there 8 bits for every four values of an entry.
/// Oracle: gatv2_reference(), attention_reference()
at::Tensor attention_v2(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst, const at::Tensor& att,
                        GradientOrder order = GradientOrder::kAny);

struct AttentionRows {
  at::Tensor query, key, value;
  at::Tensor edge{};  ///< [E, heads * channels] f32, added to the key and the value of each entry; undefined: nothing
  at::Tensor log_weight{};  ///< [E, 1] f32, added to logits, LogWeights::of_entries; undefined: nothing
};

/// Rows whose entries share a softmax.
struct SoftmaxGroups {
  at::Tensor indptr{};  ///< int32 [G + 1] over the entries; undefined: each row is a group
  at::Tensor of_row{};  ///< int32 [num_dst]
};

/// out[i, k, :] = sum of a_ijk * value[j, k, :] over the entries j of row i, 0 for an empty row, where a is the softmax
/// over them, or over all of the row's group, of <query[i, k, :], key[j, k, :]> / sqrt(channels). Differentiable in all
/// of them.
///
/// @param rows  query [num_dst, heads * channels] f32, key and value [num_src, heads * channels] f32
/// @return       [num_dst, heads * channels] f32
/// Ordering, Lifetime: as above.   Cost: five rows are made for each entry, four of them kept for the backward pass.
/// Oracle: tests/models/golden/transformer.safetensors
at::Tensor dot_attention(const HopView& hop, const AttentionRows& rows, std::int64_t heads,
                         GradientOrder order = GradientOrder::kAny, const SoftmaxGroups& groups = {});

}  // namespace salient
