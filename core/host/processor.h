// core/host/processor.h - what the processor at hand can compute.
#pragma once

namespace salient {

/// It multiplies bfloat16 matrices by AVX-512 BF16, as all processors with AMX do, at least twice as fast as f32.
bool has_bf16_products();

}  // namespace salient
