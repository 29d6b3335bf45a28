// apps/path_model.cpp - see path_model.h.
#include "apps/path_model.h"

#include <algorithm>
#include <map>

#include "apps/open_named_dataset.h"
#include "engine/links/link_checkpoint.h"
#include "engine/links/link_query.h"
#include "engine/paths/path_learner.h"
#include "engine/paths/path_trainer.h"

namespace salient {
namespace {

constexpr std::int64_t kScoresAtATime = std::int64_t{4} << 20, kMostQueries = 64;

}  // namespace

PathModel::PathModel(const std::filesystem::path& run, const DataOptions& said, const PathRunOptions& trained)
    : TripleModel(open_named_dataset(said.dataset.empty() ? trained.data.dataset : said.dataset,
                                     said.root.empty() ? trained.data.root : said.root, FeatureFile::kNeeded,
                                     GraphKind::kAny)),
      graph_(path_graph_of(dataset())),
      reverses_(reverses_of(dataset().types)),
      parameters_(path_shape_of(dataset(), trained.link, trained.paths), 0) {
  read_path_parameters(best_model(run / "checkpoints", identity_of(dataset(), trained.link, trained.paths)),
                       parameters_);
}

RankBlocks PathModel::blocks() const {
  const auto num_nodes = static_cast<std::int64_t>(dataset().num_nodes());
  return {.queries = std::clamp<std::int64_t>(kScoresAtATime / num_nodes, 1, kMostQueries), .candidates = num_nodes};
}

void PathModel::scores(const AskedNodes& asked, std::int64_t first, std::int64_t count, float* out) {
  std::vector<PathQuestion> questions;
  for (const NodeId node : asked.nodes) {
    const LinkQuery query = link_query(asked.side, node, asked.relation, node, reverses_);
    questions.push_back({query.node, query.relation});
  }
  score_questions(parameters_, graph_, questions, [&](std::size_t q, std::span<const float> scores) {
    std::copy_n(scores.begin() + first, count, out + static_cast<std::int64_t>(q) * count);
  });
}

std::vector<float> PathModel::scores_of(std::span<const AskedTriple> triples) {
  std::map<PathQuestion, std::vector<std::size_t>> asked;
  for (std::size_t i = 0; i < triples.size(); ++i) asked[{triples[i].link.source, triples[i].relation}].push_back(i);
  std::vector<PathQuestion> questions;
  std::vector<const std::vector<std::size_t>*> items;
  for (const auto& [question, some] : asked) {
    questions.push_back(question);
    items.push_back(&some);
  }
  std::vector<float> found(triples.size());
  score_questions(parameters_, graph_, questions, [&](std::size_t q, std::span<const float> scores) {
    for (const std::size_t i : *items[q]) found[i] = scores[triples[i].link.destination];
  });
  return found;
}

}  // namespace salient
