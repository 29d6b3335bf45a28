// prepare/importers/link_files.h - links and negatives that a user keeps in files of their own.
#pragma once

#include <vector>

#include "core/types.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/edge_split.h"
#include "prepare/importers/edges_options.h"
#include "prepare/importers/negative_sources.h"
#include "prepare/importers/node_index.h"

namespace salient {

/// As the file of the edges, but for what edges alone have.
EdgeFileOptions link_file_options(EdgeFileOptions of_edges, bool have_times);

/// ends becomes [n, 2].
void set_ends(const std::vector<NodeId>& sources, const std::vector<NodeId>& destinations, std::vector<NodeId>& ends);

/// The files of negatives that were given.
/// @param graph  with its links    @param given  which records of the files became links
/// @throws Error{kBadData} naming file and record: an id of no node, another number of rows than of links; Error{kIo}
/// Memory: 4 bytes for each id
LinkNegativeSources read_negatives(const LinkFiles& files, const NodeIndex& index, const RawGraph& graph,
                                   const GivenLinks& given);

}  // namespace salient
