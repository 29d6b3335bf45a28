// prepare/formats/npz_reader.h - the arrays of an .npz file, streamed; nothing is unpacked to disk or pickled.
//
// By hand: cnpy is not packaged and loads whole arrays; papers100M's take 57 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/npy.h"
#include "prepare/formats/zip_archive.h"

namespace salient {

/// The members of an archive, for messages: 'x.npy', 'y.npy'
std::string names_in(const ZipArchive& archive);

/// Which type the caller can use. Widths and byte orders are converted, kinds are not.
enum class NpzKind { kInteger, kFloat };

/// One array, read front to back in the order of the file: the caller heeds header().is_fortran_order.
///
/// Memory: one block. Streams of the same archive may run in parallel, two of the same array too: papers100M's
/// edge_index has all sources before all destinations, and a second stream skipped to the second row yields pairs.
class NpzArray {
 public:
  /// @param archive  must outlive the array       @param key  without ".npy"
  /// @throws Error{kBadData} when there is no such array (the message lists those there are), when its header is not
  ///         npy, when its size is not what shape and dtype say, and for object, structured and string types.
  NpzArray(const ZipArchive& archive, std::string_view key);

  const NpyHeader& header() const { return header_; }
  std::string name() const { return stream_.name(); }  ///< "data.npz: 'edge_index.npy'"
  std::uint64_t items_left() const { return items_left_; }
  std::uint64_t bytes_consumed() const { return stream_.bytes_consumed(); }

  /// @throws Error{kBadData} naming the array, found and expected
  void expect(NpzKind kind) const;
  void expect_shape(std::span<const std::uint64_t> shape) const;

  /// The next items, converted; fewer than out.size() only at the end of the array.
  ///
  /// @return  number of items        @throws Error{kBadData} for damaged data; Error{kIo}
  std::size_t read(std::span<std::int64_t> out);   ///< after expect(kInteger)
  std::size_t read(std::span<std::uint64_t> out);  ///< as ids, of any type: see convert_to_ids()
  std::size_t read(std::span<float> out);
  std::size_t read(std::span<double> out);
  void skip(std::uint64_t items);  ///< inflates and drops them

 private:
  template <class T, class Convert>
  std::size_t read_converted(std::span<T> out, Convert convert);
  std::span<const std::byte> read_raw(std::uint64_t items);
  static const ZipMember& member_of(const ZipArchive& archive, std::string_view key);

  ZipMemberStream stream_;
  NpyHeader header_;
  std::uint64_t items_left_ = 0;
  std::vector<std::byte> block_;
};

}  // namespace salient
