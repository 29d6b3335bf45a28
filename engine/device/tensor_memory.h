// engine/device/tensor_memory.h - host memory of large tensors is used again instead of going back to the kernel.
#pragma once

namespace salient {

/// From now on LibTorch's host tensors of 1 MiB and more come from a BlockCache, for the rest of the process. A
/// training step on a CPU frees and asks for some hundred MB, and the kernel would clear each page of it in each
/// step. Settings of malloc (M_MMAP_THRESHOLD) save as much time, but its heap took up to 1.6 times the memory;
/// tbbmalloc saved nothing.
void reuse_tensor_memory();

}  // namespace salient
