// loaders/device_upload.h - copies a large array from host memory, such as a file mapping, to the GPU.
#pragma once

#include <cstddef>
#include <functional>

namespace salient {

/// Copies through pinned memory that all cores fill, to the current device. Blocks until done; shows progress.
///
/// @param what  names the array in the progress bar
/// @param from  [bytes] host
/// @param to    [bytes] device
void upload(const char* what, const std::byte* from, std::size_t bytes, std::byte* to);

/// The same of items that are put together on the way.
///
/// @param item_bytes  at most 64 MiB
/// @param write       (first, count, out) writes items to [count * item_bytes]; on many threads at a time
/// @param to          [num_items * item_bytes] device
void upload(const char* what, std::size_t num_items, std::size_t item_bytes,
            const std::function<void(std::size_t, std::size_t, std::byte*)>& write, std::byte* to);

}  // namespace salient
