// prepare/importers/typed_options.h - which files make a typed graph.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "core/field_problem.h"
#include "prepare/importers/column_guess.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/memory_limit.h"
#include "store/row_table.h"

namespace salient {

/// The nodes of one type: those of a file, or so many without features, whose ids are row numbers.
struct NodeSource {
  std::string type{};
  std::filesystem::path file{};  ///< NAME.npy [V, width]; NAME.npz of scipy.sparse; or a table in text, with ids
  std::optional<std::uint64_t> count{};
};

/// The edges of one relation, in a file as read_edge_file() reads them, but that its ends are of two types.
struct EdgeSource {
  std::string src{}, name{}, dst{};
  std::filesystem::path file{};
};

/// What is made of relations that are listed in one direction.
enum class Reverses {
  kAdd,  ///< "a:x:b" also makes "b:rev_x:a", unless it is given
  kNone,
};

constexpr auto names_of(Reverses) {
  return std::to_array<EnumName<Reverses>>({{Reverses::kAdd, "add"}, {Reverses::kNone, "none"}});
}

struct TypedOptions {
  std::vector<NodeSource> nodes{};
  std::vector<EdgeSource> edges{};
  Reverses reverses = Reverses::kAdd;
  std::string target{};                            ///< the type that the labels are of; "" = the first
  std::filesystem::path labels{};                  ///< as of EdgesOptions, of this type's nodes; it may be their table
  std::filesystem::path train{}, valid{}, test{};  ///< likewise
  int mask = 0;                                    ///< which column or row of masks in these files
  std::vector<double> split{};                     ///< three fractions instead of the three files
  std::vector<double> edge_split{};                ///< three fractions of links, of split_relations(); empty: no links
  std::vector<std::string> link_relations{};       ///< of these relations, "SRC:NAME:DST"; empty: all
  std::string label_column{};                      ///< of a table of labels, see NodeTableOptions
  std::vector<std::string> targets{};              ///< instead of a label: columns of values to be predicted
  std::vector<std::string> unlabelled{};           ///< words of it that are none
  HeaderRule header = HeaderRule::kAuto;           ///< of all tables in text
  FeatureScaling scaling = FeatureScaling::kAuto;  ///< of all tables of features
  LabelChoice label_choice{};
  std::string name{};            ///< of the data set
  std::string source_options{};  ///< as in RawGraph
  FeatureType feature_type = FeatureType::kF16;
  std::uint32_t rng_seed = 0;  ///< of the split
  int num_threads = 0;         ///< 0 = all cores
  MemoryLimit memory{};
};

/// What makes no graph: {"edges", "'paper:by:autor': no node type 'autor'; there are paper, author"}, and so on. Reads
/// no file.
std::vector<FieldProblem> problems(const TypedOptions& options);

}  // namespace salient
