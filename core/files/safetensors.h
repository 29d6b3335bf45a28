// core/files/safetensors.h - named arrays in one file, the format that Python's safetensors and PyG users read.
//
//   u64 n | n bytes of JSON: {"__metadata__": {...}, NAME: {"dtype", "shape", "data_offsets": [begin, end]}} | data
//
// By hand: no package of the distributions has a library for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/file_io.h"
#include "core/files/mapped_file.h"

namespace salient {

enum class TensorType : std::uint8_t { kF64, kF32, kF16, kBF16, kI64, kI32, kU8, kBool };

std::string_view name_of(TensorType type);  ///< as in the file: "F32"
std::size_t size_of(TensorType type);

/// One array, C order. Borrows its bytes, which may start at any address.
struct TensorInfo {
  std::string name{};
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape{};  ///< [] is a scalar
  std::span<const std::byte> bytes{};
};

using TensorMetadata = std::map<std::string, std::string>;

/// A new file with these arrays in this order, fsynced. Equal inputs give equal bytes.
///
/// @throws Error{kIo}; Error{kInternal} if a name is used twice, or bytes do not fit a shape.
FileDigest write_safetensors(const std::filesystem::path& path, std::span<const TensorInfo> tensors,
                             const TensorMetadata& metadata);

/// What a safetensors file holds, in the order of its data. Borrows the bytes that were parsed.
struct SafetensorsView {
  std::vector<TensorInfo> tensors{};
  TensorMetadata metadata{};

  const TensorInfo* find(std::string_view name) const;  ///< nullptr if there is none
};

/// Reads strictly: every byte belongs to exactly one array, and nothing is allocated for a size before it is checked.
///
/// @param file  named in errors
/// @throws Error{kBadData} "FILE: tensor NAME: rule" for a header over 100 MB or past the end, text that is not JSON, a
///         field that is missing, unknown or of the wrong type, a name used twice, a shape that does not match its
///         bytes, and a hole, an overlap or a rest in the data.
SafetensorsView parse_safetensors(std::span<const std::byte> bytes, const std::string& file);

/// The same for a file, whose mapping it owns. @throws Error{kNoInput}, Error{kIo}, and as above.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  const SafetensorsView& view() const { return view_; }
  const std::string& name() const { return file_.name(); }

 private:
  MappedFile file_;
  SafetensorsView view_;
};

}  // namespace salient
