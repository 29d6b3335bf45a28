// engine/infer/exact_inference.h - predictions from all neighbours: each layer is computed once per node.
#pragma once

#include "engine/infer/exact_plan.h"
#include "engine/infer/inference_round.h"
#include "engine/infer/model_on_ranks.h"
#include "store/dataset.h"

namespace salient {

/// Rank r computes blocks r, r + size, ... of each layer; then the ranks share the result. Blocks travel through the
/// batch loader as one-hop batches with all neighbours, so sampling them, gathering their rows and copying them
/// overlaps with the computation.
///
/// Of a typed graph the model's input() comes first, once for each node, on blocks of nodes alone; blocks of later
/// layers have no features, and read rows of the result before theirs, whatever the types.
///
/// Feature rows that options.data says are partitioned come from the ranks that own them, with the blocks of the first
/// layer; later layers read results of the layer before, which every host has.
///
/// @param dataset  whole, or without feature rows where these are partitioned and no head reads them
/// @param on_round  also called, without nodes, after every block of the layers before the last; may be empty
/// Blocks until done. Collective. The model is left in evaluation mode.
/// Cost:    per layer, one visit of every entry of a needed node: gathers and copies entries x width x 4 bytes at most.
/// Memory:  plan.activation_bytes once per host (GPU memory: on every rank) and plan.slab_bytes.
/// Oracle:  sampled_inference() with fanout -1 in every hop, within rounding.
InferenceCounts exact_inference(const ModelOnRanks& ranks, const Dataset& dataset, const ExactPlan& plan,
                                const ExactOptions& options, const OnRound& on_round = {});

}  // namespace salient
