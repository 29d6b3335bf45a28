// prepare/writing/csr_files.cpp - see csr_files.h.
#include "prepare/writing/csr_files.h"

#include "core/error.h"

namespace salient {

namespace {
constexpr std::size_t kPending = std::size_t{1} << 16;
}

CsrFiles::CsrFiles(const std::filesystem::path& folder, std::uint64_t num_nodes)
    : num_nodes_(num_nodes),
      indptr_(folder / kIndptrArray.file, kIndptrArray.dtype, {num_nodes + 1}),
      indices_(folder / kIndicesArray.file, kIndicesArray.dtype, sizeof(NodeId)) {
  pending_.reserve(kPending);
}

void CsrFiles::append(NodeId first_row, const CsrArrays& rows) {
  require(num_started_ <= first_row + std::uint64_t{1}, "slices ascend");
  const std::uint64_t before = num_entries_;
  for (std::size_t i = 0; i + 1 < rows.indptr.size(); ++i) {
    num_entries_ = before + static_cast<std::uint64_t>(rows.indptr[i]);
    start_row(first_row + i);
  }
  num_entries_ = before + rows.indices.size();
  indices_.write(rows.indices);
  self_loops_ += rows.self_loops;
  duplicates_ += rows.duplicates;
}

/// Rows that were left out start where `row` does.
void CsrFiles::start_row(std::uint64_t row) {
  for (; num_started_ <= row; ++num_started_) {
    pending_.push_back(static_cast<EdgeOffset>(num_entries_));
    if (pending_.size() == kPending) flush_indptr();
  }
}

void CsrFiles::flush_indptr() {
  indptr_.write(pending_);
  pending_.clear();
}

void CsrFiles::close(StoreWriter& store) {
  start_row(num_nodes_);  // the end of the last row
  flush_indptr();
  store.add_file(kIndptrArray.file, indptr_.close());
  store.add_file(kIndicesArray.file, indices_.close());
}

}  // namespace salient
