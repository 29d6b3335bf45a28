// tests/support/archives.h - gzip, zip and npy files made in memory, in every dialect met in the wild.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace salient::test {

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

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}
inline std::string u16(std::size_t value) { return little_endian(static_cast<std::uint16_t>(value)); }
inline std::string u32(std::size_t value) { return little_endian(static_cast<std::uint32_t>(value)); }
inline std::string u64(std::size_t value) { return little_endian(static_cast<std::uint64_t>(value)); }

struct ZipEntry {
  std::string name{};
  std::string data{};
};

struct ZipStyle {
  int method = 8;                                                  ///< 0 stored, 8 deflated
  enum { kPlain, kNumpy, kOldNumpy, kDescriptor } local = kPlain;  ///< what local headers say about sizes
  bool zip64_entries = false;  ///< the directory's sizes and offsets are 0xFFFFFFFF, an extra has them
  bool zip64_end = false;
  std::string comment{};
};

inline std::string zip_local_header(const ZipEntry& entry, const ZipStyle& style, const std::string& packed) {
  const std::size_t crc =
      crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()), static_cast<uInt>(entry.data.size()));
  const bool has_extra = style.local == ZipStyle::kNumpy || style.local == ZipStyle::kOldNumpy;
  const bool is_later = style.local == ZipStyle::kDescriptor;
  const std::size_t hidden = style.local == ZipStyle::kNumpy ? 0xFFFFFFFF : 0;
  const std::string extra = has_extra ? u16(1) + u16(16) + u64(entry.data.size()) + u64(packed.size()) : "";
  return "PK\3\4" + u16(45) + u16(is_later ? 8 : 0) + u16(static_cast<std::size_t>(style.method)) + u32(0) +
         u32(is_later ? 0 : crc) +
         u32(is_later ? 0
             : hidden ? hidden
                      : packed.size()) +
         u32(is_later ? 0
             : hidden ? hidden
                      : entry.data.size()) +
         u16(entry.name.size()) + u16(extra.size()) + entry.name + extra;
}

inline std::string zip(const std::vector<ZipEntry>& entries, const ZipStyle& style = {}) {
  std::string out, directory;
  for (const ZipEntry& entry : entries) {
    const std::string packed = style.method == 8 ? deflated(entry.data) : entry.data;
    const std::size_t offset = out.size();
    const std::size_t crc =
        crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()), static_cast<uInt>(entry.data.size()));
    const bool is_later = style.local == ZipStyle::kDescriptor;
    out += zip_local_header(entry, style, packed) + packed;
    if (is_later) out += "PK\7\b" + u32(crc) + u32(packed.size()) + u32(entry.data.size());
    const auto field = [&](std::size_t value) { return u32(style.zip64_entries ? 0xFFFFFFFF : value); };
    const std::string extra = style.zip64_entries
                                  ? u16(0x7075) + u16(3) + "abc" +  // someone else's field comes first
                                        u16(1) + u16(24) + u64(entry.data.size()) + u64(packed.size()) + u64(offset)
                                  : "";
    directory += "PK\1\2" + u16(45) + u16(45) + u16(is_later ? 8 : 0) + u16(static_cast<std::size_t>(style.method)) +
                 u32(0) + u32(crc) + field(packed.size()) + field(entry.data.size()) + u16(entry.name.size()) +
                 u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) + field(offset) + entry.name + extra;
  }
  const std::size_t offset = out.size(), count = entries.size();
  out += directory;
  if (style.zip64_end)
    out += "PK\6\6" + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(count) + u64(count) + u64(directory.size()) +
           u64(offset) + "PK\6\7" + u32(0) + u64(offset + directory.size()) + u32(1);
  return out + "PK\5\6" + u16(0) + u16(0) + u16(style.zip64_end ? 0xFFFF : count) +
         u16(style.zip64_end ? 0xFFFF : count) + u32(style.zip64_end ? 0xFFFFFFFF : directory.size()) +
         u32(style.zip64_end ? 0xFFFFFFFF : offset) + u16(style.comment.size()) + style.comment;
}

/// @param shape  as in the header: "(2, 3)"
inline std::string npy(const std::string& dtype, const std::string& shape, std::string_view data,
                       bool is_fortran_order = false) {
  std::string header = "{'descr': '" + dtype + "', 'fortran_order': " + (is_fortran_order ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ').append("\n");
  return std::string("\x93NUMPY\1\0", 8) + u16(header.size()) + header + std::string(data);
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace salient::test
