// engine/paths/path_trainer.cpp - see path_trainer.h.
#include "engine/paths/path_trainer.h"

#include "core/arena_of.h"
#include "core/error.h"
#include "engine/paths/path_learner.h"

namespace salient {

std::vector<FieldProblem> problems(const LinkOptions& link, const PathOptions& paths) {
  std::vector<FieldProblem> found = problems_of_epochs(link);
  check_field(found, link.hidden >= 8 && link.hidden <= 1024 && link.hidden % 8 == 0, "hidden",
              "a multiple of 8 up to 1024");
  check_field(found, paths.layers >= 1 && paths.layers <= 16, "layers", "1 to 16");
  check_field(found, link.negatives < 1 << 14, "negatives", "all, or 1 to 16383");
  check_field(found, paths.adversarial_temperature >= 0, "adversarial-temperature", "at least 0");
  return found;
}

LinkIdentity identity_of(const Dataset& dataset, const LinkOptions& link, const PathOptions& paths) {
  const PathShape shape = path_shape_of(dataset, link, paths);
  return {.dataset = dataset.name,
          .fingerprint = dataset.fingerprint,
          .shape = {{"model", "nbfnet"},
                    {"hidden", shape.hidden},
                    {"layers", shape.layers},
                    {"aggregate", name_of(shape.sum)},
                    {"relations", shape.num_relations}},
          .optimiser = link.optimiser,
          .seed = link.seed};
}

LinkResult train_paths(const Dataset& dataset, const LinkOptions& link, const PathOptions& paths,
                       const std::filesystem::path& directory, const std::function<void()>& after_epoch) {
  require(problems(link, paths).empty(), "options of a run");
  require_triples(dataset);
  return arena_of(link.threads).execute([&] {
    PathLearner learner(dataset, link, paths);
    return run_epochs({dataset, link, directory, identity_of(dataset, link, paths), learner}, after_epoch);
  });
}

}  // namespace salient
