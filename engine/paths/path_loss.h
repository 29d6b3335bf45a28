// engine/paths/path_loss.h - losses of one question by every entity's score, their negatives and gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "sampler/draws.h"

namespace salient {

/// Cross entropy of the target among all entities but other known answers.
/// @param known      ascending; the target among them is one candidate
/// @param weight     of the loss in what the gradients are of
/// @param gradients  [scores] set
/// @return the loss, without the weight; not finite where a score is not
double path_softmax_loss(std::span<const float> scores, NodeId target, std::span<const NodeId> known, float weight,
                         std::span<float> gradients);

/// Half of binary cross entropy of the target, and half of that of the negatives, weighted by softmax(score /
/// temperature) among them, which has no gradient; alike with a temperature of 0. The loss of RotatE's
/// self-adversarial negatives, as NBFNet takes it. A negative may be there twice.
double path_bce_loss(std::span<const float> scores, NodeId target, std::span<const NodeId> negatives,
                     double temperature, float weight, std::span<float> gradients);

/// Negatives of a question: [count] nodes, each uniform among those that `known`, ascending, does not have, or none
/// where it has all. Determinism: a function of the draws' key.
std::vector<NodeId> path_negatives(Draws draws, std::uint32_t count, NodeId num_nodes, std::span<const NodeId> known);

}  // namespace salient
