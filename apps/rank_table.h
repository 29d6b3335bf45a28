// apps/rank_table.h - where the ranks of a run are, and what each has there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/session.h"

namespace salient {

/// Of each rank: rank, host, device, numa_nodes, cores, workers, free_memory, as run.json and the report have them.
using RankTable = std::vector<std::map<std::string, std::string>>;

/// Collective. Rank 0 logs the table, and one warning when ranks are bound to fewer cores than their share. Nothing is
/// logged for a single rank. @return the table on rank 0, nothing elsewhere
RankTable log_rank_table(const Session& session, int num_workers);

}  // namespace salient
