// apps/embedding_results.cpp - see embedding_results.h.
#include "apps/embedding_results.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "apps/best_links.h"
#include "apps/embedding_model.h"
#include "apps/infer_command.h"
#include "apps/selected_nodes.h"
#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "core/version.h"
#include "prepare/importers/triple_file.h"
#include "store/node_lookup.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Options that a run of embeddings has a use for.
constexpr std::string_view kOfEmbeddings[] = {
    "run",     "nodes",     "nodes-by", "id-column", "links", "relation",     "side",     "top-k",     "out",  "force",
    "dataset", "data-root", "threads",  "device",    "comm",  "comm-timeout", "progress", "log-level", "color"};

std::map<std::string, std::string> values_of(const InferOptions& options) {
  std::map<std::string, std::string> values;
  visit_fields(options, [&](std::string_view name, const auto& value, std::string_view) {
    values[std::string(name)] = to_text(value);
  });
  return values;
}

/// @return  how many
std::uint64_t write_triple_scores(const EmbeddingModel& model, const std::string& file, const fs::path& folder) {
  const NodeLookup lookup(model.dataset());
  const NodeIds& ids = lookup.ids();
  std::string table = "source,relation,destination,score\n";
  const std::uint64_t count = read_triples(file, std::nullopt, [&](const Triple& triple) {
    const auto node = [&](std::string_view name) {
      const std::optional<NodeId> found = lookup.find(name, NodesBy::kId);
      if (!found)
        fail(ErrorKind::kBadData, file + ": line " + std::to_string(triple.line) + ": '" + std::string(name) +
                                      "': " + lookup.rule_of(name, NodesBy::kId));
      return *found;
    };
    const std::optional<std::uint16_t> relation = model.relation_named(triple.relation);
    if (!relation)
      fail(ErrorKind::kBadData, file + ": line " + std::to_string(triple.line) + ": " + model.dataset().name +
                                    " has no relation '" + std::string(triple.relation) + "'");
    const NodePair link{node(triple.head), node(triple.tail)};
    float score = 0;
    model.score(model.query_rows(LinkSide::kTail, *relation, std::span(&link.source, 1)), link.destination, 1, &score);
    table.append(link_text(ids, link, std::string(triple.relation)) + "," +
                 printed("%.9g", static_cast<double>(score)) + "\n");
  });
  replace_text_file(folder / "scores.csv", table);
  log_result("scored " + std::to_string(count) + " triples");
  return count;
}

/// @return  of how many nodes
std::uint64_t write_best_triples(const EmbeddingModel& model, const InferOptions& said, const fs::path& folder) {
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
                         .blocks = rank_blocks(kDefaultRankBytes, model.width())};
  write_best_links(folder, wanted,
                   [&](std::span<const NodeId> some, std::int64_t first, std::int64_t count, float* out) {
                     model.score(model.query_rows(said.side, *relation, some), first, count, out);
                   });
  return nodes.size();
}

}  // namespace

std::uint64_t write_triple_results(const EmbeddingModel& model, const InferOptions& said, const fs::path& folder) {
  std::uint64_t count = 0;
  arena_of(said.machine.threads).execute([&] {
    count =
        said.links.empty() ? write_best_triples(model, said, folder) : write_triple_scores(model, said.links, folder);
  });
  return count;
}

void require_options_of_embeddings(const InferOptions& said) {
  const std::map<std::string, std::string> none = values_of({});
  for (const auto& [name, value] : values_of(said))
    if (value != none.at(name) && std::ranges::find(kOfEmbeddings, name) == std::ranges::end(kOfEmbeddings))
      fail(ErrorKind::kUsage, "--" + name + ": of runs with an encoder; this one has a learned row for each entity");
  if (said.machine.device == DeviceKind::kCuda)
    fail(ErrorKind::kUsage, "--device: cpu with a run of embeddings, which are scored there");
  if (said.links.empty() && said.nodes.what == NodeSelection().what) fail(ErrorKind::kUsage, kLinksOrNodes);
}

std::string write_embedding_results(const InferOptions& said, const LinkRunOptions& trained, const char* program,
                                    const fs::path& folder) {
  const EmbeddingModel model(said.run, said.data, trained);
  nlohmann::ordered_json json = {{"program", std::string(program) + " " + kVersion},
                                 {"run", said.run},
                                 {"checkpoint", "best"},
                                 {"model", name_of(trained.model)},
                                 {"decoder", name_of(trained.link.decoder)},
                                 {"dataset",
                                  {{"name", model.dataset().name},
                                   {"source", model.dataset().source_kind},
                                   {"fingerprint", model.dataset().fingerprint}}}};
  const std::uint64_t count = write_triple_results(model, said, folder);
  if (said.links.empty())
    json["nodes"] = {{"selected", said.nodes.what},
                     {"relation", said.relation},
                     {"side", name_of(said.side)},
                     {"top_k", said.results.top_k},
                     {"count", count}};
  else
    json["links"] = {{"file", said.links}, {"count", count}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";  // paths are bytes
}

}  // namespace salient
