// prepare/importers/labelled_split.cpp - see labelled_split.h.
#include "prepare/importers/labelled_split.h"

#include <array>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"

namespace salient {

void check_split(std::vector<FieldProblem>& found, const std::vector<double>& fractions) {
  if (fractions.empty()) return;
  const bool is_split = fractions.size() == 3 && are_fractions(std::span(fractions).first<3>());
  check_field(found, is_split, "split", "three fractions, none negative, with a sum of at most 1, such as 0.6,0.2,0.2");
}

void draw_labelled_split(RawGraph& graph, const std::vector<double>& fractions, std::uint32_t rng_seed) {
  require(fractions.size() == 3, "a split has three parts");
  const LabelTable labels = graph.label_table();
  std::vector<NodeId> labelled;
  for (NodeId v = 0; v < labels.num_nodes(); ++v)
    if (labels.num_known(v) > 0) labelled.push_back(v);
  Split parts = split(labelled.size(), {fractions[0], fractions[1], fractions[2]}, rng_seed);
  const std::array<std::pair<const char*, std::size_t>, 3> sizes = {{{"to train on", parts.train.size()},
                                                                     {"for validation", parts.valid.size()},
                                                                     {"for the test", parts.test.size()}}};
  for (std::size_t p = 0; p < sizes.size(); ++p)
    if (fractions[p] > 0 && sizes[p].second == 0)
      log_warning("the split of " + std::to_string(labelled.size()) + " labelled nodes leaves none " + sizes[p].first);
  for (std::vector<NodeId>* part : {&parts.train, &parts.valid, &parts.test})
    for (NodeId& id : *part) id = labelled[id];
  graph.train = std::move(parts.train);
  graph.valid = std::move(parts.valid);
  graph.test = std::move(parts.test);
}

}  // namespace salient
