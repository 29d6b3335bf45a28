// engine/links/embedding_learner.cpp - see embedding_learner.h.
#include "engine/links/embedding_learner.h"

#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/files/safetensors.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

TensorInfo tensor(std::string name, const std::vector<float>& values) {
  return {std::move(name), TensorType::kF32, {std::ssize(values)}, std::as_bytes(std::span(values))};
}

/// Of each table the moments that its optimiser has.
std::vector<std::pair<const char*, std::vector<float> RowMoments::*>> moments_of(RowRule rule) {
  std::vector<std::pair<const char*, std::vector<float> RowMoments::*>> moments{{"second", &RowMoments::second}};
  if (rule == RowRule::kAdam) moments.emplace_back("first", &RowMoments::first);
  return moments;
}

}  // namespace

EmbeddingShape shape_of(const Dataset& dataset, const LinkOptions& options) {
  return {.decoder = options.decoder,
          .hidden = options.hidden,
          .num_nodes = static_cast<std::int64_t>(dataset.num_nodes()),
          .num_relations = std::ssize(dataset.types.relations)};
}

EmbeddingLearner::EmbeddingLearner(const Dataset& dataset, const LinkOptions& options)
    : dataset_(dataset),
      options_(options),
      reverses_(reverses_of(dataset.types)),
      known_(dataset.links),
      state_(initial_state(shape_of(dataset, options), options)) {}

double EmbeddingLearner::step(BatchKey key, std::span<const NodeId> batch) {
  if (!steps_) steps_ = std::make_unique<LinkSteps>(dataset_.links[kTrainLinks], reverses_, options_, state_);
  return steps_->step(key, batch);
}

LinkRanks EmbeddingLearner::ranks(std::size_t split) {
  const LinkTable& links = dataset_.links[split];
  const RankedLinks ranked{links, dataset_.types, reverses_, options_.ties};
  const GivenNegatives given = open_negatives(dataset_, split);
  return tally(given.of_link() > 0 ? rank_links_among(state_.embeddings, ranked, given)
                                   : rank_links(state_.embeddings, ranked, known_),
               links, reverses_.size());
}

FileDigest EmbeddingLearner::write_model(const fs::path& path) const {
  return write_embeddings(path, state_.embeddings);
}

FileDigest EmbeddingLearner::write_moments(const fs::path& path) const {
  std::vector<TensorInfo> tensors;
  for (const auto& [name, values] : moments_of(options_.optimiser)) {
    tensors.push_back(tensor(std::string("node_emb.") + name, state_.node_moments.*values));
    tensors.push_back(tensor(std::string("rel_emb.") + name, state_.relation_moments.*values));
  }
  return write_safetensors(path, tensors, {{"steps", std::to_string(state_.node_moments.steps)}});
}

void EmbeddingLearner::read_model(const fs::path& path) {
  state_.embeddings = read_embeddings(path, state_.embeddings.shape);
}

void EmbeddingLearner::read_moments(const fs::path& path, std::int64_t steps) {
  const SafetensorsFile file(path);
  const auto read = [&](const std::string& name, std::vector<float>& values) {
    const TensorInfo* found = file.view().find(name);
    if (found == nullptr || found->type != TensorType::kF32 || found->bytes.size() != values.size() * sizeof(float))
      fail(ErrorKind::kBadData, file.name() + ": tensor " + name + " is missing, or has another size");
    std::memcpy(values.data(), found->bytes.data(), found->bytes.size());
  };
  state_.node_moments.steps = state_.relation_moments.steps = steps;
  for (const auto& [name, values] : moments_of(options_.optimiser)) {
    read(std::string("node_emb.") + name, state_.node_moments.*values);
    read(std::string("rel_emb.") + name, state_.relation_moments.*values);
  }
}

}  // namespace salient
