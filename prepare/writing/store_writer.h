// prepare/writing/store_writer.h - a store in the making: files in a staged folder, dataset.json last, then the name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/console/progress.h"
#include "core/files/npy.h"
#include "core/files/staged_directory.h"
#include "core/host/interrupt.h"
#include "prepare/writing/write_store.h"
#include "store/store_arrays.h"
#include "store/store_manifest.h"

namespace salient {

/// Threads: files may be written on several at a time.
class StoreWriter {
 public:
  /// @throws Error{kUsage} when the store exists and may not be replaced; Error{kIo}.
  explicit StoreWriter(const WriteStoreOptions& options);

  const std::filesystem::path& folder() const { return staged_.path(); }

  /// A whole array of the store. @throws Error{kIo}, Interrupted
  template <class T>
  void write_array(StoreArray array, std::span<const T> values, std::vector<std::uint64_t> shape,
                   Progress* progress = nullptr) {
    NpyWriter writer(folder() / array.file, array.dtype, std::move(shape));
    constexpr std::size_t kBlock = (std::size_t{16} << 20) / sizeof(T);
    for (std::size_t from = 0; from < values.size(); from += kBlock) {
      const auto block = values.subspan(from, std::min(kBlock, values.size() - from));
      stop_if_interrupted();
      writer.write(block);
      if (progress) progress->add(block.size_bytes());
    }
    add_file(array.file, writer.close());
  }

  /// One line each; no file for no lines. @throws Error{kIo}
  void write_lines(const std::string& name, std::span<const std::string> lines);

  /// A file that the caller wrote into folder().
  void add_file(const std::string& name, FileDigest digest);

  /// Writes dataset.json and gives the folder its name. manifest.files and .created_by are set here.
  /// @return bytes of all files                  @throws Error{kIo}
  std::uint64_t publish(StoreManifest manifest);

 private:
  StagedDirectory staged_;
  std::mutex mutex_;
  std::map<std::string, FileDigest> files_;
};

}  // namespace salient
