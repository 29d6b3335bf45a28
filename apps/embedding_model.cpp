// apps/embedding_model.cpp - see embedding_model.h.
#include "apps/embedding_model.h"

#include "apps/open_named_dataset.h"
#include "engine/links/embedding_learner.h"
#include "engine/links/link_checkpoint.h"
#include "engine/links/link_query.h"
#include "engine/links/link_trainer.h"

namespace salient {

EmbeddingModel::EmbeddingModel(const std::filesystem::path& run, const DataOptions& said, const LinkRunOptions& trained)
    : TripleModel(open_named_dataset(said.dataset.empty() ? trained.data.dataset : said.dataset,
                                     said.root.empty() ? trained.data.root : said.root, FeatureFile::kNeeded,
                                     GraphKind::kAny)),
      embeddings_(read_embeddings(best_model(run / "checkpoints", identity_of(dataset(), trained.link)),
                                  shape_of(dataset(), trained.link))),
      reverses_(reverses_of(dataset().types)) {}

void EmbeddingModel::scores(const AskedNodes& asked, std::int64_t first, std::int64_t count, float* out) {
  const EmbeddingShape& shape = embeddings_.shape;
  const std::int64_t width = shape.node_width();
  std::vector<float> rows(asked.nodes.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < asked.nodes.size(); ++i) {
    const LinkQuery query = link_query(asked.side, asked.nodes[i], asked.relation, asked.nodes[i], reverses_);
    make_query({shape, query.is_turned, embeddings_.node(query.node), embeddings_.relation(query.relation)},
               rows.data() + i * static_cast<std::size_t>(width));
  }
  pair_scores(pair_score_of(shape.decoder), {std::ssize(asked.nodes), count, width}, {rows.data(), width},
              {embeddings_.node(first), width}, out, count);
}

std::vector<float> EmbeddingModel::scores_of(std::span<const AskedTriple> triples) {
  std::vector<float> found(triples.size());
  for (std::size_t i = 0; i < triples.size(); ++i)
    scores({LinkSide::kTail, triples[i].relation, std::span(&triples[i].link.source, 1)}, triples[i].link.destination,
           1, &found[i]);
  return found;
}

}  // namespace salient
