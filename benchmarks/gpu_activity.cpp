// benchmarks/gpu_activity.cpp - see gpu_activity.h. CUPTI's activity records, summed as its buffers come back.
#include "benchmarks/gpu_activity.h"

#include <cupti.h>
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace salient {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::array kKinds{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET};

struct Sum {
  std::int64_t launches = 0;
  std::uint64_t nanoseconds = 0;
};

std::mutex g_mutex;
std::map<std::string, Sum> g_sums;  // CUPTI's callbacks carry no pointer of ours

void add(const std::string& name, std::uint64_t start, std::uint64_t end) {
  const std::lock_guard lock(g_mutex);
  Sum& sum = g_sums[name];
  ++sum.launches;
  sum.nanoseconds += end - start;
}

void CUPTIAPI lend_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
      add("copy", copy->start, copy->end);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto* fill = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      add("fill", fill->start, fill->end);
    } else {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      add(kernel->name, kernel->start, kernel->end);
    }
  }
  std::free(buffer);
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

}  // namespace

GpuActivity::GpuActivity() {
  g_sums.clear();
  is_on_ = cuptiActivityRegisterCallbacks(lend_buffer, take_buffer) == CUPTI_SUCCESS;
  for (const CUpti_ActivityKind kind : kKinds) is_on_ = is_on_ && cuptiActivityEnable(kind) == CUPTI_SUCCESS;
}

GpuActivity::~GpuActivity() {
  for (const CUpti_ActivityKind kind : kKinds) (void)cuptiActivityDisable(kind);
  (void)cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  (void)cuptiFinalize();  // else a later CUDA graph's kernels get the names of an earlier one's
}

std::vector<GpuActivity::Total> GpuActivity::totals() {
  if (!is_on_ || cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != CUPTI_SUCCESS) return {};
  const std::lock_guard lock(g_mutex);
  std::vector<Total> totals;
  for (const auto& [name, sum] : g_sums)
    totals.push_back({demangled(name), sum.launches, static_cast<double>(sum.nanoseconds) * 1e-9});
  std::ranges::sort(totals, std::greater(), &Total::seconds);
  return totals;
}

}  // namespace salient
