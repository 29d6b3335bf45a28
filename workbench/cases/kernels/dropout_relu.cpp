// workbench/cases/kernels/dropout_relu.cpp - start kernel: a row a block, eight draws of one Philox block at a time.
// launch dropout_relu block=1 grid=rows
#include "workbench_kernel.h"

extern "C" void dropout_relu(WorkbenchBlock block, const float* x, const unsigned* nodes, float* out, long long rows,
                             long long columns, long long seed, long long step, long long threshold) {
  (void)rows;
  const float scale = threshold < 65536 ? 65536.0f / static_cast<float>(65536 - threshold) : 0.0f;
  for (long long first = 0; first < columns; first += 8) {
    const PhiloxWords draws = philox(static_cast<unsigned>(seed), static_cast<unsigned>(step),
                                     {{nodes[block.x], static_cast<unsigned>(first / 8), 0, 0x44524F50}});
    for (long long j = first; j < columns && j < first + 8; ++j) {
      const float value = x[block.x * columns + j];
      const long long draw = draws.word[j % 8 / 2] >> (j % 2 * 16) & 0xFFFF;
      out[block.x * columns + j] = draw >= threshold && value > 0 ? value * scale : 0.0f;
    }
  }
}
