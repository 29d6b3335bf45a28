// models/ops/kernel_call.h - from tensors to the plain pointers and streams of models/kernels; for the operators alone.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DeviceGuard.h>

#include "models/batch_view.h"
#include "models/kernels/transpose.h"
#include "models/numerics.h"

namespace salient {

template <class T>
const T* pointer(const at::Tensor& tensor) {
  return static_cast<const T*>(tensor.const_data_ptr());
}

/// @throws Error{kInternal} unless both arrays are contiguous int32 of the hop's sizes.
HopEdges edges_of(const HopView& hop);

/// Not initialised, on like's device.
inline at::Tensor make_f32(at::IntArrayRef shape, const at::Tensor& like) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(like.device()));
}

/// The current stream of a CUDA device. @throws Error{kInternal} in a build without CUDA.
CUstream_st* current_stream(at::Device device);

/// Calls `f()` on the host, or `f(stream)` with the current stream of x's device.
template <class F>
void on_device_of(const at::Tensor& x, const F& f) {
  if (x.device().is_cpu()) return f();
  const c10::DeviceGuard guard(x.device());
  f(current_stream(x.device()));
}

/// A hop's edges by source, on the device, and the tensors that hold them.
struct EdgesBySource {
  at::Tensor indptr, destination, edge;
  SourceEdges edges;

  /// Enqueues the sort on `stream`.
  static EdgesBySource make(const HopView& hop, CUstream_st* stream);
};

/// Calls `f()` on the host, or `f(stream)` on x's device, where the stream also carries the hop's edges by source if
/// the order is fixed.
template <class F>
void on_device_backward(const at::Tensor& x, const HopView& hop, GradientOrder order, const F& f) {
  if (x.device().is_cpu()) return f();
  const c10::DeviceGuard guard(x.device());
  CUstream_st* stream = current_stream(x.device());
  if (order == GradientOrder::kAny) return f(BackwardStream(stream));
  const EdgesBySource by_source = EdgesBySource::make(hop, stream);
  f(BackwardStream(stream, by_source.edges));
}

}  // namespace salient
