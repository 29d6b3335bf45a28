// tests/support/archives.h - gzip made in memory by zlib itself, so that tests need no binary files.
#pragma once

#include <zlib.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace salient::testing {

/// @param window  MAX_WBITS + 16 = gzip, -MAX_WBITS = raw deflate
inline std::string compressed(std::string_view data, int window) {
  z_stream zlib{};
  if (deflateInit2(&zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string out(deflateBound(&zlib, data.size()), '\0');
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  zlib.avail_in = static_cast<uInt>(data.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(out.size());
  if (deflate(&zlib, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("deflate");
  out.resize(zlib.total_out);
  deflateEnd(&zlib);
  return out;
}

inline std::string gzip(std::string_view data) { return compressed(data, MAX_WBITS + 16); }
inline std::string deflated(std::string_view data) { return compressed(data, -MAX_WBITS); }

}  // namespace salient::testing
