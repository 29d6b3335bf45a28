// engine/report/confusion.h - the confusion matrix of a model, as a file in the run directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace salient {

/// With more classes the matrix is not kept: it would be larger than the rest of the report.
inline constexpr int kMaxConfusionClasses = 256;

struct ConfusionMatrix {
  std::string set{};  ///< "valid" | "test"
  int epoch = 0;      ///< of the model
  int num_classes = 0;
  std::vector<std::string> class_names{};  ///< [num_classes], or empty
  std::vector<std::int64_t> counts{};      ///< [num_classes, num_classes] labelled nodes, by true class, then predicted
};

/// Replaces DIR/confusion.json: the fields above; counts as `cells`, a list of [true, predicted, nodes] without zeros.
/// @throws Error{kIo}
void write_confusion(const std::filesystem::path& directory, const ConfusionMatrix& matrix);

}  // namespace salient
