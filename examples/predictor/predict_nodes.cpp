// examples/predictor/predict_nodes.cpp - the classes of nodes, from a trained run.
//
//   predict_nodes RUN NODE...     RUN is a directory of salient-train, nodes have the ids of the data set's source, or
//                                 row numbers where it has none; prints a line for each: node, class, logit
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <salient/apps/predictor.h>
#include <salient/core/error.h>
#include <salient/store/node_lookup.h>

namespace {

salient::NodeId node_of(const std::string& text, const salient::NodeLookup& lookup) {
  const auto node = lookup.find(text, salient::NodesBy::kId);
  if (!node)
    salient::fail(salient::ErrorKind::kUsage,
                  "'" + text + "' is no node id: " + lookup.rule_of(text, salient::NodesBy::kId));
  return *node;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: predict_nodes RUN NODE...\n");
    return 2;
  }
  try {
    salient::Predictor predictor(argv[1], {.device = salient::DeviceKind::kCpu});
    std::vector<salient::NodeId> nodes;
    const salient::NodeLookup lookup(predictor.dataset());
    for (int i = 2; i < argc; ++i) nodes.push_back(node_of(argv[i], lookup));
    const std::vector<float> logits = predictor.logits(nodes);
    const auto width = static_cast<std::ptrdiff_t>(predictor.num_classes());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i) * width;
      const auto best = std::max_element(row, row + width);
      std::printf("%s %td %.6f\n", argv[i + 2], best - row, static_cast<double>(*best));
    }
    return 0;
  } catch (...) {
    return salient::report_current_exception("predict_nodes");
  }
}
