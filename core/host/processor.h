// core/host/processor.h - what the processor at hand can compute.
#pragma once

namespace salient {

/// It multiplies bfloat16 matrices by instructions of its own, AVX-512 BF16 or AMX, at least twice as fast as f32.
bool has_bf16_products();

}  // namespace salient
