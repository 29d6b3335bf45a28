// prepare/importers/edge_table.h - the beginning of an edge list in text: its separator, its header, where the ids are.
#pragma once

#include <array>
#include <cstddef>

#include "prepare/formats/table_file.h"
#include "prepare/importers/edge_file.h"

namespace salient {

struct EdgeTable {
  TableFile file;  ///< without its header
  IdKind ids = IdKind::kNumbers;
  Separator separator = Separator::kAny;
  std::array<std::size_t, 2> columns{0, 1};
  bool has_header = false;
  bool takes_all_columns = true;  ///< the file must have two
};

/// @throws as read_edge_file()
EdgeTable open_edge_table(const std::filesystem::path& path, const EdgeFileOptions& options);

}  // namespace salient
