// tests/support/sampler_case.h - a generated graph and fanouts, as a parameter of the samplers' tests.
#pragma once

#include <ostream>
#include <vector>

#include "core/types.h"

namespace salient::test {

struct SamplerCase {
  NodeId num_nodes;
  double mean_degree;
  std::vector<int> fanouts;
  friend std::ostream& operator<<(std::ostream& out, const SamplerCase& c) {
    out << "V=" << c.num_nodes << " degree=" << c.mean_degree << " fanouts=";
    for (const int fanout : c.fanouts) out << fanout << ' ';
    return out;
  }
};

}  // namespace salient::test
