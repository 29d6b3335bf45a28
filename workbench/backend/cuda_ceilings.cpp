// workbench/backend/cuda_ceilings.cpp - see cuda_ceilings.h.
#include "workbench/backend/cuda_ceilings.h"

#include <algorithm>

#include "workbench/backend/cuda_driver.h"

namespace salient::workbench {
namespace {

constexpr int kLaps = 50;
constexpr double kLapSeconds = 2e-3;
constexpr unsigned kFirstSteps = 64;

std::string numbered(const char* name, int from, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list.append(i == 0 ? "" : ", ").append(name) += std::to_string(from + i);
  return list + "}";
}

/// A loop of `steps` times `body` over `sums` registers %f, and a store that never happens but keeps them alive.
std::string kernel_around(const std::string& target, int sums, const std::string& setup, const std::string& body) {
  std::string text = ".version 8.0\n.target " + target + "\n.address_size 64\n";
  text += ".visible .entry salient_rate(.param .u32 steps, .param .u64 sink)\n{\n";
  text += "  .reg .pred %p<4>;\n  .reg .b32 %r<32>;\n  .reg .b64 %d<8>;\n";
  text += "  .reg .f32 %f<" + std::to_string(sums) + ">;\n  .reg .f32 %g<4>;\n";
  text += "  .shared .align 128 .b8 tile[12288];\n";
  text += "  ld.param.u32 %r0, [steps];\n  ld.param.u64 %d0, [sink];\n  mov.u32 %r1, %tid.x;\n";
  for (int i = 0; i < sums; ++i) text += "  mov.f32 %f" + std::to_string(i) + ", 0f3F000000;\n";
  text += setup + "LOOP:\n" + body;
  text += "  sub.u32 %r0, %r0, 1;\n  setp.ne.u32 %p1, %r0, 0;\n  @%p1 bra LOOP;\n  mov.f32 %g0, 0f00000000;\n";
  for (int i = 0; i < sums; ++i) text += "  add.f32 %g0, %g0, %f" + std::to_string(i) + ";\n";
  return text + "  setp.neu.f32 %p2, %g0, 0f41234567;\n  @%p2 bra END;\n  st.global.f32 [%d0], %g0;\nEND:\n  ret;\n}\n";
}

/// Two numbers of bf16 in [0.5, 1) in each word; as one of tf32 it is there, too.
constexpr const char* kMixedWord = "  and.b32 %r3, %r3, 0x007F007F;\n  or.b32 %r3, %r3, 0x3F003F00;\n";

RateKernel f32_kernel() {
  constexpr int kSums = 24, kUnroll = 10;
  std::string body;
  for (int u = 0; u < kUnroll; ++u)
    for (int i = 0; i < kSums; ++i) {
      const std::string f = "%f" + std::to_string(i);
      body.append("  fma.rn.f32 ").append(f).append(", ").append(f).append(", %g1, %g2;\n");
    }
  const std::string setup = "  mov.f32 %g1, 0f3F7FFFEF;\n  mov.f32 %g2, 0f358637BD;\n";
  return {kernel_around("sm_80", kSums, setup, body), 512, 2, 512.0 * 2 * kSums * kUnroll};
}

/// Warp groups of four warps multiply [64, k] by [k, 256] from shared memory, 16 products a step.
RateKernel wgmma_kernel(bool is_bf16) {
  constexpr int kSums = 128, kProducts = 16;
  // 3072 words in no swizzled layout: 8 rows of 16 bytes are 128 bytes, the next k 128 bytes and the next rows 256 on.
  std::string setup = "  mov.u32 %r5, tile;\n  mov.u32 %r2, %r1;\nFILL:\n  mul.lo.u32 %r3, %r2, 0x9E3779B1;\n";
  setup += std::string(kMixedWord) + "  shl.b32 %r4, %r2, 2;\n  add.u32 %r4, %r4, %r5;\n  st.shared.u32 [%r4], %r3;\n";
  setup += "  add.u32 %r2, %r2, 256;\n  setp.lt.u32 %p1, %r2, 3072;\n  @%p1 bra FILL;\n  bar.sync 0;\n";
  setup += "  fence.proxy.async;\n  shr.u32 %r6, %r5, 4;\n  and.b32 %r6, %r6, 0x3FFF;\n  cvt.u64.u32 %d1, %r6;\n";
  setup += "  or.b64 %d1, %d1, 0x0000001000080000;\n  add.u64 %d2, %d1, 128;\n  setp.eq.u32 %p3, %r5, %r5;\n";
  const std::string shape = is_bf16 ? "m64n256k16.f32.bf16.bf16 " : "m64n256k8.f32.tf32.tf32 ";
  const std::string product = "  wgmma.mma_async.sync.aligned." + shape + numbered("%f", 0, kSums) +
                              ", %d1, %d2, %p3, 1, 1" + (is_bf16 ? ", 0, 0;\n" : ";\n");
  std::string body = "  wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < kProducts; ++i) body += product;
  body += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n";
  const double of_product = 2.0 * 64 * 256 * (is_bf16 ? 16 : 8);
  return {kernel_around("sm_90a", kSums, setup, body), 256, 1, 2 * kProducts * of_product};
}

/// Warps multiply [16, k] by [k, 8] in registers, eight independent sums.
RateKernel mma_kernel(bool is_bf16) {
  constexpr int kProducts = 8, kUnroll = 4;
  std::string setup = "  mul.lo.u32 %r3, %r1, 0x9E3779B1;\n" + std::string(kMixedWord);
  for (int i = 8; i < 14; ++i) setup += "  add.u32 %r" + std::to_string(i) + ", %r3, " + std::to_string(i) + ";\n";
  const std::string shape = is_bf16 ? "m16n8k16.row.col.f32.bf16.bf16.f32 " : "m16n8k8.row.col.f32.tf32.tf32.f32 ";
  std::string body;
  for (int u = 0; u < kUnroll; ++u)
    for (int i = 0; i < kProducts; ++i) {
      const std::string sums = numbered("%f", 4 * i, 4);
      body += "  mma.sync.aligned." + shape + sums + ", " + numbered("%r", 8, 4) + ", " + numbered("%r", 12, 2) + ", " +
              sums + ";\n";
    }
  const double of_product = 2.0 * 16 * 8 * (is_bf16 ? 16 : 8);
  return {kernel_around("sm_80", 4 * kProducts, setup, body), 256, 2, 8 * kUnroll * kProducts * of_product};
}

double rate_of(const RateKernel& kernel, int multiprocessors) {
  const CudaDriver& d = cuda_driver();
  const char* const action = "measuring arithmetic";
  CudaModule module = nullptr;
  CudaFunction function = nullptr;
  CudaStreamHandle stream = nullptr;
  CudaEventHandle start = nullptr, end = nullptr;
  CudaPointer sink = 0;
  driver_check(d.module_load(&module, kernel.ptx.c_str()), action);
  driver_check(d.module_function(&function, module, "salient_rate"), action);
  driver_check(d.stream_create(&stream, 0), action);
  driver_check(d.event_create(&start, 0), action);
  driver_check(d.event_create(&end, 0), action);
  driver_check(d.allocate(&sink, 256), action);
  const unsigned blocks = kernel.blocks * static_cast<unsigned>(multiprocessors);
  double best = 0;
  unsigned steps = kFirstSteps;
  for (int lap = 0; lap < kLaps; ++lap) {
    void* parameters[] = {&steps, &sink};
    driver_check(d.event_record(start, stream), action);
    driver_check(d.launch(function, blocks, 1, 1, kernel.threads, 1, 1, 0, stream, parameters, nullptr), action);
    driver_check(d.event_record(end, stream), action);
    driver_check(d.event_wait(end), action);
    float milliseconds = 0;
    driver_check(d.event_elapsed(&milliseconds, start, end), action);
    const double seconds = std::max(1e-6, double{milliseconds} * 1e-3);
    best = std::max(best, kernel.operations * blocks * steps / seconds);
    steps = static_cast<unsigned>(std::clamp(steps * kLapSeconds / seconds, 64.0, 1e6));
  }
  return best;
}

}  // namespace

RateKernel rate_kernel(Arithmetic arithmetic, int major) {
  if (arithmetic == Arithmetic::kF32) return f32_kernel();
  const bool is_bf16 = arithmetic == Arithmetic::kBf16Tensor;
  return major == 9 ? wgmma_kernel(is_bf16) : mma_kernel(is_bf16);
}

double measure_arithmetic(Arithmetic arithmetic, int device) {
  const auto ask = [device](CudaAttribute which) {
    int value = 0;
    driver_check(cuda_driver().device_attribute(&value, static_cast<int>(which), device), "asking the GPU");
    return value;
  };
  const int multiprocessors = ask(CudaAttribute::kMultiprocessors), major = ask(CudaAttribute::kMajor);
  const double measured = rate_of(rate_kernel(arithmetic, major), multiprocessors);
  if (major < 10 || arithmetic == Arithmetic::kF32) return measured;
  const double of_clock = arithmetic == Arithmetic::kBf16Tensor ? 8192 : 4096;  // by a multiprocessor
  return std::max(measured, of_clock * multiprocessors * ask(CudaAttribute::kClockKilohertz) * 1e3);
}

}  // namespace salient::workbench
