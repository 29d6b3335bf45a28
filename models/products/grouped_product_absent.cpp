// models/products/grouped_product_absent.cpp - takes the place of grouped_product.cu in a build without CUDA.
#include "core/error.h"
#include "models/products/grouped_product.h"

namespace salient {
namespace {

[[noreturn]] void refuse() { fail(ErrorKind::kInternal, "a kernel of the device in a build without CUDA"); }

}  // namespace

bool has_grouped_product(const GroupedShape&, const GroupedWeight&) { return false; }
void grouped_product(const GroupedShape&, const float*, const GroupedWeight&, float*, bool, CUstream_st*) { refuse(); }
void grouped_weight_gradient(const GroupedShape&, const GroupedFactors&, float*, float*, bool, CUstream_st*) {
  refuse();
}
std::int64_t grouped_gradient_workspace(const GroupedShape&) { refuse(); }

}  // namespace salient
