// core/files/file_io.cpp - see file_io.h.
#include "core/files/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/files/open_to_read.h"

namespace salient {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::string errno_text(const std::filesystem::path& path, std::string_view action) {
  const int code = errno;
  std::string text = path.string();
  return text.append(": cannot ").append(action).append(": ").append(std::generic_category().message(code));
}

/// Bytes read, 0 at the end.
std::size_t read_some(const std::filesystem::path& path, const Descriptor& file, void* out, std::size_t size) {
  while (true) {
    const ssize_t got = read(file.get(), out, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) fail_with_errno(path, "read");
  }
}

using HashState = std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)>;

HashState new_hash() {
  HashState state(XXH3_createState(), &XXH3_freeState);
  if (state == nullptr) throw std::bad_alloc();
  (void)XXH3_64bits_reset(state.get());
  return state;
}

}  // namespace

std::string to_hex(std::uint64_t value) {
  char text[17];
  (void)std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

void fail_with_errno(const std::filesystem::path& path, std::string_view action) {
  fail(ErrorKind::kIo, errno_text(path, action));
}

void fail_to_open(const std::filesystem::path& path) {
  const bool is_missing = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
  fail(is_missing ? ErrorKind::kNoInput : ErrorKind::kIo, errno_text(path, "open"));
}

std::string read_text_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const FileToRead opened = open_to_read(path);
  const auto check = [&](std::uint64_t bytes) {
    if (bytes > max_bytes)
      fail(ErrorKind::kBadData, path.string() + ": larger than " + std::to_string(max_bytes) + " bytes");
  };
  check(opened.bytes);
  std::string text;
  char block[1 << 14];
  while (const std::size_t got = read_some(path, opened.file, block, sizeof block)) {
    text.append(block, got);
    check(text.size());
  }
  return text;
}

FileDigest digest_of(std::span<const std::byte> bytes) {
  return {bytes.size(), XXH3_64bits(bytes.data(), bytes.size())};
}

FileDigest digest_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const FileToRead opened = open_to_read(path);
  if (opened.bytes > max_bytes) return {opened.bytes, 0};
  const HashState hash = new_hash();
  std::vector<std::byte> block(kBufferBytes);
  FileDigest digest;
  while (digest.bytes < opened.bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(block.size(), opened.bytes - digest.bytes);
    const std::size_t got = read_some(path, opened.file, block.data(), wanted);
    if (got == 0) break;  // it has become shorter
    (void)XXH3_64bits_update(hash.get(), block.data(), got);
    digest.bytes += got;
  }
  digest.xxh3 = XXH3_64bits_digest(hash.get());
  return digest;
}

void fsync_directory(const std::filesystem::path& directory) {
  const Descriptor folder(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) fail_with_errno(directory, "open");
  const bool ok = fsync(folder.get()) == 0 || errno == EINVAL;  // some network file systems cannot sync a folder
  if (!ok) fail_with_errno(directory, "fsync");
}

void write_all(const std::filesystem::path& path, const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_with_errno(path, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void overwrite_start(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) fail_with_errno(path, "open");
  const bool is_written = pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  if (!is_written || fsync(file.get()) != 0) fail_with_errno(path, "write");
}

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path), buffer_(kBufferBytes) {
  HashState hash = new_hash();
  file_ = Descriptor(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file_) fail_with_errno(path, "create");
  hash_ = hash.release();
}

OutputFile::~OutputFile() { (void)XXH3_freeState(hash_); }

void OutputFile::write(const void* data, std::size_t size) {
  require(bool(file_), "an output file is written before it is closed");
  (void)XXH3_64bits_update(hash_, data, size);
  bytes_ += size;
  const auto* from = static_cast<const std::byte*>(data);
  if (size < buffer_.size() - buffered_) {
    if (size > 0) std::memcpy(buffer_.data() + buffered_, from, size);
    buffered_ += size;
    return;
  }
  flush();
  write_all(path_, file_, {from, size});
}

void OutputFile::flush() { write_all(path_, file_, std::span(buffer_).first(std::exchange(buffered_, 0))); }

FileDigest OutputFile::close() {
  require(bool(file_), "an output file is closed once");
  flush();
  if (fsync(file_.get()) != 0) fail_with_errno(path_, "fsync");
  if (!file_.close()) fail_with_errno(path_, "close");
  return {bytes_, XXH3_64bits_digest(hash_)};
}

FileDigest write_text_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  return file.close();
}

}  // namespace salient
