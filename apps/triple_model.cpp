// apps/triple_model.cpp - see triple_model.h.
#include "apps/triple_model.h"

#include <algorithm>

#include "apps/embedding_model.h"
#include "apps/link_command.h"
#include "apps/path_command.h"
#include "apps/path_model.h"
#include "core/error.h"

namespace salient {

std::optional<std::uint16_t> TripleModel::relation_named(std::string_view name) const {
  const std::vector<Relation>& relations = dataset_.types.relations;
  const auto found = std::ranges::find_if(
      relations, [&](const Relation& relation) { return relation.name == name && !relation.reverse_of; });
  if (found == relations.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - relations.begin());
}

bool is_run_of_triples(const std::filesystem::path& run) {
  return embedding_options_of(run).has_value() || path_options_of(run).has_value();
}

std::unique_ptr<TripleModel> open_triple_model(const std::filesystem::path& run, const DataOptions& said) {
  if (const std::optional<LinkRunOptions> trained = embedding_options_of(run))
    return std::make_unique<EmbeddingModel>(run, said, *trained);
  const std::optional<PathRunOptions> trained = path_options_of(run);
  require(trained.has_value(), "a run of triples");
  return std::make_unique<PathModel>(run, said, *trained);
}

}  // namespace salient
