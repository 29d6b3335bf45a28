// apps/link_scores.cpp - see link_scores.h.
#include "apps/link_scores.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/best_links.h"
#include "apps/embedding_model.h"
#include "apps/embedding_results.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "engine/train/link_model.h"
#include "engine/train/timed_pairs.h"
#include "engine/train/typed_link_evaluation.h"
#include "engine/train/typed_link_loss.h"
#include "prepare/importers/edge_file.h"
#include "store/node_lookup.h"

namespace salient {
namespace {

constexpr std::size_t kBlockPairs = std::size_t{1} << 15;

/// [nodes, width] on the host, in their order.
at::Tensor rows_of_nodes(const InferRun& run, const std::filesystem::path& scratch) {
  const auto num_nodes = static_cast<std::int64_t>(run.nodes.size());
  at::Tensor rows = at::empty({num_nodes, run.trained_with.model.hidden_dim}, at::kFloat);
  std::int64_t done = 0;
  const InferenceCounts counts = predict(run, scratch, [&](const InferenceRound& round) {
    if (round.num_nodes > 0) rows.narrow(0, done, round.num_nodes).copy_(round.logits);
    done += round.num_nodes;
  });
  if (counts.not_finite > 0)
    fail(ErrorKind::kDiverged, "the rows of " + std::to_string(counts.not_finite) + " nodes are not numbers");
  return rows;
}

NodePairs read_edges(const Dataset& dataset, const std::string& file, const std::string& time_column) {
  const NodeLookup lookup(dataset);
  const auto find = [&](std::string_view id) { return lookup.find(id, NodesBy::kId); };
  return read_edges_of_names(file,
                             {.time_column = time_column,
                              .ids = IdKind::kText,
                              .is_node = [&](std::string_view id) { return find(id).has_value(); }},
                             [&](std::string_view id, std::size_t /*end*/) { return find(id); });
}

std::vector<NodePair> pairs_of(const NodePairs& edges) {
  std::vector<NodePair> pairs(edges.sources.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {edges.sources[i], edges.destinations[i]};
  return pairs;
}

/// Of the run's model, on the host.
LinkDecoder decoder_of(InferRun& run) {
  run.trained.model->to(at::kCPU);
  return LinkDecoder(*run.trained.model, run.trained_with.links.decoder, run.trained_with.model.hidden_dim);
}

/// Pairs of a run by times are asked for at times, and others are not.
void require_times_of(const InferRun& run) {
  const InferOptions& said = run.options;
  const std::optional<TimeRule> rule = said.sampled.time().rule();
  if (!rule) {
    if (!said.link_time_column.empty())
      fail(ErrorKind::kUsage, "--link-time-column: the run's neighbours are of all times");
    if (run.trained_with.links.has_pair_features)
      fail(ErrorKind::kUsage, "--time-rule: lt, as the run's model reads what pairs were before their times");
    return;
  }
  if (rule->order != TimeOrder::kBefore)
    fail(ErrorKind::kUsage, "--time-rule: a link is predicted from what was before it, lt, not le");
  if (said.links.empty())
    fail(ErrorKind::kUsage, "--nodes: by a run of links with times pairs of --links are scored, each at its time");
  if (said.link_time_column.empty() && !said.sampled.asked)
    fail(ErrorKind::kUsage, "--links: when are they asked for? --link-time-column names a column, --time one time");
}

/// What is asked of links that have relations.
void require_triples(const InferRun& run) {
  if (run.trained_with.links.decoder == DecoderKind::kMlp)
    fail(ErrorKind::kUsage,
         "--run: links of decoder mlp that have relations are evaluated in training, not asked for yet");
  if (run.dataset.types.node_types.size() > 1)
    fail(ErrorKind::kUsage, "--run: links between several node types, " + type_names(run.dataset.types) +
                                ", are evaluated in training, not asked for yet");
}

}  // namespace

void require_asked_of(const InferRun& run) {
  const InferOptions& said = run.options;
  if (said.negatives.are_there())
    fail(ErrorKind::kUsage, "--valid-negatives, --test-negatives: of runs that learn triples of a knowledge graph");
  const bool asks_links = !said.links.empty() || !said.relation.empty() || said.side != InferOptions().side;
  if (!predicts_links(run.trained_with)) {
    if (asks_links)
      fail(ErrorKind::kUsage, std::string(said.links.empty() ? "--relation, --side" : "--links") +
                                  ": of runs that predict links; this one predicts nodes");
    return;
  }
  if (said.links.empty() && said.nodes.what == NodeSelection().what) fail(ErrorKind::kUsage, kLinksOrNodes);
  if (run.dataset.types.is_typed()) require_triples(run);
  if (!said.relation.empty() && !run.dataset.types.is_typed())
    fail(ErrorKind::kUsage, "--relation: of knowledge graphs; links of " + run.dataset.name + " have none");
  if (!said.added.nodes.empty()) fail(ErrorKind::kUsage, "--new-nodes: of runs that predict nodes");
  require_times_of(run);
  if (run.session.comm->size() > 1) fail(ErrorKind::kUsage, "--ranks: 1 with a run that predicts links");
}

std::vector<NodePair> read_pairs(const Dataset& dataset, const std::string& file) {
  return pairs_of(read_edges(dataset, file, ""));
}

namespace {

/// Each pair as it is seen at its time.
void write_timed_scores(InferRun& run, const std::filesystem::path& folder) {
  const InferOptions& said = run.options;
  const NodePairs edges = read_edges(run.dataset, said.links, said.link_time_column);
  const std::vector<NodePair> pairs = pairs_of(edges);
  std::vector<std::int64_t> times = edges.values.times;
  if (said.sampled.asked) times.assign(pairs.size(), said.sampled.asked->value);
  const bool has_pair_features = run.trained_with.links.has_pair_features;
  TimedPairs timed(run.dataset, sampled_loading(run, run.options.sampled), run.session.device,
                   static_cast<std::size_t>(said.sampled.batch_size), static_cast<std::uint32_t>(said.sampled.seed),
                   has_pair_features);
  Model& model = *run.trained.model;
  const LinkDecoder decoder(model, run.trained_with.links.decoder, run.trained_with.model.hidden_dim);
  const std::vector<float> scores = timed.scores(model, decoder, pairs, times);
  const NodeIds ids = NodeIds::of(run.dataset);
  std::string table = "source,destination,time,score\n";
  for (std::size_t i = 0; i < pairs.size(); ++i)
    table.append(link_text(ids, pairs[i]) + "," + std::to_string(times[i]) + "," +
                 printed("%.9g", static_cast<double>(scores[i])) + "\n");
  replace_text_file(folder / "scores.csv", table);
  log_result("scored " + std::to_string(pairs.size()) + " pairs, each at its time");
}

}  // namespace

void write_link_scores(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch) {
  if (run.options.sampled.time().rule()) return write_timed_scores(run, folder);
  const std::vector<NodePair> pairs = read_pairs(run.dataset, run.options.links);
  run.nodes.clear();
  for (const auto& [source, destination] : pairs) run.nodes.insert(run.nodes.end(), {source, destination});
  std::ranges::sort(run.nodes);
  run.nodes.erase(std::unique(run.nodes.begin(), run.nodes.end()), run.nodes.end());
  const at::NoGradGuard no_gradients;
  const at::Tensor rows = rows_of_nodes(run, scratch);
  const auto row_of = [&](NodeId node) {
    return static_cast<std::int64_t>(std::ranges::lower_bound(run.nodes, node) - run.nodes.begin());
  };
  const LinkDecoder decoder = decoder_of(run);
  const NodeIds ids = NodeIds::of(run.dataset);
  std::string table = "source,destination,score\n";
  for (std::size_t first = 0; first < pairs.size(); first += kBlockPairs) {
    const std::size_t count = std::min(kBlockPairs, pairs.size() - first);
    const at::Tensor block = at::empty({static_cast<std::int64_t>(count), 2}, at::kLong);
    auto* at = block.mutable_data_ptr<std::int64_t>();
    for (std::size_t i = first; i < first + count; ++i) {
      *at++ = row_of(pairs[i].source);
      *at++ = row_of(pairs[i].destination);
    }
    const at::Tensor scores = decoder.scores(rows, block).contiguous();
    for (std::size_t i = 0; i < count; ++i)
      table.append(link_text(ids, pairs[first + i]) + "," +
                   printed("%.9g", static_cast<double>(scores.const_data_ptr<float>()[i])) + "\n");
  }
  replace_text_file(folder / "scores.csv", table);
  log_result("scored " + std::to_string(pairs.size()) + " pairs of " + std::to_string(run.nodes.size()) + " nodes");
}

void write_typed_links(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch) {
  run.nodes.resize(run.dataset.num_nodes());
  std::iota(run.nodes.begin(), run.nodes.end(), NodeId{0});
  const at::NoGradGuard no_gradients;
  const at::Tensor rows = rows_of_nodes(run, scratch);
  Embeddings embeddings = embeddings_of(decoder_of(run), rows.size(0), std::ssize(run.dataset.types.relations));
  embeddings.nodes.assign(rows.const_data_ptr<float>(), rows.const_data_ptr<float>() + rows.numel());
  EmbeddingModel model(name_of(run.trained_with.model.kind), run.dataset, std::move(embeddings),
                       head_relations(run.dataset.types, run.trained_with.links));
  (void)write_triple_results(model, run.options, folder);
}

void write_likeliest_links(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch) {
  const std::vector<NodeId> asked = std::exchange(run.nodes, std::vector<NodeId>(run.dataset.num_nodes()));
  std::iota(run.nodes.begin(), run.nodes.end(), NodeId{0});
  const at::NoGradGuard no_gradients;
  const at::Tensor rows = rows_of_nodes(run, scratch);
  const LinkDecoder decoder = decoder_of(run);
  const bool asks_tail = run.options.side == LinkSide::kTail;
  const BestLinks wanted{.dataset = run.dataset,
                         .nodes = asked,
                         .side = run.options.side,
                         .k = static_cast<std::size_t>(run.options.results.top_k),
                         .blocks = {.queries = 64, .candidates = kBlockPairs / 64}};
  write_best_links(folder, wanted,
                   [&](std::span<const NodeId> nodes, std::int64_t first, std::int64_t count, float* out) {
                     const at::Tensor pairs = at::empty({std::ssize(nodes) * count, 2}, at::kLong);
                     auto* at = pairs.mutable_data_ptr<std::int64_t>();
                     for (const NodeId node : nodes)
                       for (std::int64_t other = first; other < first + count; ++other) {
                         *at++ = asks_tail ? std::int64_t{node} : other;
                         *at++ = asks_tail ? other : std::int64_t{node};
                       }
                     const at::Tensor scores = decoder.scores(rows, pairs).contiguous();
                     std::copy_n(scores.const_data_ptr<float>(), scores.numel(), out);
                   });
}

}  // namespace salient
