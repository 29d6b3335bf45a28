// prepare/formats/inflate_stream.cpp - zlib in a loop; gzip members one after another
#include "prepare/formats/inflate_stream.h"

#include <algorithm>
#include <limits>
#include <new>

#include "core/error.h"

namespace salient {

namespace {
constexpr std::size_t kInputBlock = std::size_t{256} << 10;
}

InflateStream::InflateStream(const InputFile& file, std::uint64_t begin, std::uint64_t length, Encoding encoding)
    : file_(file), begin_(begin), end_(begin + length), next_(begin), encoding_(encoding) {
  require(length <= std::numeric_limits<std::uint64_t>::max() - begin, "the range does not wrap around");
  if (encoding_ == Encoding::kStored) return;
  input_.resize(static_cast<std::size_t>(std::clamp<std::uint64_t>(length, 1, kInputBlock)));
  const int window = encoding_ == Encoding::kGzip ? MAX_WBITS + 16 : -MAX_WBITS;
  if (inflateInit2(&zlib_, window) != Z_OK) throw std::bad_alloc();
}

InflateStream::~InflateStream() {
  if (encoding_ != Encoding::kStored) inflateEnd(&zlib_);
}

std::size_t InflateStream::read(std::span<std::byte> out) {
  if (encoding_ == Encoding::kStored) return read_stored(out);
  std::size_t done = 0;
  while (done < out.size() && !finished_) {
    if (zlib_.avail_in == 0 && !refill()) fail_here("the compressed data end early; is the download complete?");
    const std::size_t room = std::min<std::size_t>(out.size() - done, std::numeric_limits<uInt>::max());
    zlib_.next_out = reinterpret_cast<Bytef*>(out.data() + done);
    zlib_.avail_out = static_cast<uInt>(room);
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    done += room - zlib_.avail_out;
    if (status == Z_STREAM_END) {
      end_member();
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {  // Z_BUF_ERROR: wants more input, which it gets above
      if (!inside_member_) fail_here("other data follow the gzip data");
      fail_here(std::string("the compressed data are damaged (zlib: ") + (zlib_.msg ? zlib_.msg : "no reason") + ")");
    }
    if (zlib_.total_out > 0) inside_member_ = true;
  }
  return done;
}

std::size_t InflateStream::read_stored(std::span<std::byte> out) {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end_ - next_));
  const std::size_t got = file_.read_at(next_, out.first(wanted));
  next_ += got;
  if (got < wanted) fail_here("the data end early; is the download complete?");
  return got;
}

bool InflateStream::refill() {
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), end_ - next_));
  const std::size_t got = file_.read_at(next_, std::span(input_).first(wanted));
  next_ += got;
  zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
  zlib_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

void InflateStream::end_member() {
  const bool has_more = zlib_.avail_in > 0 || refill();
  if (!has_more) {
    finished_ = true;
  } else if (encoding_ == Encoding::kGzip) {
    inflateReset(&zlib_);
    inside_member_ = false;
  } else {
    fail_here("other data follow the compressed data");
  }
}

void InflateStream::fail_here(const std::string& what) const {
  fail(ErrorKind::kBadData, file_.path().string() + ": byte " + std::to_string(next_ - zlib_.avail_in) + ": " + what);
}

}  // namespace salient
