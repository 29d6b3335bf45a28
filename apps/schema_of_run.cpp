// apps/schema_of_run.cpp - see schema_of_run.h.
#include "apps/schema_of_run.h"

#include <utility>
#include <vector>

#include "engine/plan/relation_samples.h"
#include "engine/train/run_model.h"
#include "engine/train/training_links.h"
#include "sampler/seed_order.h"

namespace salient {

SchemaReport schema_of_run(const TrainOptions& options, const Dataset& dataset, int num_ranks) {
  std::vector<NodeId> order = training_seeds(options, dataset);
  shuffle_seeds(order, options.seed, /*epoch=*/1);
  RelationSamples samples = sample_relations(dataset, training_rule(options, dataset), order,
                                             global_batch_of(options, num_ranks), options.seed);
  const GraphSchema& schema = dataset.types;
  SchemaReport report{.target = schema.target().name, .batches = samples.batches};
  for (const NodeType& type : schema.node_types) report.types.push_back({type.name, type.count, type.features.dim});
  const auto name_of_type = [&](int type) { return schema.node_types[static_cast<std::size_t>(type)].name; };
  for (std::size_t r = 0; r < schema.relations.size(); ++r) {
    const Relation& relation = schema.relations[r];
    report.relations.push_back({name_of_type(relation.src), relation.name, name_of_type(relation.dst),
                                relation.num_entries, std::move(samples.edges[r])});
  }
  return report;
}

}  // namespace salient
