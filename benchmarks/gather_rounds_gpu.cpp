// benchmarks/gather_rounds_gpu.cpp - see gather_rounds.h.
#include "benchmarks/gather_rounds.h"

#include "core/cuda/cuda.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

template <class T>
DeviceArray<T> on_gpu(const T* from, std::size_t count, const char* what) {
  DeviceArray<T> array = make_device_array<T>(count, what);
  cuda_check(cudaMemcpy(array.get(), from, count * sizeof(T), cudaMemcpyHostToDevice));
  return array;
}

template <class Work>
double gpu_seconds(const CudaStream& stream, Work&& work) {
  CudaEvent begin(CudaEvent::Kind::kTiming), end(CudaEvent::Kind::kTiming);
  begin.record(stream.get());
  work();
  end.record(stream.get());
  end.wait();
  return end.seconds_since(begin);
}

}  // namespace

GpuGatherRates gather_on_gpu(RowTable table, std::span<const std::vector<NodeId>> calls, int rounds) {
  const CudaStream stream;
  const std::size_t rows = calls.front().size(), out_bytes = rows * table.row_bytes;
  const auto data = on_gpu(table.data, table.num_rows * table.row_bytes, "the rows");
  std::vector<DeviceArray<NodeId>> lists;
  for (const std::vector<NodeId>& call : calls) lists.push_back(on_gpu(call.data(), rows, "lists of rows"));
  const auto out = make_device_array<std::byte>(out_bytes, "gathered rows");
  const auto other = make_device_array<std::byte>(out_bytes, "a copy of them");
  RowTable on_device = table;
  on_device.data = data.get();

  const double round_bytes = static_cast<double>(out_bytes) * static_cast<double>(calls.size());
  GpuGatherRates rates;
  for (int round = -1; round < rounds; ++round) {  // the first one is a warm-up
    const double copy = gpu_seconds(stream, [&] {
      for (std::size_t call = 0; call < calls.size(); ++call)
        cuda_check(cudaMemcpyAsync(other.get(), out.get(), out_bytes, cudaMemcpyDeviceToDevice, stream.get()));
    });
    const double gather = gpu_seconds(stream, [&] {
      for (const auto& list : lists) gather_rows(on_device, {}, list.get(), rows, out.get(), stream.get());
    });
    if (round < 0) continue;
    rates.copy.push_back(round_bytes / copy);
    rates.gather.push_back(round_bytes / gather);
  }
  std::vector<std::byte> found(out_bytes), expected(out_bytes);
  cuda_check(cudaMemcpy(found.data(), out.get(), out_bytes, cudaMemcpyDeviceToHost));
  gather_rows_reference(table, calls.back().data(), rows, expected.data());
  require(found == expected, "equal to the reference");
  return rates;
}

}  // namespace salient
