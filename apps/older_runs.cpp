// apps/older_runs.cpp - see older_runs.h.
#include "apps/older_runs.h"

#include <algorithm>

namespace salient {
namespace {

struct OlderValue {
  ModelKind model;
  const char* option;
  const char* text;
};

constexpr OlderValue kOlderValues[] = {{ModelKind::kGcn, "gcn-norm", "row"}};

}  // namespace

std::vector<options::Assignment> with_older_values(std::vector<options::Assignment> configuration) {
  const auto find = [&](const char* name) {
    return std::ranges::find(configuration, name, &options::Assignment::name);
  };
  const auto model = find("model");
  if (model == configuration.end()) return configuration;
  for (const OlderValue& older : kOlderValues)
    if (model->text == name_of(older.model) && find(older.option) == configuration.end()) {
      configuration.push_back({older.option, older.text, "a run without " + std::string(older.option)});
      break;  // one model, one option; and `model` has moved
    }
  return configuration;
}

std::string older_kind_line(const ModelOptions& model) {
  if (model.kind == ModelKind::kGcn && model.gcn_norm == GcnNorm::kRow)
    return "gcn takes the mean over a node's row (--gcn-norm row), as the run was begun; new runs normalise by degrees";
  return "";
}

}  // namespace salient
