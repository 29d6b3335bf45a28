// examples/predictor/predict_nodes.cpp - the classes of nodes, from a trained run.
//
//   predict_nodes RUN NODE...     RUN is a directory of salient-train; prints a line for each node: node, class, logit
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <system_error>

#include "apps/predictor.h"
#include "core/error.h"

namespace {

salient::NodeId node_of(const std::string& text) {
  salient::NodeId node = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  if (error != std::errc() || end != text.data() + text.size())
    salient::fail(salient::ErrorKind::kUsage, "'" + text + "' is no node id");
  return node;
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
    for (int i = 2; i < argc; ++i) nodes.push_back(node_of(argv[i]));
    const std::vector<float> logits = predictor.logits(nodes);
    const auto width = static_cast<std::ptrdiff_t>(predictor.num_classes());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto row = logits.begin() + static_cast<std::ptrdiff_t>(i) * width;
      const auto best = std::max_element(row, row + width);
      std::printf("%u %td %.6f\n", nodes[i], best - row, static_cast<double>(*best));
    }
    return 0;
  } catch (...) {
    return salient::report_current_exception("predict_nodes");
  }
}
