// loaders/gather_paged_rows.h - copies selected rows of a mapped file that memory may not hold.
#pragma once

#include <cstddef>

#include "core/types.h"
#include "store/row_table.h"

namespace salient {

/// gather_rows() of a table in a mapped file: goes through the rows in the order of the file and asks the kernel for
/// their pages, and for no others, some thousand rows ahead, so that a disk has many reads to do at a time. A fault by
/// each row in turn would be one read at a time, of as much as the kernel reads ahead.
///
/// @param table  in a file mapping; not of fp8.
/// Threads:  as gather_rows().
/// Cost:     a sort of the rows and a system call for each run of pages; 8 bytes of memory a row.
/// Oracle:   gather_rows_reference().
void gather_paged_rows(RowTable table, const NodeId* row_of, std::size_t num_out, std::byte* out);

/// Asks the kernel for the pages of [begin, begin + bytes), which lie in a file mapping, and does not wait for them.
void read_ahead(const std::byte* begin, std::size_t bytes);

}  // namespace salient
