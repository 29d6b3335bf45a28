// engine/train/class_weights.cpp - see class_weights.h.
#include "engine/train/class_weights.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/number_text.h"
#include "core/value_text.h"
#include "engine/comm/agreement.h"

namespace salient {
namespace {

std::vector<float> balanced(const Dataset& dataset) {
  std::vector<std::int64_t> nodes_of(static_cast<std::size_t>(dataset.num_classes), 0);
  for (const NodeId node : dataset.train) ++nodes_of[static_cast<std::size_t>(dataset.class_of(node))];
  const auto present = static_cast<double>(std::ranges::count_if(nodes_of, [](std::int64_t n) { return n > 0; }));
  std::vector<float> weights;
  for (const std::int64_t n : nodes_of)
    weights.push_back(
        n == 0 ? 1.0F
               : static_cast<float>(static_cast<double>(dataset.train.size()) / (present * static_cast<double>(n))));
  return weights;
}

/// Without blanks around it, a carriage return, and quotes.
std::string unquoted(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  const bool is_quoted = text.size() >= 2 && text.starts_with('"') && text.ends_with('"');
  std::string plain;
  for (std::size_t i = is_quoted ? 1 : 0; i < text.size() - (is_quoted ? 1 : 0); ++i) {
    if (is_quoted && text[i] == '"' && text[i + 1] == '"') ++i;
    plain += text[i];
  }
  return plain;
}

/// By its name where classes have names, else, and where no class has this name, by its number.
std::optional<std::size_t> class_called(const std::string& text, const Dataset& dataset) {
  const auto found = std::ranges::find(dataset.class_names, text);
  if (found != dataset.class_names.end()) return static_cast<std::size_t>(found - dataset.class_names.begin());
  std::size_t number = 0;
  if (!from_text(std::string_view(text), number) || number >= static_cast<std::size_t>(dataset.num_classes))
    return std::nullopt;
  return number;
}

/// The lines of a file, and the weights that they give.
class WeightsFile {
 public:
  WeightsFile(const std::string& path, const Dataset& dataset)
      : path_(path),
        dataset_(dataset),
        weights_(static_cast<std::size_t>(dataset.num_classes), 1.0F),
        line_of_(weights_.size(), 0) {}

  std::vector<float> read() {
    if (!is_there(path_))
      fail(ErrorKind::kNoInput, path_ + ": no such file; class weights are none, balanced, or a file of class,weight");
    std::istringstream text(read_text_file(path_));
    for (std::string line; std::getline(text, line);) take(line);
    if (std::ranges::none_of(weights_, [](float weight) { return weight > 0; }))
      fail(ErrorKind::kBadData, path_ + ": no class has a weight above 0");
    return weights_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::kBadData, path_ + ": line " + std::to_string(number_) + ": " + what);
  }

  void take(std::string_view line) {
    ++number_;
    if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (unquoted(line).empty()) return;
    const std::size_t comma = line.rfind(',');
    const std::string name = unquoted(line.substr(0, comma));
    const std::string value = comma == std::string_view::npos ? "" : unquoted(line.substr(comma + 1));
    float weight = 0;
    const bool is_number = from_text(std::string_view(value), weight);
    const std::optional<std::size_t> of = class_called(name, dataset_);
    if (number_ == 1 && !is_number && !of) return;  // a header
    if (comma == std::string_view::npos) refuse("a class and its weight, with a comma between");
    if (!of) refuse("'" + name + "' is no class of " + dataset_.name);
    if (!is_number || weight < 0) refuse("'" + value + "' is no weight, a number of 0 or more");
    if (line_of_[*of] > 0)
      refuse("class '" + name + "' has a weight already, in line " + std::to_string(line_of_[*of]));
    line_of_[*of] = number_;
    weights_[*of] = weight;
  }

  const std::string& path_;
  const Dataset& dataset_;
  std::vector<float> weights_;
  std::vector<std::size_t> line_of_;  // 0 = none
  std::size_t number_ = 0;
};

}  // namespace

std::vector<float> class_weights_of(const std::string& said, const Dataset& dataset) {
  if (said == kNoClassWeights) return {};
  if (dataset.task != Task::kMultiClass)
    fail(ErrorKind::kUsage,
         "class weights are for one class a node, and " + dataset.name + " has " + words_of(dataset.task).of_node);
  return said == kBalancedClasses ? balanced(dataset) : WeightsFile(said, dataset).read();
}

std::vector<float> class_weights_on_all_ranks(Communicator& comm, const std::string& said, const Dataset& dataset) {
  std::string bytes;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    const std::vector<float> weights = class_weights_of(said, dataset);
    bytes.assign(reinterpret_cast<const char*>(weights.data()), weights.size() * sizeof(float));
  });
  comm.broadcast(bytes);
  std::vector<float> weights(bytes.size() / sizeof(float));
  if (!weights.empty()) std::memcpy(weights.data(), bytes.data(), bytes.size());
  return weights;
}

std::string class_weights_text(const std::vector<float>& weights, const Dataset& dataset) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t c = 0; c < std::min(kMost, weights.size()); ++c)
    text.append(c == 0 ? "" : ", ")
        .append(dataset.class_names.empty() ? std::to_string(c) : "'" + dataset.class_names[c] + "'")
        .append(printed(" %.4g", static_cast<double>(weights[c])));
  return weights.size() > kMost ? text + " and " + std::to_string(weights.size() - kMost) + " more" : text;
}

}  // namespace salient
