// models/products/products.cpp - see products.h.
#include "models/products/products.h"

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

#include "core/error.h"
#include "models/products/split_product.h"

namespace salient {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{64} << 20;
constexpr int kProposals = 12, kTimedRuns = 4;
constexpr double kLongSeconds = 200e-6;  // runs of such a length differ by a few per cent

void check(cublasStatus_t status, Spot spot = Spot::here()) {
  require(status == CUBLAS_STATUS_SUCCESS, cublasLtGetStatusString(status), spot);
}

cudaDataType_t data_type(ActivationType type) {
  if (type == ActivationType::kF32) return CUDA_R_32F;
  return type == ActivationType::kF16 ? CUDA_R_16F : CUDA_R_16BF;
}

/// A row-major [rows, columns] matrix is a column-major [columns, rows] one.
struct Layout {
  /// @param stride  elements from one row to the next; 0 = columns
  Layout(ActivationType type, std::int64_t rows, std::int64_t columns, std::int64_t stride = 0) {
    check(cublasLtMatrixLayoutCreate(&handle, data_type(type), static_cast<std::uint64_t>(columns),
                                     static_cast<std::uint64_t>(rows), stride == 0 ? columns : stride));
  }
  ~Layout() { (void)cublasLtMatrixLayoutDestroy(handle); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;
  cublasLtMatrixLayout_t handle = nullptr;
};

}  // namespace

struct Products::Impl {
  Impl() : workspace(make_device_array<std::byte>(kWorkspaceBytes)) { check(cublasLtCreate(&handle)); }
  ~Impl() { (void)cublasLtDestroy(handle); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  cublasLtHandle_t handle = nullptr;
  DeviceArray<std::byte> workspace;
};

Products::Products() : impl_(std::make_unique<Impl>()) {}
Products::~Products() = default;

/// cuBLASLt computes column-major D = op(A) op(B); with the factors exchanged that is the row-major product.
struct Product::Impl {
  /// One of cuBLASLt's, or of split_product().
  using Algorithm = std::variant<cublasLtMatmulAlgo_t, Splitting>;

  Impl(Products::Impl& products, const ProductShape& s, const ProductMatrices& m)
      : owner(products),
        shape(s),
        matrices(m),
        first_layout(s.inputs, s.rows, s.kind == ProductKind::kForward ? s.in : s.out),
        second_layout(s.inputs, s.kind == ProductKind::kWeightGradient ? s.rows : s.out, s.in, s.weight_stride),
        result_layout(s.result, s.kind == ProductKind::kWeightGradient ? s.out : s.rows,
                      s.kind == ProductKind::kForward ? s.out : s.in) {
    const bool is_tf32 = s.inputs == ActivationType::kF32 && s.may_use_tf32;
    check(
        cublasLtMatmulDescCreate(&operation, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    if (s.kind == ProductKind::kForward)
      check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
    if (s.kind == ProductKind::kWeightGradient)
      check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &transposed, sizeof transposed));
    const cublasLtEpilogue_t relu = CUBLASLT_EPILOGUE_RELU;
    if (s.has_relu) check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &relu, sizeof relu));
  }
  ~Impl() { (void)cublasLtMatmulDescDestroy(operation); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  cublasStatus_t run_with(const Algorithm& with, const ProductMatrices& m, cudaStream_t stream) const {
    if (const auto* const splitting = std::get_if<Splitting>(&with)) {
      const std::span workspace(reinterpret_cast<float*>(owner.workspace.get()), kWorkspaceBytes / sizeof(float));
      split_product(*splitting, shape, m, workspace, stream);
      return CUBLAS_STATUS_SUCCESS;
    }
    const float one = 1, zero = 0;
    return cublasLtMatmul(owner.handle, operation, &one, m.second, second_layout.handle, m.first, first_layout.handle,
                          &zero, m.result, result_layout.handle, m.result, result_layout.handle,
                          &std::get<cublasLtMatmulAlgo_t>(with), owner.workspace.get(), kWorkspaceBytes, stream);
  }

  double seconds_of_runs(int runs, const Algorithm& candidate, cudaStream_t stream) const {
    CudaEvent begin(CudaEvent::Kind::kTiming), end(CudaEvent::Kind::kTiming);
    begin.record(stream);
    for (int i = 0; i < runs; ++i) check(run_with(candidate, matrices, stream));
    end.record(stream);
    end.wait();
    return end.seconds_since(begin) / runs;
  }

  /// Seconds of a run after one to warm up: the mean of a few, or of one that is long. Infinite if the algorithm cannot
  /// run.
  double time_of(const Algorithm& candidate, cudaStream_t stream) const {
    if (run_with(candidate, matrices, stream) != CUBLAS_STATUS_SUCCESS) return std::numeric_limits<double>::infinity();
    const double one = seconds_of_runs(1, candidate, stream);
    return one > kLongSeconds ? one : seconds_of_runs(kTimedRuns, candidate, stream);
  }

  void choose(bool is_deterministic, cudaStream_t stream) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t workspace = kWorkspaceBytes;
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                               sizeof workspace));
    std::array<cublasLtMatmulHeuristicResult_t, kProposals> proposals{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        owner.handle, operation, second_layout.handle, first_layout.handle, result_layout.handle, result_layout.handle,
        preference, kProposals, proposals.data(), &found);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    check(status);
    require(found > 0, "cuBLASLt has an algorithm for the product");
    algorithm = proposals[0].algo;
    if (is_deterministic) return;
    double best = std::numeric_limits<double>::infinity();
    const auto keep_if_faster = [&](const Algorithm& candidate) {
      const double seconds = time_of(candidate, stream);
      if (seconds < best) best = seconds, algorithm = candidate;
    };
    for (int i = 0; i < found; ++i) keep_if_faster(proposals[static_cast<std::size_t>(i)].algo);
    for (const Splitting splitting : {Splitting::kTf32x3, Splitting::kBf16x6})
      if (has_split_product(splitting, shape, matrices)) keep_if_faster(splitting);
  }

  Products::Impl& owner;
  const ProductShape shape;
  const ProductMatrices matrices;
  Layout first_layout, second_layout, result_layout;
  cublasLtMatmulDesc_t operation = nullptr;
  Algorithm algorithm;
};

Product::Product(Products& products, const ProductShape& shape, const ProductMatrices& matrices, bool is_deterministic,
                 cudaStream_t stream)
    : impl_(std::make_unique<Impl>(*products.impl_, shape, matrices)) {
  impl_->choose(is_deterministic, stream);
}
Product::~Product() = default;
Product::Product(Product&&) noexcept = default;

void Product::run(cudaStream_t stream) const { run_on(impl_->matrices, stream); }
void Product::run_on(const void* first, void* result, cudaStream_t stream) const {
  run_on({first, impl_->matrices.second, result}, stream);
}
void Product::run_on(const ProductMatrices& matrices, cudaStream_t stream) const {
  check(impl_->run_with(impl_->algorithm, matrices, stream));
}

}  // namespace salient
