// apps/embedding_model.cpp - see embedding_model.h.
#include "apps/embedding_model.h"

#include <algorithm>

#include "apps/open_named_dataset.h"
#include "engine/links/link_checkpoint.h"
#include "engine/links/link_query.h"
#include "engine/links/link_trainer.h"

namespace salient {

EmbeddingModel::EmbeddingModel(const std::filesystem::path& run, const DataOptions& said, const LinkRunOptions& trained)
    : dataset_(open_named_dataset(said.dataset.empty() ? trained.data.dataset : said.dataset,
                                  said.root.empty() ? trained.data.root : said.root, FeatureFile::kNeeded,
                                  GraphKind::kAny)),
      embeddings_(read_best(run / "checkpoints", identity_of(dataset_, trained.link))),
      reverses_(reverses_of(dataset_.types)) {}

std::optional<std::uint16_t> EmbeddingModel::relation_named(std::string_view name) const {
  const std::vector<Relation>& relations = dataset_.types.relations;
  const auto found = std::ranges::find_if(
      relations, [&](const Relation& relation) { return relation.name == name && !relation.reverse_of; });
  if (found == relations.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - relations.begin());
}

std::vector<float> EmbeddingModel::query_rows(LinkSide side, std::uint16_t relation,
                                              std::span<const NodeId> nodes) const {
  const EmbeddingShape& shape = embeddings_.shape;
  std::vector<float> rows(nodes.size() * static_cast<std::size_t>(shape.node_width()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const LinkQuery query = link_query(side, nodes[i], relation, nodes[i], reverses_);
    make_query({shape, query.is_turned, embeddings_.node(query.node), embeddings_.relation(query.relation)},
               rows.data() + i * static_cast<std::size_t>(shape.node_width()));
  }
  return rows;
}

void EmbeddingModel::score(std::span<const float> queries, std::int64_t first, std::int64_t count, float* out) const {
  const std::int64_t width = embeddings_.shape.node_width();
  pair_scores(pair_score_of(embeddings_.shape.decoder), {std::ssize(queries) / width, count, width},
              {queries.data(), width}, {embeddings_.node(first), width}, out, count);
}

}  // namespace salient
