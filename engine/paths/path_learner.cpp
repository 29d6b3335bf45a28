// engine/paths/path_learner.cpp - see path_learner.h.
#include "engine/paths/path_learner.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "core/files/safetensors.h"
#include "engine/links/link_query.h"
#include "engine/paths/path_loss.h"
#include "engine/paths/path_ranks.h"
#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kNegativeDraws = 0xFFFFFFFE;  // a hop that no sampler uses

}  // namespace

PathShape path_shape_of(const Dataset& dataset, const LinkOptions& options, const PathOptions& paths) {
  return {.hidden = options.hidden,
          .layers = paths.layers,
          .num_relations = std::ssize(dataset.types.relations),
          .sum = paths.sum};
}

PathGraph path_graph_of(const Dataset& dataset) {
  return make_path_graph(dataset.links[kTrainLinks], dataset.num_nodes(), reverses_of(dataset.types));
}

PathLearner::PathLearner(const Dataset& dataset, const LinkOptions& options, const PathOptions& paths)
    : dataset_(dataset),
      options_(options),
      paths_(paths),
      reverses_(reverses_of(dataset.types)),
      graph_(path_graph_of(dataset)),
      known_(dataset.links),
      trained_on_(std::span(dataset.links).first(1)),
      parameters_(path_shape_of(dataset, options, paths), options.seed),
      moments_(RowOptimiser{.rule = options.optimiser}.moments_of(parameters_.values)) {}

double PathLearner::step(BatchKey key, std::span<const NodeId> batch) {
  const LinkTable& links = dataset_.links[kTrainLinks];
  const PathGraph graph = without_links(graph_, batch);
  std::vector<Item> items;
  std::vector<PathQuestion> questions;
  for (const NodeId link : batch)
    for (const LinkSide side : kLinkSides) {
      const LinkQuery query = link_query(links, link, side, reverses_);
      items.push_back({side, link, query.target, trained_on_.of(side, links.relations[link], query.node)});
      questions.push_back({query.node, query.relation});
    }
  const PathInputs inputs(parameters_, questions);
  const auto d = static_cast<std::size_t>(parameters_.shape.hidden);
  const std::size_t local = parameters_.places.local_size, of_relations = inputs.relations_size();
  local_gradients_.assign(items.size() * local, 0.F);
  query_gradients_.assign(items.size() * d, 0.F);
  relation_gradients_.assign(items.size() * of_relations, 0.F);
  std::vector<double> losses(items.size());
  const float weight = 1 / static_cast<float>(items.size());
  for_each_pass(parameters_, items.size(), [&](std::size_t q, PathPass& pass) {
    const std::span<const float> scores = pass.forward(graph, inputs.of(q));
    std::vector<float> by_score(scores.size());
    losses[q] = loss_of(key, items[q], scores, weight, by_score);
    pass.backward(graph, inputs.of(q), by_score,
                  {local_gradients_.data() + q * local, query_gradients_.data() + q * d,
                   relation_gradients_.data() + q * of_relations});
  });
  gradients_.assign(parameters_.values.size(), 0.F);
  add_local_gradients(items.size());
  inputs.spread_gradients(query_gradients_.data(), relation_gradients_.data(), gradients_);
  const RowOptimiser optimiser{options_.optimiser, static_cast<float>(options_.lr),
                               static_cast<float>(options_.weight_decay)};
  optimiser.step(parameters_.values, kPathRow, {.are_all = true}, gradients_.data(), moments_);
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return sum;
}

double PathLearner::loss_of(BatchKey key, const Item& item, std::span<const float> scores, float weight,
                            std::span<float> gradients) const {
  if (options_.negatives == 0) return path_softmax_loss(scores, item.target, item.known, weight, gradients);
  return path_bce_loss(scores, item.target, negatives_of(key, item), paths_.adversarial_temperature, weight, gradients);
}

std::vector<NodeId> PathLearner::negatives_of(BatchKey key, const Item& item) const {
  const Draws draws(key, kNegativeDraws,
                    static_cast<std::uint32_t>(2 * item.link + static_cast<std::uint32_t>(item.side)));
  return path_negatives(draws, static_cast<std::uint32_t>(options_.negatives), static_cast<NodeId>(graph_.num_nodes()),
                        item.known);
}

/// In the order of the questions, so that threads change no bit.
void PathLearner::add_local_gradients(std::size_t num_questions) {
  const std::size_t local = parameters_.places.local_size;
  for_each_item(static_cast<std::int64_t>(local), 256, [&](std::int64_t item) {
    const auto i = static_cast<std::size_t>(item);
    for (std::size_t q = 0; q < num_questions; ++q) gradients_[i] += local_gradients_[q * local + i];
  });
}

LinkRanks PathLearner::ranks(std::size_t split) {
  return rank_paths(parameters_, graph_, dataset_, split, {known_, reverses_, options_.ties});
}

FileDigest PathLearner::write_model(const fs::path& path) const { return write_path_parameters(path, parameters_); }

FileDigest PathLearner::write_moments(const fs::path& path) const {
  std::vector<TensorInfo> tensors;
  for (const auto& [name, values] : {std::pair{"second", &moments_.second}, std::pair{"first", &moments_.first}})
    if (!values->empty())
      tensors.push_back({name, TensorType::kF32, {std::ssize(*values)}, std::as_bytes(std::span(*values))});
  return write_safetensors(path, tensors, {{"steps", std::to_string(moments_.steps)}});
}

void PathLearner::read_model(const fs::path& path) { read_path_parameters(path, parameters_); }

void PathLearner::read_moments(const fs::path& path, std::int64_t steps) {
  const SafetensorsFile file(path);
  moments_.steps = steps;
  for (const auto& [name, values] : {std::pair{"second", &moments_.second}, std::pair{"first", &moments_.first}}) {
    if (values->empty()) continue;
    const TensorInfo* found = file.view().find(name);
    if (found == nullptr || found->type != TensorType::kF32 || found->bytes.size() != values->size() * sizeof(float))
      fail(ErrorKind::kBadData, file.name() + ": tensor " + name + " is missing, or has another size");
    std::memcpy(values->data(), found->bytes.data(), found->bytes.size());
  }
}

}  // namespace salient
