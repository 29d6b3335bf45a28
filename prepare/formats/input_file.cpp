// prepare/formats/input_file.cpp - see input_file.h.
#include "prepare/formats/input_file.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/files/file_io.h"
#include "core/files/open_to_read.h"

namespace salient {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  FileToRead opened = open_to_read(path_);
  file_ = std::move(opened.file);
  size_ = opened.bytes;
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = ::pread(file_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path_, "read");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace salient
