// store/store_arrays.h - the array files of a store and their types: what writes and what opens a store asks here.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "store/label_table.h"
#include "store/row_table.h"

namespace salient {

struct StoreArray {
  const char* file;
  const char* dtype;  ///< as in NpyHeader::dtype()
};

/// Bytes of an item.
constexpr std::size_t item_bytes(const StoreArray& array) { return static_cast<std::size_t>(array.dtype[2] - '0'); }

inline constexpr StoreArray kIndptrArray{"indptr.npy", "<i8"};
inline constexpr StoreArray kIndicesArray{"indices.npy", "<u4"};
inline constexpr StoreArray kEdgeWeightsArray{"edge_weights.npy", "<f4"};
inline constexpr StoreArray kEdgeTimesArray{"edge_time.npy", "<i8"};
inline constexpr StoreArray kNodeTimesArray{"node_times.npy", "<i8"};
inline constexpr StoreArray kTrainArray{"train.npy", "<u4"};
inline constexpr StoreArray kValidArray{"valid.npy", "<u4"};
inline constexpr StoreArray kTestArray{"test.npy", "<u4"};
inline constexpr StoreArray kOriginalIdsArray{"original_ids.npy", "<u8"};
inline constexpr StoreArray kNodeNamesArray{"node_names.npy", "|u1"};
inline constexpr StoreArray kNodeNamesBeginArray{"node_names_begin.npy", "<i8"};

/// Of training, validation and test links; relations of typed graphs alone, times where links have some.
struct LinkArrays {
  StoreArray ends, relations, times;
};
inline constexpr std::array<LinkArrays, 3> kLinkArrays = {
    LinkArrays{{"links-train.npy", "<u4"}, {"links-train-relation.npy", "<u2"}, {"links-train-times.npy", "<i8"}},
    LinkArrays{{"links-valid.npy", "<u4"}, {"links-valid-relation.npy", "<u2"}, {"links-valid-times.npy", "<i8"}},
    LinkArrays{{"links-test.npy", "<u4"}, {"links-test-relation.npy", "<u2"}, {"links-test-times.npy", "<i8"}}};

/// Names, a line each.
inline constexpr char kClassNamesFile[] = "class_names.txt";
inline constexpr char kColumnNamesFile[] = "column_names.txt";
inline constexpr char kVocabularyFile[] = "vocabulary.txt";  ///< of WordNet: the words that its columns stand for

/// Of a partitioned data set; not among the manifest's files (store/parts.h).
inline constexpr StoreArray kOwnerArray{"owner.npy", "<u2"};

inline constexpr StoreArray kFeatureBeginArray{"feature_begin.npy", "<i8"};
inline constexpr StoreArray kFeatureColumnsArray{"feature_columns.npy", "<u4"};

constexpr StoreArray labels_array(Task task) {
  switch (task) {
    case Task::kMultiClass: return {"labels.npy", "<i4"};
    case Task::kMultiLabel: return {"labels.npy", "|i1"};
    case Task::kRegression: return {"labels.npy", "<f4"};
  }
  return {"", ""};
}
constexpr StoreArray features_array(FeatureType type) {
  return {"features.npy", type == FeatureType::kFp8 ? "|u1" : type == FeatureType::kF16 ? "<f2" : "<f4"};
}
constexpr StoreArray edge_features_array(FeatureType type) { return {"edge_features.npy", features_array(type).dtype}; }
constexpr StoreArray feature_values_array(FeatureType type) {
  return {"feature_values.npy", features_array(type).dtype};
}

/// What the files of one table of features are called: those of a plain store, or of node type `number`.
struct FeatureNames {
  std::string rows = "features", begin = "feature_begin", columns = "feature_columns", values = "feature_values";

  FeatureNames() = default;
  explicit FeatureNames(std::size_t number) {
    for (std::string* name : {&rows, &begin, &columns, &values}) name->append(".").append(std::to_string(number));
  }
  /// Of rows, begin, columns and values.
  std::array<std::string, 4> files() const {
    return {rows + ".npy", begin + ".npy", columns + ".npy", values + ".npy"};
  }
};

}  // namespace salient
