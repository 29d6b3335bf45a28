// core/files/open_to_read.h - the one way in which a program opens a file that a user named, or that lies in a folder
// that a user named. The kernel's own files, in /proc and /sys, are read without it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/host/descriptor.h"

namespace salient {

struct FileToRead {
  Descriptor file{};
  std::uint64_t bytes = 0;  ///< its size now
};

/// Opens a file, and waits for nothing. A pipe, `<(...)` of a shell among them, would wait for its writer and can be
/// read once alone, where some files are read twice; a device may have no end.
/// @throws Error{kNoInput} if nothing is there; Error{kBadData} if it is a folder, a pipe, a socket or a device;
///         Error{kIo}
FileToRead open_to_read(const std::filesystem::path& path);

/// For a file that is about to be written, and may be there: a pipe would wait for its reader.
/// @throws Error{kBadData}
void refuse_pipe(const std::filesystem::path& path);

}  // namespace salient
