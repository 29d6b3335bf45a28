// tests/loaders/gather_paged_rows_test.cpp - the rows of a mapped file, and that no other pages are read for them.
#include "loaders/gather_paged_rows.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/host/descriptor.h"
#include "loaders/gather_rows.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::size_t kPage = 4096;

/// A file of random bytes that is mapped and of which nothing is in memory, if the file system allows that.
class MappedFile {
 public:
  explicit MappedFile(std::size_t bytes) : bytes_(bytes) {
    const Descriptor file(open((scratch_.path() / "rows").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    std::vector<std::uint32_t> words(bytes / 4);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::uint32_t>(i * 2654435761U);
    EXPECT_EQ(write(file.get(), words.data(), bytes), static_cast<ssize_t>(bytes));
    EXPECT_EQ(fsync(file.get()), 0);
    EXPECT_EQ(posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
    memory_ = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
    EXPECT_NE(memory_, MAP_FAILED);
    EXPECT_EQ(madvise(memory_, bytes, MADV_RANDOM), 0);
  }
  ~MappedFile() { (void)munmap(memory_, bytes_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::byte* data() const { return static_cast<const std::byte*>(memory_); }
  std::size_t num_pages_in_memory() const {
    std::vector<unsigned char> is_there((bytes_ + kPage - 1) / kPage);
    EXPECT_EQ(mincore(memory_, bytes_, is_there.data()), 0);
    std::size_t count = 0;
    for (const unsigned char page : is_there) count += page & 1U;
    return count;
  }

 private:
  const test::Scratch scratch_;
  std::size_t bytes_;
  void* memory_ = nullptr;
};

TEST(GatherPagedRows, EqualsTheReference) {
  const MappedFile file(std::size_t{6} << 20);
  for (const std::size_t row_bytes : {4U, 60U, 512U, 4096U, 10000U})
    for (const std::size_t count : {0U, 1U, 7U, 5000U}) {
      const RowTable table{file.data(), (std::size_t{6} << 20) / row_bytes, row_bytes};
      std::vector<NodeId> rows;
      for (std::size_t i = 0; i < count; ++i) rows.push_back(static_cast<NodeId>(i * 7919 % table.num_rows));
      if (count > 1) rows[0] = static_cast<NodeId>(table.num_rows - 1);
      std::vector<std::byte> found(count * row_bytes), expected(count * row_bytes);
      gather_paged_rows(table, rows.data(), count, found.data());
      gather_rows_reference(table, rows.data(), count, expected.data());
      EXPECT_EQ(found, expected) << row_bytes << " bytes, " << count << " rows";
    }
}

TEST(GatherPagedRows, ReadsNoOtherPages) {
  const MappedFile file(std::size_t{64} << 20);
  if (file.num_pages_in_memory() > 0) GTEST_SKIP() << "this file system keeps files in memory";
  const RowTable table{file.data(), (std::size_t{64} << 20) / 512, 512};
  std::vector<NodeId> rows;
  for (NodeId i = 0; i < 3000; ++i) rows.push_back(i * 1237 % static_cast<NodeId>(table.num_rows));
  std::vector<std::byte> out(rows.size() * 512);
  gather_paged_rows(table, rows.data(), rows.size(), out.data());
  EXPECT_LE(file.num_pages_in_memory(), rows.size());
  read_ahead(table.data, 20 * kPage);
  EXPECT_LE(file.num_pages_in_memory(), rows.size() + 20);
}

}  // namespace
}  // namespace salient
