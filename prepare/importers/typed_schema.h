// prepare/importers/typed_schema.h - the node types and relations that options ask for, before a file is read.
#pragma once

#include <string>

#include "prepare/importers/typed_options.h"
#include "store/graph_schema.h"

namespace salient {

/// Counts of types in files are 0, as nothing was read.
struct SchemaDraft {
  GraphSchema schema{};
  std::string field{}, rule{};  ///< of the options: the first that makes no schema; "" = none
};

/// Types in the order of options.nodes; relations in the order of options.edges, and behind them their reverses.
SchemaDraft draft_schema(const TypedOptions& options);

}  // namespace salient
