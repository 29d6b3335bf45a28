// core/files/npy.h - NumPy's array files: header grammar, mapped reading, streamed writing.
//
// A header is parsed with a fixed grammar, never evaluated, and every size in it is checked before it is used.
// By hand: cnpy is not packaged, loads whole files and checks little; no library maps or streams them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/mapped_file.h"

namespace salient {

/// What the bytes in front of the data say. Structured and object types never get this far.
struct NpyHeader {
  char kind = 'f';     ///< 'b' bool, 'i' signed, 'u' unsigned, 'f' float
  int item_bytes = 4;  ///< b: 1; i, u: 1, 2, 4, 8; f: 2, 4, 8
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::vector<std::uint64_t> shape{};  ///< empty: one value, no axes
  std::size_t data_offset = 0;         ///< bytes from the magic to the first value

  std::uint64_t num_items() const;  ///< product of the shape; it and data_bytes() fit, the parser made sure
  std::uint64_t data_bytes() const { return num_items() * static_cast<std::uint64_t>(item_bytes); }
  std::string dtype() const;       ///< as NumPy writes it: "<f4", "|b1"
  std::string shape_text() const;  ///< "(5, 3)"
};

/// Longer headers are refused: NumPy's own are 128 bytes, ours 4096.
inline constexpr std::size_t kMaxNpyHeaderBytes = std::size_t{64} << 10;

/// Enough to know how long the header is.
inline constexpr std::size_t kNpyPreambleBytes = 12;

/// Bytes from the magic to the first value, read from the first kNpyPreambleBytes: for readers of streams, which fetch
/// that much and then call parse_npy_header().
/// @throws Error{kBadData} if this is not npy version 1 to 3; the message says what it looks like instead.
std::size_t npy_header_bytes(std::string_view preamble, const std::string& file);

/// @param bytes  the file from its start: at least the whole header, and any amount of data behind it.
/// @param file   named in errors.
/// @throws Error{kBadData} naming the file and the broken rule.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& file);

/// The format that the first bytes of a file are of: "gzip", "zip (npz)", "zstd", "a Git LFS pointer; ...", and others
/// that people take for arrays or tables; null for any other.
const char* known_format(std::string_view first_bytes);

/// The same for every file: a known_format(), "an empty file" or "raw data".
std::string looks_like(std::string_view first_bytes);

/// Compares an array's header with what its user needs; a dtype is spelled as in NpyHeader::dtype().
/// @throws Error{kBadData} with found and expected.
void expect_npy(const NpyHeader& header, std::string_view dtype, std::span<const std::uint64_t> shape,
                const std::string& file);

/// A mapped array file whose size is exactly what its header says.
class NpyFile {
 public:
  /// @throws Error{kNoInput}, Error{kIo} as MappedFile; Error{kBadData} for a bad header, or with the number of bytes
  ///         that are missing or too many.
  explicit NpyFile(const std::filesystem::path& path);

  const NpyHeader& header() const { return header_; }
  const std::string& name() const { return file_.name(); }
  std::span<const std::byte> data() const { return file_.bytes().subspan(header_.data_offset); }

  /// The values in place; call expect_npy() first. @throws Error{kBadData} if they are not aligned for T.
  template <class T>
  std::span<const T> items() const {
    require(sizeof(T) == static_cast<std::size_t>(header_.item_bytes), "an array is read as the type it has");
    if (header_.data_offset % alignof(T) != 0)
      fail(ErrorKind::kBadData, name() + ": data starts at byte " + std::to_string(header_.data_offset) +
                                    ", which is no multiple of " + std::to_string(alignof(T)));
    return {reinterpret_cast<const T*>(data().data()), header_.num_items()};
  }

 private:
  MappedFile file_;
  NpyHeader header_;
};

/// `count` values of any accepted dtype and byte order, converted. `raw` may have any alignment.
/// @param kind   of `header`: for convert_to_int64 'b', 'i' or 'u'; for the others any. Else Error{kInternal}.
/// @return       of convert_to_int64: u8 values above 2^63 - 1 come out negative, and so fail every range check.
void convert_to_int64(const NpyHeader& header, const std::byte* raw, std::size_t count, std::int64_t* out);
void convert_to_double(const NpyHeader& header, const std::byte* raw, std::size_t count, double* out);
void convert_to_float(const NpyHeader& header, const std::byte* raw, std::size_t count, float* out);

/// A header in our layout, 4096 bytes: version 1.0, padded with blanks. @param dtype  "<i8", "<u4", "<f2", ...
std::string npy_header(std::string_view dtype, std::span<const std::uint64_t> shape);

/// Writes one array front to back, in our layout: version 1.0, data at byte 4096.
/// @throws Error{kIo} from every member.
class NpyWriter {
 public:
  static constexpr std::size_t kDataOffset = 4096;

  /// @param dtype  "<i8", "<u4", "<f2", ...
  NpyWriter(const std::filesystem::path& path, std::string_view dtype, std::vector<std::uint64_t> shape);

  template <std::ranges::contiguous_range Values>
  void write(const Values& values) {
    file_.write(std::ranges::data(values), std::ranges::size(values) * sizeof(*std::ranges::data(values)));
  }
  FileDigest close();  ///< checks that exactly the promised bytes were written; fsyncs

 private:
  OutputFile file_;
  std::uint64_t promised_bytes_;
};

/// The same for one axis whose length shows at the end.
/// @throws Error{kIo} from every member.
class NpyAppender {
 public:
  NpyAppender(std::filesystem::path path, std::string dtype, std::size_t item_bytes);

  template <std::ranges::contiguous_range Values>
  void write(const Values& values) {
    require(sizeof(*std::ranges::data(values)) == item_bytes_, "an array has one type");
    file_.write(std::ranges::data(values), std::ranges::size(values) * item_bytes_);
  }
  FileDigest close();  ///< puts the length into the header, then reads the file once for its checksum; fsyncs

 private:
  std::filesystem::path path_;
  std::string dtype_;
  std::size_t item_bytes_;
  OutputFile file_;
};

}  // namespace salient
