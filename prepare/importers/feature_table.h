// prepare/importers/feature_table.h - a table of nodes becomes features: numbers, scaled or not, and words as columns.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_names.h"
#include "prepare/importers/node_table.h"
#include "prepare/importers/raw_graph.h"
#include "store/table_coding.h"

namespace salient {

/// Which columns of numbers become (x - mean) / deviation, over the nodes of the table.
enum class FeatureScaling : std::uint8_t {
  kAuto,      ///< those that reach beyond 10, or deviate by less than 0.1; not those of 0 and 1 alone
  kStandard,  ///< all
  kNone,
};

constexpr auto names_of(FeatureScaling) {
  return std::to_array<EnumName<FeatureScaling>>(
      {{FeatureScaling::kAuto, "auto"}, {FeatureScaling::kStandard, "standard"}, {FeatureScaling::kNone, "none"}});
}

/// What the user says of the columns. Names, or numbers from 0.
struct ColumnWishes {
  FeatureScaling scaling = FeatureScaling::kAuto;
  std::vector<std::string> dropped{};     ///< are no features
  std::vector<std::string> categories{};  ///< are words, whatever they look like
  std::vector<std::string> indices{};     ///< likewise, and become one feature, the number of the word
  std::vector<std::string> blanks{};      ///< words that stand for a blank
  std::optional<TableCoding> coding{};    ///< as another table was coded: instead of all of these

  bool operator==(const ColumnWishes&) const = default;
};

/// Words that one column may have without being wished as a category; with it a thousand times as many.
inline constexpr std::size_t kMaxCategories = 100;

struct FeatureTableOptions {
  ColumnWishes wishes{};
  FeatureType type = FeatureType::kF16;
  bool labels_too = false;  ///< the table has the label, too, which whoever reads it says
};

struct CodedFeatures {
  RawFeatures features{};
  TableCoding coding{};  ///< of the columns
};

/// All columns but the id's, those dropped, an index of pandas, and the label's if it is said or if `labels_too`, are
/// features. What a column is the first 1,000 rows say (kind_of_column()); a field that does not fit is refused. Of
/// columns with more than kMaxCategories words, and of those where all fields are blank, a warning says that they are
/// left out. The log says what was scaled and coded. The columns of wishes.coding must be there; others are left out.
///
/// @throws as read_label_table(); Error{kBadData} naming file, line and column
/// Memory: 8 bytes a field beside the features, while it reads.
CodedFeatures read_feature_table(const std::filesystem::path& path, const NodeTableOptions& options,
                                 const FeatureTableOptions& how, const TakeId& take_id);

}  // namespace salient
