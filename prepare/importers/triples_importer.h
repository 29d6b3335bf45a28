// prepare/importers/triples_importer.h - a knowledge graph from files of triples: entities, relations, links of splits.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/repeats_between.h"
#include "prepare/importers/triple_file.h"
#include "prepare/importers/typed_graph.h"
#include "prepare/importers/typed_options.h"

namespace salient {

struct TriplesOptions {
  std::filesystem::path train{}, valid{}, test{};  ///< files as read_triples() reads them; "" = a split without links
  std::vector<std::string> columns{};              ///< as triple_columns(); none: as read_triples() finds
  std::filesystem::path entities{}, relations{};  ///< their names, "NAME <tab> NUMBER" a line; then triples are numbers
  Reverses reverses = Reverses::kAdd;             ///< of each relation rev_NAME, with the same edges
  RepeatsBetween between = RepeatsBetween::kRefuse;
  std::string name{};            ///< of the data set
  std::string source_options{};  ///< as in RawGraph
  MemoryLimit memory{};
};

/// Broken rules of the options; reads no file.
std::vector<FieldProblem> problems(const TriplesOptions& options);

struct ImportedTriples {
  TypedGraph graph{};                      ///< one node type, "entity"; edges are the training links
  std::array<std::uint64_t, 3> repeats{};  ///< triples of training, validation, test met before in the same file
  std::array<std::uint64_t, 3> dropped{};  ///< and those that an earlier split has
};

/// Entities and relations are numbered in the order in which the files name them, or as their tables say; triples keep
/// the files' order, and those met before are left out.
///
/// There are no problems(options).
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming file and line
ImportedTriples import_triples(const TriplesOptions& options);

}  // namespace salient
