// apps/recipes.cpp - see recipes.h. Rows for a data set are from the measurements in docs/RESULTS.md.
#include "apps/recipes.h"

#include <initializer_list>
#include <optional>
#include <string_view>

namespace salient {
namespace {

struct Setting {
  const char* option;
  const char* text;
};

struct Recipe {
  std::string_view dataset;        ///< "" = any
  std::optional<ModelKind> model;  ///< none = any
  std::initializer_list<Setting> settings;
};

// What is not here is as in the defaults of TrainOptions: three layers, hidden 256, fanouts 15,10,5 and 20,20,20.
const Recipe kRecipes[] = {
    // SALIENT (Kaler et al., MLSys 2022). A sum over other numbers of neighbours than in training misleads
    // GIN, so its fanouts are the same.
    {"", ModelKind::kGin, {{"fanout", "20,20,20"}, {"eval-fanout", "20,20,20"}, {"batch-size", "512"}}},
    {"", ModelKind::kGine, {{"fanout", "20,20,20"}, {"eval-fanout", "20,20,20"}, {"batch-size", "512"}}},
    {"",
     ModelKind::kSageRi,
     {{"hidden", "1024"}, {"fanout", "12,12,12"}, {"eval-fanout", "100,100,100"}, {"dropout", "0.1"}, {"lr", "0.002"}}},
    {"wordnet", {}, {{"epochs", "5"}}},
    {"wordnet", ModelKind::kSageRi, {{"hidden", "256"}, {"eval-fanout", "20,20,20"}}},
};

}  // namespace

std::vector<options::Assignment> recipe_for(const std::string& dataset, ModelKind model) {
  std::vector<options::Assignment> found;
  for (const Recipe& recipe : kRecipes) {
    if ((!recipe.dataset.empty() && recipe.dataset != dataset) || (recipe.model && recipe.model != model)) continue;
    std::string said_by = "the recipe of ";
    said_by.append(recipe.dataset).append(recipe.dataset.empty() || !recipe.model ? "" : " and ");
    if (recipe.model) said_by.append(name_of(*recipe.model));
    for (const Setting& setting : recipe.settings) found.push_back({setting.option, setting.text, said_by});
  }
  return found;
}

}  // namespace salient
