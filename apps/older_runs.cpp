// apps/older_runs.cpp - see older_runs.h.
#include "apps/older_runs.h"

#include <algorithm>

namespace salient {

std::vector<options::Assignment> with_older_values(std::vector<options::Assignment> configuration) {
  const auto find = [&](const char* name) {
    return std::ranges::find(configuration, name, &options::Assignment::name);
  };
  const auto model = find("model");
  const bool is_gcn = model != configuration.end() && model->text == name_of(ModelKind::kGcn);
  if (is_gcn && find("gcn-norm") == configuration.end())
    configuration.push_back({"gcn-norm", name_of(GcnNorm::kRow), "a run from before gcn-norm"});
  return configuration;
}

std::string older_kind_line(const ModelOptions& model) {
  if (model.kind == ModelKind::kGcn && model.gcn_norm == GcnNorm::kRow)
    return "gcn takes the mean over a node's row (--gcn-norm row), as the run was begun; new runs normalise by degrees";
  return "";
}

}  // namespace salient
