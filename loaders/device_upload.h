// loaders/device_upload.h - copies a large array from host memory, such as a file mapping, to the GPU.
#pragma once

#include <cstddef>

namespace salient {

/// Copies through pinned memory that all cores fill, to the current device. Blocks until done; shows progress.
///
/// @param what  names the array in the progress bar
/// @param from  [bytes] host
/// @param to    [bytes] device
void upload(const char* what, const std::byte* from, std::size_t bytes, std::byte* to);

}  // namespace salient
