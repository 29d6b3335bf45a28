// apps/serve/prediction_json.cpp - see prediction_json.h.
#include "apps/serve/prediction_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "core/error.h"
#include "core/value_text.h"

namespace salient::serve {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// Six decimals: more is noise of the arithmetic, and three times the bytes.
double rounded(double probability) { return std::round(probability * 1e6) / 1e6; }

std::vector<double> softmax(std::span<const float> row) {
  const double highest = *std::ranges::max_element(row);
  double sum = 0;
  for (const float logit : row) sum += std::exp(logit - highest);
  std::vector<double> list;
  for (const float logit : row) list.push_back(rounded(std::exp(logit - highest) / sum));
  return list;
}

std::vector<double> sigmoid(std::span<const float> row) {
  std::vector<double> list;
  for (const float logit : row) list.push_back(rounded(1 / (1 + std::exp(-static_cast<double>(logit)))));
  return list;
}

Json by_name(const std::vector<double>& probabilities, const Names& names) {
  Json object = Json::object();
  for (std::size_t i = 0; i < probabilities.size(); ++i) object[names.classes[i]] = probabilities[i];
  return object;
}

/// Of equals the lower class comes first, as where one is predicted.
Json top_of(std::span<const float> row, const std::vector<double>& probabilities, std::size_t count,
            const Names& names) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  Json list = Json::array();
  for (const std::size_t i : std::span(order).first(count)) {
    Json entry = {{names.task == Task::kMultiLabel ? "label" : "class", i}};
    if (i < names.classes.size()) entry["name"] = names.classes[i];
    entry["probability"] = probabilities[i];
    list.push_back(std::move(entry));
  }
  return list;
}

void add_probabilities(Json& prediction, std::span<const float> row, const PredictRequest& request,
                       const Names& names) {
  if (request.probabilities == ProbabilityForm::kNone && request.top_k == 0) return;
  const std::vector<double> values = names.task == Task::kMultiLabel ? sigmoid(row) : softmax(row);
  if (request.probabilities == ProbabilityForm::kList) prediction["probabilities"] = values;
  if (request.probabilities == ProbabilityForm::kByName) prediction["probabilities"] = by_name(values, names);
  if (request.top_k > 0) prediction["top"] = top_of(row, values, request.top_k, names);
}

void add_class(Json& prediction, std::span<const float> row, const Names& names) {
  const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
  prediction["class"] = best;
  if (best < names.classes.size()) prediction["name"] = names.classes[best];
}

void add_labels(Json& prediction, std::span<const float> row, const Names& names) {
  Json labels = Json::array(), called = Json::array();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!(row[i] > 0)) continue;
    labels.push_back(i);
    if (i < names.classes.size()) called.push_back(names.classes[i]);
  }
  prediction["labels"] = std::move(labels);
  if (!names.classes.empty()) prediction["names"] = std::move(called);
}

/// 0.1, not 0.10000000149
double short_number(float value) { return std::stod(to_text(value)); }

void add_embedding(Json& prediction, std::span<const float> embedding) {
  Json& list = prediction["embedding"] = Json::array();
  for (const float value : embedding) list.push_back(short_number(value));
}

void add_values(Json& prediction, std::span<const float> row, const Names& names) {
  Json& values = prediction["values"] = names.classes.empty() ? Json::array() : Json::object();
  for (std::size_t t = 0; t < row.size(); ++t) {
    const double value = short_number(row[t]);
    names.classes.empty() ? values.push_back(value) : void(values[names.classes[t]] = value);
  }
}

/// As salient-infer: a class of what is not a number would look like any other.
void require_numbers(std::span<const float> row, const std::string& node) {
  if (!std::ranges::all_of(row, [](float logit) { return std::isfinite(logit); }))
    fail(ErrorKind::kBadData, node +
                                  ": the model's output is not a number: features of its neighbourhood, or weights, " +
                                  "are too large or not finite");
}

}  // namespace

std::string predictions_json(const PredictRequest& request, std::span<const float> rows, const Names& names) {
  const std::size_t width = rows.size() / request.num_nodes();
  const std::size_t num_outputs = names.num_outputs > 0 ? names.num_outputs : width;
  Json answer;
  Json& predictions = answer["predictions"] = Json::array();
  for (std::size_t i = 0; i < request.num_nodes(); ++i) {
    const std::span<const float> all = rows.subspan(i * width, width), row = all.first(num_outputs);
    Json prediction;
    const bool is_new = request.nodes.empty();
    const std::size_t place = is_new ? request.new_nodes.predicted_place(i) : i;
    require_numbers(all, is_new ? "new node " + std::to_string(place) : "node " + std::to_string(request.nodes[i]));
    if (is_new) {
      prediction["new_node"] = place;
    } else {
      prediction["node"] = request.nodes[i];
      if (!names.ids.empty()) prediction["id"] = names.ids[request.nodes[i]];
    }
    switch (names.task) {
      case Task::kMultiClass: add_class(prediction, row, names); break;
      case Task::kMultiLabel: add_labels(prediction, row, names); break;
      case Task::kRegression: add_values(prediction, row, names); break;
    }
    add_probabilities(prediction, row, request, names);
    if (request.layer > 0) add_embedding(prediction, all.subspan(num_outputs));
    predictions.push_back(std::move(prediction));
  }
  return text_of(answer);
}

std::string error_json(const std::string& what) { return text_of(Json{{"error", what}}); }

}  // namespace salient::serve
