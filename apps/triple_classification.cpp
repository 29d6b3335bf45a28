// apps/triple_classification.cpp - see triple_classification.h.
#include "apps/triple_classification.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/best_links.h"
#include "core/console/log.h"
#include "core/csv_text.h"
#include "core/error.h"
#include "core/files/replace_text_file.h"
#include "core/number_text.h"
#include "engine/rank/score_thresholds.h"
#include "prepare/importers/triple_file.h"
#include "store/node_lookup.h"

namespace salient {
namespace {

std::string at_line(const std::string& file, std::uint64_t line) { return file + ": line " + std::to_string(line); }

/// The links of a split, and the negatives of a file.
std::vector<JudgedTriple> judged_triples(TripleModel& model, std::size_t split, const std::string& file,
                                         const KnownLinks& known) {
  const LinkTable& links = model.dataset().links[split];
  std::vector<AskedTriple> asked(links.size());
  for (std::size_t i = 0; i < links.size(); ++i)
    asked[i] = {{links.source(i), links.destination(i)}, links.relations[i]};
  (void)read_asked_triples(model, file, [&](const AskedTriple& triple, std::uint64_t line) {
    const std::span<const NodeId> tails = known.of(LinkSide::kTail, triple.relation, triple.link.source);
    if (std::ranges::binary_search(tails, triple.link.destination))
      fail(ErrorKind::kBadData, at_line(file, line) + ": this negative is a link of " + model.dataset().name);
    asked.push_back(triple);
  });
  if (asked.size() == links.size()) fail(ErrorKind::kBadData, file + ": has no triples");
  const std::vector<float> scores = model.scores_of(asked);
  std::vector<JudgedTriple> judged(asked.size());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (std::isnan(scores[i]))
      fail(ErrorKind::kDiverged, "the score of a triple is not a number", Topic::kLearningRate);
    judged[i] = {asked[i].relation, i < links.size(), scores[i]};
  }
  return judged;
}

std::string cells_of(const JudgedCounts& counts) {
  const bool has_any = counts.links + counts.negatives > 0;
  return "," + std::to_string(counts.links) + "," + std::to_string(counts.negatives) + "," +
         (has_any ? fixed(counts.accuracy(), 4) : "");
}

}  // namespace

std::uint64_t read_asked_triples(const TripleModel& model, const std::string& file,
                                 const std::function<void(const AskedTriple& triple, std::uint64_t line)>& use) {
  const NodeLookup lookup(model.dataset());
  return read_triples(file, std::nullopt, [&](const Triple& triple) {
    const auto node = [&](std::string_view name) {
      const std::optional<NodeId> found = lookup.find(name, NodesBy::kId);
      if (!found)
        fail(ErrorKind::kBadData,
             at_line(file, triple.line) + ": '" + std::string(name) + "': " + lookup.rule_of(name, NodesBy::kId));
      return *found;
    };
    const std::optional<std::uint16_t> relation = model.relation_named(triple.relation);
    if (!relation)
      fail(ErrorKind::kBadData, at_line(file, triple.line) + ": " + model.dataset().name + " has no relation '" +
                                    std::string(triple.relation) + "'");
    use({{node(triple.head), node(triple.tail)}, *relation}, triple.line);
  });
}

TripleAccuracies write_triple_accuracies(TripleModel& model, const NegativeFiles& negatives,
                                         const std::filesystem::path& folder) {
  const Dataset& dataset = model.dataset();
  if (dataset.links[kValidLinks].size() == 0 || dataset.links[kTestLinks].size() == 0)
    fail(ErrorKind::kUsage, "--valid-negatives: " + dataset.name + " has no validation and test links beside them");
  const KnownLinks known = known_links_of(dataset);
  const std::vector<Relation>& relations = dataset.types.relations;
  const std::vector<JudgedTriple> valid = judged_triples(model, kValidLinks, negatives.valid, known);
  const ScoreThresholds thresholds(valid, relations.size());
  const std::vector<JudgedCounts> of_valid = thresholds.judge(valid);
  const std::vector<JudgedCounts> of_test = thresholds.judge(judged_triples(model, kTestLinks, negatives.test, known));
  std::string table =
      "relation,threshold,valid_links,valid_negatives,valid_accuracy,test_links,test_negatives,test_accuracy\n";
  for (std::size_t r = 0; r < relations.size(); ++r)
    if (of_valid[r].links + of_valid[r].negatives + of_test[r].links + of_test[r].negatives > 0)
      table += csv_field(relations[r].name) + "," +
               printed("%.9g", static_cast<double>(thresholds.of(static_cast<std::uint16_t>(r)))) +
               cells_of(of_valid[r]) + cells_of(of_test[r]) + "\n";
  const JudgedCounts all_valid = sum_of(of_valid), all_test = sum_of(of_test);
  table += "all," + cells_of(all_valid) + cells_of(all_test) + "\n";
  replace_text_file(folder / "accuracy.csv", table);
  log_result("accuracy of triples: valid " + fixed(all_valid.accuracy(), 4) + ", test " +
             fixed(all_test.accuracy(), 4));
  return {all_valid.accuracy(), all_test.accuracy()};
}

}  // namespace salient
