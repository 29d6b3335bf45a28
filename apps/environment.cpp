// apps/environment.cpp - see environment.h.
#include "apps/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "apps/infer_command.h"
#include "apps/link_command.h"
#include "apps/options/options.h"
#include "apps/path_command.h"
#include "apps/serve/serve_options.h"
#include "apps/train_command.h"

namespace salient {
namespace {

std::vector<std::string> known_variables() {
  std::vector<std::string> known = {options::kDataVariable};
  const auto add = [&](std::string_view field, const auto&, std::string_view) {
    known.push_back(options::variable_of(field));
  };
  visit_fields(static_cast<const TrainOptions&>(TrainOptions{}), add);
  visit_fields(static_cast<const LinkRunOptions&>(LinkRunOptions{}), add);
  visit_fields(static_cast<const PathRunOptions&>(PathRunOptions{}), add);
  visit_fields(static_cast<const InferOptions&>(InferOptions{}), add);
  visit_fields(static_cast<const serve::ServeOptions&>(serve::ServeOptions{}), add);
  return known;
}

}  // namespace

std::vector<std::string> names_in_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::vector<std::string> misspelt_variables(std::span<const std::string> names) {
  const std::vector<std::string> known = known_variables();
  std::vector<std::string> warnings;
  for (const std::string& name : names) {
    if (!name.starts_with(options::kVariablePrefix) || std::ranges::find(known, name) != known.end()) continue;
    const auto distance = [&](const std::string& to) { return options::edit_distance(name, to); };
    const std::string& nearest = *std::ranges::min_element(known, {}, distance);
    const std::size_t is_near = 1 + (nearest.size() - options::kVariablePrefix.size()) / 4;  // letters to get wrong
    if (distance(nearest) <= is_near) warnings.push_back(name + " is not read; did you mean " + nearest + "?");
  }
  return warnings;
}

}  // namespace salient
