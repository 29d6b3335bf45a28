// prepare/formats/array_dict.h - named arrays in a file of torch.save, as OGB's link splits are, or in an .npz.
//
// By hand: a pickle is a program, and Python's own reader runs whatever it names. Here it makes lists, dictionaries and
// NumPy arrays, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/npy.h"

namespace salient {

/// A dictionary whose values are NumPy arrays of numbers or lists of text.
///
/// NAME.pt: of torch.save, zip or the form before it, of pickle protocol 2 to 4, mapped. NAME.npz: as npz_reader.h; it
/// holds no lists.
class ArrayDict {
 public:
  /// @throws Error{kNoInput}, Error{kIo}; Error{kBadData} for what is neither, and for a pickle of anything else
  explicit ArrayDict(const std::filesystem::path& path);
  ~ArrayDict();
  ArrayDict(ArrayDict&&) noexcept;

  const std::string& file() const { return file_; }
  bool has(std::string_view key) const;
  std::string keys() const;  ///< for messages: 'edge', 'edge_neg'

  /// @throws Error{kBadData} naming file and key where there is none, or no array of whole numbers
  const NpyHeader& header(std::string_view key) const;

  /// use(values, position of the first in C order) for all of an array, block after block, whole rows at a time.
  /// Memory: a block; of an array in Fortran order 8 bytes an item.
  void read(std::string_view key, const std::function<void(std::span<const std::int64_t>, std::uint64_t)>& use) const;

  /// A list of text: the number of each item in names(key), and these in the order of first sight.
  struct Words {
    std::vector<std::uint32_t> numbers{};
    std::vector<std::string> names{};
  };
  Words words(std::string_view key) const;

 private:
  struct Impl;
  std::string file_;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace salient
