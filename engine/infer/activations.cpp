// engine/infer/activations.cpp - see activations.h.
#include "engine/infer/activations.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/half.h"
#include "engine/comm/host_share.h"
#include "engine/infer/host_matrix.h"

namespace salient {
namespace {

constexpr std::size_t kExchangedAtOnce = std::size_t{1} << 22;  // floats: 16 MB are sent at a time

at::TensorOptions f32_on(at::Device device) { return at::TensorOptions(device).dtype(at::kFloat); }

std::span<float> values_of(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

std::vector<int> first_ranks_on_hosts(Communicator& comm, const Launch& launch) {
  std::vector<int> first_on_host_of;
  for (const std::string& first : gather_on_all(comm, std::to_string(launch.first_on_host)))
    first_on_host_of.push_back(std::stoi(first));
  return first_on_host_of;
}

/// Infinite results may end as plausible predictions: ReLU makes zeros of products with them.
void require_range_of_f16(const at::Tensor& rows) {
  const auto [least, most] = at::aminmax(rows);
  if (least.item<float>() < -kHalfMax || most.item<float>() > kHalfMax)
    fail(ErrorKind::kUsage, "exact inference keeps layers' results in f16, and some are beyond its range of 65504",
         Topic::kHalfRange);
}

class DeviceActivations final : public Activations {
 public:
  /// Rows of other ranks are 0 until complete() adds them.
  DeviceActivations(const ActivationSpec& spec, const ComputeDevice& device, Communicator& comm)
      : device_(device),
        comm_(comm),
        values_(at::zeros({static_cast<std::int64_t>(spec.rows), static_cast<std::int64_t>(spec.width)},
                          f32_on(device.torch_device()))) {}

  void put(std::size_t first, const at::Tensor& rows) override {
    values_.narrow(0, static_cast<std::int64_t>(first), rows.size(0)).copy_(rows);
  }

  void complete(std::span<const RowBlock>) override {
    const std::span<float> all = values_of(values_);
    for (std::size_t at = 0; at < all.size() && comm_.size() > 1; at += kExchangedAtOnce)
      comm_.all_reduce_sum(all.subspan(at, std::min(kExchangedAtOnce, all.size() - at)), device_.stream());
    device_.wait();
  }

  at::Tensor rows(std::size_t first, std::size_t count) const override {
    return values_.narrow(0, static_cast<std::int64_t>(first), static_cast<std::int64_t>(count));
  }

  RowTable table() const override {
    return {static_cast<const std::byte*>(values_.const_data_ptr()), static_cast<std::size_t>(values_.size(0)),
            static_cast<std::size_t>(values_.size(1)) * sizeof(float)};
  }

 private:
  const ComputeDevice device_;
  Communicator& comm_;
  at::Tensor values_;
};

/// The ranks of a host write into one matrix; hosts exchange rows in complete().
class HostActivations final : public Activations {
 public:
  HostActivations(const ActivationSpec& spec, const ComputeDevice& device, Communicator& comm, const Launch& launch)
      : device_(device),
        comm_(comm),
        first_on_host_of_(first_ranks_on_hosts(comm, launch)),
        type_(spec.type),
        width_(static_cast<std::int64_t>(spec.width)),
        matrix_({.rows = spec.rows,
                 .row_bytes = spec.width * size_of(feature_type_of(spec.type)),
                 .scratch = spec.storage == ActivationStorage::kFile ? std::optional(spec.scratch) : std::nullopt},
                comm, launch) {}

  void put(std::size_t first, const at::Tensor& rows) override {
    if (type_ == ActivationDtype::kF16 && rows.numel() > 0) require_range_of_f16(rows);
    host_rows(first, static_cast<std::size_t>(rows.size(0))).copy_(rows);  // waits for the device
  }

  void complete(std::span<const RowBlock> blocks) override {
    comm_.barrier();
    if (!std::ranges::all_of(first_on_host_of_, [&](int first) { return first == first_on_host_of_[0]; })) {
      const std::size_t step = std::max<std::size_t>(1, kExchangedAtOnce / static_cast<std::size_t>(width_));
      for (std::size_t first = 0; first < matrix_.rows(); first += step)
        exchange(blocks, first, std::min(first + step, matrix_.rows()));
      comm_.barrier();
    }
    has_paged_table_ = matrix_.end_writing();
  }

  at::Tensor rows(std::size_t first, std::size_t count) const override {
    matrix_.will_read(first, count);
    return host_rows(first, count).to(device_.torch_device(), at::kFloat);
  }

  RowTable table() const override { return {matrix_.row(0), matrix_.rows(), matrix_.row_bytes()}; }

  bool has_paged_table() const override { return has_paged_table_; }

 private:
  at::Tensor host_rows(std::size_t first, std::size_t count) const {
    return at::from_blob(matrix_.row(first), {static_cast<std::int64_t>(count), width_},
                         at::TensorOptions(at::kCPU).dtype(type_ == ActivationDtype::kF16 ? at::kHalf : at::kFloat));
  }

  /// Sums up rows [first, last) over the ranks, each of which has 0 where it computed nothing. The first rank of each
  /// host stores the rows of other hosts. f16 travels as f32, which holds its numbers exactly.
  void exchange(std::span<const RowBlock> blocks, std::size_t first, std::size_t last) {
    const auto rank = static_cast<std::size_t>(comm_.rank()), size = static_cast<std::size_t>(comm_.size());
    const at::Tensor values = at::zeros({static_cast<std::int64_t>(last - first), width_}, f32_on(at::kCPU));
    const auto for_each_part = [&](auto&& visit) {  // visit(rank that computed it, rows of the matrix, their values)
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        const std::size_t from = std::max(blocks[b].begin, first),
                          to = std::min(blocks[b].begin + blocks[b].count, last);
        if (from < to)
          visit(b % size, host_rows(from, to - from),
                values.narrow(0, static_cast<std::int64_t>(from - first), static_cast<std::int64_t>(to - from)));
      }
    };
    matrix_.will_read(first, last - first);
    for_each_part([&](std::size_t owner, const at::Tensor& rows, const at::Tensor& part) {
      if (owner == rank) part.copy_(rows);
    });
    const at::Tensor sent = values.to(device_.torch_device());
    comm_.all_reduce_sum(values_of(sent), device_.stream());
    if (device_.is_cuda()) values.copy_(sent);
    if (first_on_host_of_[rank] != static_cast<int>(rank)) return;
    for_each_part([&](std::size_t owner, const at::Tensor& rows, const at::Tensor& part) {
      if (first_on_host_of_[owner] != first_on_host_of_[rank]) rows.copy_(part);
    });
  }

  const ComputeDevice device_;
  Communicator& comm_;
  const std::vector<int> first_on_host_of_;  // [ranks] equal for the ranks of a host
  const ActivationDtype type_;
  const std::int64_t width_;
  HostMatrix matrix_;
  bool has_paged_table_ = false;
};

}  // namespace

std::string to_text(ActivationStorage storage) {
  switch (storage) {
    case ActivationStorage::kDevice: return "GPU memory";
    case ActivationStorage::kMemory: return "host memory";
    case ActivationStorage::kFile: return "a mapped scratch file";
  }
  return "";
}

std::unique_ptr<Activations> make_activations(const ActivationSpec& spec, const ComputeDevice& device,
                                              Communicator& comm, const Launch& launch) {
  if (spec.storage == ActivationStorage::kDevice) return std::make_unique<DeviceActivations>(spec, device, comm);
  return std::make_unique<HostActivations>(spec, device, comm, launch);
}

}  // namespace salient
