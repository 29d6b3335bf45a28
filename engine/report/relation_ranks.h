// engine/report/relation_ranks.h - the ranks of test links by relation, as a run of links leaves them, for its report.
#pragma once

#include <filesystem>

#include "engine/report/run_files.h"

namespace salient {

/// DIR/test_relations.csv as [{"relation", "side", "links", "mrr", "hits_at_1", "hits_at_3", "hits_at_10"}, ...]; empty
/// where it is missing, or is not such a table.
Json read_relation_ranks(const std::filesystem::path& directory);

}  // namespace salient
