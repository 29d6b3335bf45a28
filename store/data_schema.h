// store/data_schema.h - what the numbers of a data set stand for: its classes, and the columns of its features.
//
// A run keeps the schema of the data set that it was trained on. match_schemas() says how another data set fits it; all
// that use a run's weights on other data ask there, and store/seen_by_run.h carries out what it finds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/enum_names.h"
#include "store/label_table.h"

namespace salient {

/// How features came about that the source did not have, as named values: {"kind": "random", "seed": "0", ...}.
/// Compared value by value, whatever the names are. Empty: they are the source's.
using FeatureOrigin = std::map<std::string, std::string>;

/// Of regression, the mean and the deviation of each target over the training nodes: [2 T], the means first. A model's
/// outputs are in units of the deviation, from the mean on. Empty for other tasks.
using TargetScales = std::vector<double>;

struct DataSchema {
  Task task = Task::kMultiClass;
  int num_classes = 0;  ///< of kMultiLabel labels, of kRegression targets
  int feature_dim = 0;
  std::vector<std::string> class_names{};   ///< [num_classes], or empty: numbers alone; of targets, too
  std::vector<std::string> column_names{};  ///< [feature_dim], likewise
  FeatureOrigin feature_origin{};
  TargetScales target_scales{};
  bool is_complete = true;  ///< false: of a run of an older version, which kept the task and the two numbers alone

  bool operator==(const DataSchema&) const = default;
};

/// As JSON on one line; bytes of names that are no UTF-8 become U+FFFD.
std::string to_json_text(const DataSchema& schema);

/// The inverse. @throws Error{kBadData} for text that to_json_text() does not write, naming `file`
DataSchema schema_from_json(std::string_view text, const std::string& file);

/// How columns of another data set's features are found.
enum class FeatureMatch : std::uint8_t {
  kName,   ///< by their names; features that were made in another way than the run's are refused
  kPlace,  ///< by their places alone: the user says that they are the run's
};

constexpr auto names_of(FeatureMatch) {
  return std::to_array<EnumName<FeatureMatch>>({{FeatureMatch::kName, "name"}, {FeatureMatch::kPlace, "place"}});
}

/// A data set as a run sees it.
struct SchemaMatch {
  std::vector<std::string> reasons{};  ///< why the run cannot be used on it; empty = it can. Texts to follow its name
  std::vector<std::string> remarks{};  ///< what is mapped, left out, or cannot be compared; likewise

  bool has_comparable_labels = true;  ///< false: the data set's labels say nothing of the run's classes
  /// [data set's num_classes] the run's number of each class. The classes that the run does not know follow behind its
  /// own, in their order: run.num_classes + i is unknown_classes[i]. Empty = the numbers are the run's.
  std::vector<std::int32_t> class_of{};
  std::vector<std::string> unknown_classes{};  ///< their names, or numbers
  /// [run's feature_dim] the data set's column of each of the run's. Empty = all are in their places.
  std::vector<std::uint32_t> column_of{};
};

/// Classes: by name where both have names. Where one of the two has numbers alone, by number: of names that are numbers
/// themselves, as compacted labels have them, by those; of others by their place, which a remark says. Whatever the
/// labels are, nodes can be predicted, so that classes are never a reason.
///
/// Columns: by name where both have names; the data set may have more of them, in any order. Where one of the two has
/// none there must be as many, and a remark says that they are taken as they come. Of features that were made, all of
/// feature_origin must be equal. A run that is not complete is compared by the numbers that it kept.
///
/// Never fails: every rule that is broken is one of the reasons.
SchemaMatch match_schemas(const DataSchema& run, const DataSchema& data, FeatureMatch features = FeatureMatch::kName);

}  // namespace salient
