// engine/infer/source_ids_file.h - what the source of a data set calls the nodes of an array's rows, as a file.
#pragma once

#include <filesystem>
#include <span>

#include "core/types.h"
#include "store/node_ids.h"

namespace salient {

/// In the order of `nodes`, for rows that are in it: numbers as source_ids.npy, u8 [N]; text as source_ids.csv, whose
/// only column is `id`, since an array of text has the width of its longest item. Nothing if there are no ids.
/// @throws Error{kIo}
void write_source_ids(const std::filesystem::path& folder, std::span<const NodeId> nodes, const NodeIds& ids);

}  // namespace salient
