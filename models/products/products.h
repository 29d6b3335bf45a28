// models/products/products.h - matrix products of fixed sizes by cuBLASLt, whose algorithms are timed once.
#pragma once

#include <cstdint>
#include <memory>

#include "core/cuda/cuda.h"
#include "models/products/activation_type.h"

namespace salient {

/// The three products of a linear layer z = a * w^T. Row-major matrices in device memory.
enum class ProductKind : std::uint8_t {
  kForward,         ///< z [rows, out] = a [rows, in] * w [out, in]^T
  kInputGradient,   ///< da [rows, in] = dz [rows, out] * w [out, in]
  kWeightGradient,  ///< dw [out, in] = dz [rows, out]^T * a [rows, in]
};

struct ProductShape {
  ProductKind kind;
  std::int64_t rows, in, out;
  ActivationType inputs;           ///< of both factors
  ActivationType result;           ///< sums are f32
  bool may_use_tf32;               ///< of f32 factors: rounded to tf32 by the tensor cores
  bool has_relu = false;           ///< of the result
  std::int64_t weight_stride = 0;  ///< of kForward: elements from one row of the weight to the next; 0 = in
};

/// One handle and one workspace for the products of one stream.
class Products {
 public:
  Products();
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

 private:
  friend class Product;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The factors in the order of ProductKind's equation, and the result. Device memory.
struct ProductMatrices {
  const void* first;
  const void* second;
  void* result;
};

/// One product, with the algorithm that was the fastest on the memory that it will work on, of cuBLASLt's proposals and
/// split_product().
class Product {
 public:
  /// Times the algorithms on `stream`, unless `is_deterministic`: then it takes cuBLASLt's first one, so that the bits
  /// do not depend on timing. Overwrites the result.
  ///
  /// @param products  outlives this
  /// @throws Error{kInternal} if cuBLASLt has no algorithm
  Product(Products& products, const ProductShape& shape, const ProductMatrices& matrices, bool is_deterministic,
          cudaStream_t stream);
  ~Product();
  Product(Product&&) noexcept;
  Product& operator=(Product&&) = delete;

  /// Enqueues and returns; the host allocates nothing.
  void run(cudaStream_t stream) const;
  /// Of other memory than that of the matrices, as well aligned.
  void run_on(const void* first, void* result, cudaStream_t stream) const;
  void run_on(const ProductMatrices& matrices, cudaStream_t stream) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
