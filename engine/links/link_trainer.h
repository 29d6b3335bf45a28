// engine/links/link_trainer.h - trains an embedding model of a knowledge graph: epochs, validation, checkpoints.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/field_problem.h"
#include "engine/links/link_checkpoint.h"
#include "engine/links/link_options.h"
#include "engine/links/link_ranks.h"
#include "engine/report/metrics.h"
#include "store/dataset.h"

namespace salient {

/// Rules that options break. Reads nothing.
std::vector<FieldProblem> problems(const LinkOptions& options);

/// What shapes the rows of a data set's nodes and relations.
EmbeddingShape shape_of(const Dataset& dataset, const LinkOptions& options);

LinkIdentity identity_of(const Dataset& dataset, const LinkOptions& options);

struct LinkResult {
  int interrupted_by = 0;  ///< a signal, 0 = none; then the figures are empty
  int best_epoch = 0;
  Figures valid{};  ///< of the best epoch
  Figures test{};   ///< of its rows
  EpochMetrics last_epoch{};
};

/// Trains in `directory`: metrics.*, checkpoints/latest and /best, and test_relations.csv, the test links' ranks by
/// relation and side. Goes on where checkpoints/latest ends, if there is one; then the rows and all figures have the
/// bits of an undisturbed run, for any number of threads.
///
/// A signal ends the run behind the epoch in work, after a checkpoint.
/// @param dataset      has_links, with training links
/// @param after_epoch  is called behind each epoch, for the report
/// @throws Error{kDiverged} for a loss or a score that is not a number, naming epoch and step; Error{kBadData} for a
///         checkpoint of another run; Error{kIo}
LinkResult train_links(const Dataset& dataset, const LinkOptions& options, const std::filesystem::path& directory,
                       const std::function<void()>& after_epoch = {});

}  // namespace salient
