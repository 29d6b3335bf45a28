// engine/links/link_trainer.h - trains a model of a knowledge graph's links: epochs, validation, checkpoints.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/field_problem.h"
#include "engine/links/embedding_learner.h"
#include "engine/links/link_checkpoint.h"
#include "engine/links/link_options.h"
#include "engine/report/metrics.h"
#include "store/dataset.h"

namespace salient {

/// Rules that options break. Reads nothing.
std::vector<FieldProblem> problems(const LinkOptions& options);

/// Those that no model changes: of epochs, batches, the optimiser.
std::vector<FieldProblem> problems_of_epochs(const LinkOptions& options);

/// Of an embedding model.
LinkIdentity identity_of(const Dataset& dataset, const LinkOptions& options);

struct LinkResult {
  int interrupted_by = 0;  ///< a signal, 0 = none; then the figures are empty
  int best_epoch = 0;
  Figures valid{};  ///< of the best epoch
  Figures test{};   ///< of its rows
  EpochMetrics last_epoch{};
};

/// What is trained, on what, and where.
struct LinkTraining {
  const Dataset& dataset;
  const LinkOptions& options;
  const std::filesystem::path& directory;
  const LinkIdentity& identity;
  LinkLearner& learner;  ///< as a run begins
};

/// The epochs of train_links() of any model, on the caller's oneTBB arena.
LinkResult run_epochs(const LinkTraining& training, const std::function<void()>& after_epoch);

/// @throws Error{kUsage}, Error{kBadData} for a data set that no model of triples can be trained and ranked on
void require_triples(const Dataset& dataset);

/// Trains an embedding model in `directory`: metrics.*, checkpoints/latest and /best, and test_relations.csv, the test
/// links' ranks by relation and side. Goes on where checkpoints/latest ends, if there is one; then the rows and all
/// figures have the bits of an undisturbed run, for any number of threads.
///
/// A signal ends the run behind the epoch in work, after a checkpoint.
/// @param dataset      has_links, with training links
/// @param after_epoch  is called behind each epoch, for the report
/// @throws Error{kDiverged} for a loss or a score that is not a number, naming epoch and step; Error{kBadData} for a
///         checkpoint of another run; Error{kIo}
LinkResult train_links(const Dataset& dataset, const LinkOptions& options, const std::filesystem::path& directory,
                       const std::function<void()>& after_epoch = {});

}  // namespace salient
