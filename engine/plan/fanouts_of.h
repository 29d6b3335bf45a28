// engine/plan/fanouts_of.h - fanouts of relations of a typed graph, as options name them and as samplers read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sampler/sampling_rule.h"
#include "store/graph_schema.h"

namespace salient {

/// Of the relations that are named; others have the fanouts of all.
struct FanoutsOf {
  struct Named {
    std::string relation{};      ///< "paper:written_by:author"
    std::vector<int> fanouts{};  ///< [L] the seeds' own hop first; 0 to 65535, or -1 for all
    bool operator==(const Named&) const = default;
  };
  std::vector<Named> relations{};

  bool empty() const { return relations.empty(); }
  bool operator==(const FanoutsOf&) const = default;
};

/// "a:b:c=5,5,0,d:e:f=1,1,1", which from_text() reads back.
std::string to_text(const FanoutsOf& fanouts);

/// Adds what it reads to what there is; a relation that is there already gets these fanouts. @return  whether it is one
bool from_text(std::string_view text, FanoutsOf& fanouts);

/// Whether each has `num_hops` fanouts that a relation may have.
bool are_fanouts_of(const FanoutsOf& fanouts, int num_hops);

/// @param rule  with the fanouts of all relations
/// @return      with `fanouts` for those that it names
/// @throws Error{kUsage} for a relation that the graph has not, naming those that it has
SamplingRule with_fanouts_of(SamplingRule rule, const FanoutsOf& fanouts, const GraphSchema& schema);

/// Types of which no batch has a node: no path of kept relations leads from them to the target type within the hops.
/// Of a plain graph none.
std::vector<int> unreached_types(const GraphSchema& schema, const SamplingRule& rule);

}  // namespace salient
