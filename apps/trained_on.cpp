// apps/trained_on.cpp - see trained_on.h.
#include "apps/trained_on.h"

#include <algorithm>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "engine/comm/agreement.h"
#include "engine/train/checkpoint.h"
#include "store/seen_by_run.h"
#include "store/table_coding.h"

namespace salient {
namespace {

/// As rank 0 reads it, without the epoch. Collective.
CheckpointOrigin origin_on_all_ranks(Communicator& comm, const RunOnData& use) {
  CheckpointOrigin origin;
  std::string schema, is_complete;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    origin = read_origin(use.run / "checkpoints", use.checkpoint);
    schema = to_json_text(origin.schema);
    is_complete = origin.schema.is_complete ? "yes" : "no";
  });
  for (std::string* text : {&origin.dataset_name, &origin.dataset_fingerprint, &schema, &is_complete})
    comm.broadcast(*text);
  origin.schema = schema_from_json(schema, use.run.string());
  origin.schema.is_complete = is_complete == "yes";
  return origin;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all.append(all.empty() ? "" : "; it ").append(text);
  return all;
}

[[noreturn]] void refuse_changed(const CheckpointOrigin& origin, const Dataset& dataset) {
  fail(ErrorKind::kBadData, "the data set " + dataset.name +
                                " is not the one that the run was trained on (its checksum is " + dataset.fingerprint +
                                ", the run's " + origin.dataset_fingerprint +
                                "); name it with --dataset if that is meant");
}

[[noreturn]] void refuse_unfit(const CheckpointOrigin& origin, const Dataset& dataset, const SchemaMatch& match) {
  const bool is_coded = coding_of(origin.schema.feature_origin, dataset.name).has_value();
  const bool may_be_taken = match_schemas(origin.schema, dataset.schema(), FeatureMatch::kPlace).reasons.empty();
  fail(ErrorKind::kBadData, "the data set " + dataset.name + " does not fit the run: it " + joined(match.reasons) +
                                (is_coded       ? "; salient-prepare edges --features-as codes a table as another's"
                                 : may_be_taken ? "; --match-features place takes its columns as they come"
                                                : ""));
}

}  // namespace

FittedData fit_to_run(Communicator& comm, const RunOnData& use, Dataset dataset) {
  const CheckpointOrigin origin = origin_on_all_ranks(comm, use);
  if (origin.dataset_fingerprint == dataset.fingerprint) return {std::move(dataset)};
  FittedData fitted;
  together(comm, [&] {
    if (!use.is_other_data_meant) refuse_changed(origin, dataset);
    if (dataset.types.is_typed())
      fail(ErrorKind::kUsage, "a run on a graph with node types predicts nodes of its own data set alone, and " +
                                  dataset.name + " is another one");
    SchemaMatch match = match_schemas(origin.schema, dataset.schema(), use.features);
    if (!match.reasons.empty()) refuse_unfit(origin, dataset, match);
    if (comm.rank() == 0) {
      log_warning("the model was trained on " + origin.dataset_name + ", not on this data set");
      for (const std::string& remark : match.remarks) log_warning(dataset.name + " " + remark);
    }
    fitted.dataset = seen_by_run(std::move(dataset), origin.schema, match);
    fitted.unknown_classes = std::move(match.unknown_classes);
  });
  return fitted;
}

}  // namespace salient
