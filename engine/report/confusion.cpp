// engine/report/confusion.cpp - see confusion.h.
#include "engine/report/confusion.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/replace_text_file.h"

namespace salient {

void write_confusion(const std::filesystem::path& directory, const ConfusionMatrix& matrix) {
  const auto num_classes = static_cast<std::size_t>(matrix.num_classes);
  require(matrix.counts.size() == num_classes * num_classes, "a confusion matrix is square");
  nlohmann::ordered_json json;
  json["set"] = matrix.set;
  json["epoch"] = matrix.epoch;
  json["num_classes"] = matrix.num_classes;
  json["class_names"] = matrix.class_names;
  auto& cells = json["cells"] = nlohmann::ordered_json::array();
  for (std::size_t cell = 0; cell < matrix.counts.size(); ++cell)
    if (matrix.counts[cell] > 0) cells.push_back({cell / num_classes, cell % num_classes, matrix.counts[cell]});
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;  // names in some other encoding
  replace_text_file(directory / "confusion.json", json.dump(-1, ' ', false, replace) + "\n");
}

}  // namespace salient
