// prepare/importers/edges_options.h - which files make a graph, and how they are read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/label_choice.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/repeats_between.h"

namespace salient {

/// Files of links to be predicted beside the edges, which are those to train on. Files as that of the edges, but for
/// weights, features and, unless they have some, times. Negatives: text, a pair a line, or .npy: [m, 2] pairs, [n, K]
/// with another K other destinations of each link, in the order of the file.
struct LinkFiles {
  std::filesystem::path valid{}, test{};
  std::array<std::filesystem::path, 3> negatives{};  ///< of training, validation and test
  RepeatsBetween between = RepeatsBetween::kRefuse;
  bool have_times = false;  ///< valid and test have the column of times, too, as take_timed_links()

  bool are_given() const { return !valid.empty() || !test.empty(); }
  bool have_negatives() const {
    return std::ranges::any_of(negatives, [](const std::filesystem::path& path) { return !path.empty(); });
  }
};

/// Empty paths: not given. Files that end in .npy are arrays, edges and features in .npz a sparse matrix, all others
/// text.
struct EdgesOptions {
  std::filesystem::path edges{};
  std::filesystem::path nodes{};  ///< a table of both, instead of the next two
  std::filesystem::path features{}, labels{};
  std::filesystem::path train{}, valid{}, test{};
  int mask = 0;                                     ///< which column or row of masks in these files
  std::vector<double> split{};                      ///< three fractions instead of the three files; or
  std::vector<double> split_by_time{};              ///< likewise, of split_labelled_by_time()
  std::vector<double> edge_split{};                 ///< three fractions of the edges, of split_edges()
  std::vector<double> edge_split_by_time{};         ///< likewise, of split_edges_by_time()
  LinkFiles links{};                                ///< instead: links that are given
  std::vector<std::string> columns{};               ///< of a text file with more than two: names, or numbers from 0
  std::string weight_column{}, time_column{};       ///< of the edges, see EdgeFileOptions; likewise the next
  std::vector<std::string> edge_feature_columns{};  ///< likewise; or
  std::filesystem::path edge_features{};            ///< an array, a row for each edge of the file
  WeightMap weight_map = WeightMap::kNone;
  std::optional<Repeats> repeats{};         ///< see RawGraph
  std::string id_column{}, label_column{};  ///< of tables of nodes, see NodeTableOptions
  std::string label_id_column{};            ///< of `labels`; "" = id_column
  std::filesystem::path node_times{};       ///< an array; or
  std::string node_time_column{};           ///< of the table of features, or else of labels: it is no feature
  std::vector<std::string> targets{};       ///< columns of values to be predicted, see read_targets()
  std::vector<std::string> unlabelled{};    ///< words of a table of labels that are none
  IdKind ids = IdKind::kAuto;
  HeaderRule header = HeaderRule::kAuto;  ///< of all tables in text
  ColumnWishes wishes{};                  ///< of a table of features
  LabelChoice label_choice{};
  std::string name{};  ///< of the data set
  FeatureType feature_type = FeatureType::kF16;
  Symmetric symmetric = Symmetric::kAuto;
  std::uint32_t rng_seed = 0;  ///< of the split
  int num_threads = 0;         ///< 0 = all cores
  MemoryLimit memory{};
};

/// Whether a file that was given is a table in text.
bool is_text_table(const std::filesystem::path& path);

/// The table that node_time_column is of: the first in text of nodes, features and labels. Empty: none.
std::filesystem::path time_table_of(const EdgesOptions& options);

/// What makes no graph: {"columns", "two different columns, ..."}, and so on. Reads no file.
std::vector<FieldProblem> problems(const EdgesOptions& options);

/// How the file of the edges is read, where its nodes are not known yet.
EdgeFileOptions edge_file_options(const EdgesOptions& options);

/// How tables of nodes are read, but for the column of times.
NodeTableOptions node_table_options(const EdgesOptions& options);

/// What of the options a store says of its source.
std::string source_options_of(const EdgesOptions& options);

}  // namespace salient
