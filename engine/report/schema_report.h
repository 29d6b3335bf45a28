// engine/report/schema_report.h - types and relations of a typed graph as a file in the run directory, and as lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace salient {

struct SchemaReport {
  struct Type {
    std::string name{};
    std::uint64_t nodes = 0;
    int features = 0;  ///< columns; 0 = learned rows
  };
  struct Relation {
    std::string src{}, name{}, dst{};
    std::uint64_t entries = 0;
    std::vector<double> edges{};  ///< [hops] of a batch, the seeds' own hop first
  };
  std::vector<Type> types{};
  std::vector<Relation> relations{};
  std::string target{};     ///< type
  std::size_t batches = 0;  ///< that the edges are the mean of
};

/// Replaces DIR/schema.json: the fields above. @throws Error{kIo}
void write_schema(const std::filesystem::path& directory, const SchemaReport& report);

/// A line for each type and each relation, under a heading each.
std::string to_text(const SchemaReport& report);

}  // namespace salient
