// apps/embedding_results.cpp - see embedding_results.h.
#include "apps/embedding_results.h"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apps/best_links.h"
#include "apps/infer_command.h"
#include "apps/selected_nodes.h"
#include "apps/triple_classification.h"
#include "apps/triple_model.h"
#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "core/version.h"
#include "store/node_ids.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Options that a run of embeddings has a use for.
constexpr std::string_view kOfEmbeddings[] = {
    "run",  "nodes",           "nodes-by",       "id-column", "links",   "relation",  "side",    "top-k",
    "out",  "valid-negatives", "test-negatives", "force",     "dataset", "data-root", "threads", "device",
    "comm", "comm-timeout",    "progress",       "log-level", "color"};

std::map<std::string, std::string> values_of(const InferOptions& options) {
  std::map<std::string, std::string> values;
  visit_fields(options, [&](std::string_view name, const auto& value, std::string_view) {
    values[std::string(name)] = to_text(value);
  });
  return values;
}

constexpr std::size_t kTriplesAtATime = std::size_t{1} << 16;

/// @return  how many
std::uint64_t write_triple_scores(TripleModel& model, const std::string& file, const fs::path& folder) {
  const NodeIds ids = NodeIds::of(model.dataset());
  std::string table = "source,relation,destination,score\n";
  std::vector<AskedTriple> block;
  const auto write_block = [&] {
    const std::vector<float> scores = model.scores_of(block);
    for (std::size_t i = 0; i < block.size(); ++i)
      table.append(link_text(ids, block[i].link, model.dataset().types.relations[block[i].relation].name) + "," +
                   printed("%.9g", static_cast<double>(scores[i])) + "\n");
    block.clear();
  };
  const std::uint64_t count = read_asked_triples(model, file, [&](const AskedTriple& triple, std::uint64_t) {
    block.push_back(triple);
    if (block.size() == kTriplesAtATime) write_block();
  });
  write_block();
  replace_text_file(folder / "scores.csv", table);
  log_result("scored " + std::to_string(count) + " triples");
  return count;
}

std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";  // paths are bytes
}

/// @return  of how many nodes
std::uint64_t write_best_triples(TripleModel& model, const InferOptions& said, const fs::path& folder) {
  if (said.relation.empty()) fail(ErrorKind::kUsage, "--relation: is needed, of the links that --nodes are asked for");
  const std::optional<std::uint16_t> relation = model.relation_named(said.relation);
  if (!relation)
    fail(ErrorKind::kUsage, "--relation: " + model.dataset().name + " has no relation '" + said.relation +
                                "'; salient-prepare describe lists them, and --side head asks for heads");
  const std::vector<NodeId> nodes = select_nodes(model.dataset(), said.nodes).nodes;
  const BestLinks wanted{.dataset = model.dataset(),
                         .nodes = nodes,
                         .side = said.side,
                         .relation = *relation,
                         .k = static_cast<std::size_t>(said.results.top_k),
                         .blocks = model.blocks()};
  write_best_links(folder, wanted,
                   [&](std::span<const NodeId> some, std::int64_t first, std::int64_t count, float* out) {
                     model.scores({said.side, *relation, some}, first, count, out);
                   });
  return nodes.size();
}

}  // namespace

std::uint64_t write_triple_results(TripleModel& model, const InferOptions& said, const fs::path& folder) {
  return arena_of(said.machine.threads).execute([&] {
    return said.links.empty() ? write_best_triples(model, said, folder)
                              : write_triple_scores(model, said.links, folder);
  });
}

void require_options_of_embeddings(const InferOptions& said) {
  const std::map<std::string, std::string> none = values_of({});
  for (const auto& [name, value] : values_of(said))
    if (value != none.at(name) && std::ranges::find(kOfEmbeddings, name) == std::ranges::end(kOfEmbeddings))
      fail(ErrorKind::kUsage, "--" + name + ": of runs with an encoder of nodes; this one is of triples alone");
  if (said.machine.device == DeviceKind::kCuda)
    fail(ErrorKind::kUsage, "--device: cpu with a run of triples, which are scored there");
  if (said.negatives.are_there() && (said.negatives.valid.empty() || said.negatives.test.empty()))
    fail(ErrorKind::kUsage, "--valid-negatives, --test-negatives: both are needed, thresholds are those of validation");
  if (said.negatives.are_there()) return;
  if (said.links.empty() && said.nodes.what == NodeSelection().what) fail(ErrorKind::kUsage, kLinksOrNodes);
}

std::string write_embedding_results(const InferOptions& said, const char* program, const fs::path& folder) {
  const std::unique_ptr<TripleModel> opened = open_triple_model(said.run, said.data);
  TripleModel& model = *opened;
  nlohmann::ordered_json json = {{"program", std::string(program) + " " + kVersion},
                                 {"run", said.run},
                                 {"checkpoint", "best"},
                                 {"model", model.model()}};
  if (!model.decoder().empty()) json["decoder"] = model.decoder();
  json["dataset"] = {{"name", model.dataset().name},
                     {"source", model.dataset().source_kind},
                     {"fingerprint", model.dataset().fingerprint}};
  if (said.negatives.are_there()) {
    TripleAccuracies accuracies;
    arena_of(said.machine.threads).execute([&] {
      accuracies = write_triple_accuracies(model, said.negatives, folder);
    });
    json["negatives"] = {{"valid", said.negatives.valid},
                         {"test", said.negatives.test},
                         {"valid_accuracy", accuracies.valid},
                         {"test_accuracy", accuracies.test}};
    return text_of(json);
  }
  const std::uint64_t count = write_triple_results(model, said, folder);
  if (said.links.empty())
    json["nodes"] = {{"selected", said.nodes.what},
                     {"relation", said.relation},
                     {"side", name_of(said.side)},
                     {"top_k", said.results.top_k},
                     {"count", count}};
  else
    json["links"] = {{"file", said.links}, {"count", count}};
  return text_of(json);
}

}  // namespace salient
