// engine/train/checkpoint_state.cpp - see checkpoint_state.h.
#include "engine/train/checkpoint_state.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "core/error.h"
#include "core/files/json_text.h"
#include "core/files/sealed_json.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr std::string_view kEndWithoutSeal = "\n  }\n}\n";  // the last field was "files"

/// A whole number from 0 to `high`.
template <class T>
T count_in(const Json& object, const char* field, T high = std::numeric_limits<T>::max()) {
  const Json& value = object.at(field);
  const bool is_count = value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(high);
  if (!is_count)
    fail(ErrorKind::kBadData,
         std::string(field) + " is " + value.dump() + ", allowed are 0 to " + std::to_string(high));
  return value.get<T>();
}

/// Node types with their widths, and relations: what the shapes and names of parameters follow from.
Json types_json(const GraphTypes& types) {
  Json json{{"nodes", Json::array()}, {"relations", Json::array()}};
  for (const GraphTypes::NodeType& type : types.node_types)
    json["nodes"].push_back({type.name, type.num_nodes, type.feature_dim});
  for (const GraphTypes::Relation& relation : types.relations)
    json["relations"].push_back({relation.src, relation.name, relation.dst});
  return json;
}

}  // namespace

std::string model_config_json(const ModelOptions& options, Task task) {
  Json config{{"task", name_of(task)},
              {"model", name_of(options.kind)},
              {"in_dim", options.in_dim},
              {"hidden_dim", options.hidden_dim},
              {"num_classes", options.num_classes},
              {"num_layers", options.num_layers},
              {"norm", name_of(options.norm)},
              {"residual", options.residual},
              {"jk", name_of(options.jk)},
              {"aggr", name_of(options.aggr)},
              {"heads", options.heads}};
  // Only what is not as before these options came, so that checkpoints of that time and of other models are as ever.
  if (options.kind == ModelKind::kGcn && options.gcn_norm != GcnNorm::kRow)
    config["gcn_norm"] = name_of(options.gcn_norm);
  if (is_by_weight(options)) config["aggregate"] = name_of(options.aggregate);
  if (options.edge_dim > 0) config["edge_dim"] = options.edge_dim;
  if (options.time_encoding > 0) config["time_encoding"] = options.time_encoding;
  if (is_gin(options.kind) && options.gin_sum != GinSum::kPlain) config["gin_sum"] = name_of(options.gin_sum);
  if (options.activate_input) config["activate_input"] = true;
  if (options.bases > 0) config["bases"] = options.bases;
  if (options.blocks > 0) config["blocks"] = options.blocks;
  if (options.types.is_typed()) config["types"] = types_json(options.types);
  return config.dump();
}

std::string model_difference(const std::string& trained, const std::string& asked) {
  const Json before = parse_json<Json>(trained);
  Json now = parse_json<Json>(asked);
  if (!before.is_object() || !now.is_object()) return "its model is " + trained;
  for (const auto& [field, value] : before.items())
    if (!now.contains(field)) now[field] = nullptr;
  const auto shown = [](const Json& value) {
    if (value.is_null()) return std::string("unset");
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  const auto words = [&](const std::string& field, const Json& value) {
    if (field == "in_dim") return shown(value) + " features, trained on ";
    if (field == "edge_dim") return shown(value) + " features of edges, trained on ";
    if (field == "num_classes") return shown(value) + " classes, trained on ";
    return field + " " + shown(value) + ", trained with ";
  };
  std::string text;
  for (const auto& [field, value] : now.items()) {
    const Json of_run = before.value(field, Json());
    if (of_run != value) text.append(text.empty() ? "" : "; ").append(words(field, value)).append(shown(of_run));
  }
  return text;
}

Json state_json(const TrainProgress& progress, const CheckpointIdentity& identity) {
  Json best{{"epoch", progress.best_epoch}, {"valid_" + identity.metric, progress.best_valid}};
  progress.best_figures.for_each([&](const char* name, Metric, double value) { best["figures"][name] = value; });
  return {{"format_version", kFormatVersion},
          {"epoch", progress.epoch},
          {"step_in_epoch", progress.step_in_epoch},
          {"global_step", progress.global_step},
          {"partial",
           {{"loss_sum", progress.partial_loss_sum},
            {"correct", progress.partial_correct},
            {"labels", progress.partial_labels}}},
          {"best", best},
          {"seed", identity.seed},
          {"world_size", identity.world_size},
          {"global_batch_size", identity.global_batch_size},
          {"schedule",
           {{"plateau_best", progress.plateau.best},
            {"has_best", progress.plateau.has_best},
            {"bad_epochs", progress.plateau.bad_epochs},
            {"reductions", progress.plateau.reductions}}},
          {"model", identity.model_config},
          {"dataset",
           {{"name", identity.dataset_name},
            {"xxh3", identity.dataset_fingerprint},
            {"schema", Json::parse(to_json_text(identity.schema))}}}};
}

std::string sealed_text(const Json& state) {
  return sealed_json(state.dump(2, ' ', false, Json::error_handler_t::replace));
}

void check_state_text(const std::string& text, const std::filesystem::path& file) {
  if (!check_seal(text, file.string()) && !text.ends_with(kEndWithoutSeal))
    fail(ErrorKind::kBadData, file.string() + ": is damaged, or not the state of a checkpoint");
}

TrainProgress progress_in(const Json& state, const std::string& metric, const std::filesystem::path& folder) {
  const std::string file = (folder / "state.json").string();
  TrainProgress progress;
  try {
    const Json &partial = state.at("partial"), &best = state.at("best"), &plateau = state.at("schedule");
    progress = {.epoch = count_in<int>(state, "epoch"),
                .step_in_epoch = count_in<std::int64_t>(state, "step_in_epoch"),
                .global_step = count_in<std::int64_t>(state, "global_step"),
                .partial_loss_sum = partial.at("loss_sum"),
                .partial_correct = count_in<std::int64_t>(partial, "correct"),
                .partial_labels = count_in<std::int64_t>(partial, "labels"),
                .best_epoch = count_in<int>(best, "epoch"),
                .best_valid = best.at("valid_" + metric),
                .plateau = {.best = plateau.at("plateau_best"),
                            .has_best = plateau.at("has_best"),
                            .bad_epochs = count_in<int>(plateau, "bad_epochs"),
                            .reductions = count_in<int>(plateau, "reductions")}};
    const Json figures = best.value("figures", Json::object());
    for (const auto& [name, value] : figures.items())
      if (const std::optional<Metric> known = value_named<Metric>(name))
        progress.best_figures[*known] = value.get<double>();
    if (best.contains("accuracy"))  // older versions kept no other figure
      progress.best_figures[Metric::kAccuracy] = best.at("accuracy").get<double>();
  } catch (const Error& problem) {
    fail(ErrorKind::kBadData, file + ": " + problem.what());
  }
  if (checkpoint_name(progress) != folder.filename())
    fail(ErrorKind::kBadData, file + ": epoch " + std::to_string(progress.epoch) + " with " +
                                  std::to_string(progress.step_in_epoch) + " steps of the next belongs to " +
                                  checkpoint_name(progress));
  if (progress.best_epoch > progress.epoch || progress.partial_correct > progress.partial_labels)
    fail(ErrorKind::kBadData, file + ": the best epoch is one to come, or more labels are right than there are");
  return progress;
}

CheckpointOrigin origin_in(const Json& state, const std::filesystem::path& file) {
  CheckpointOrigin origin;
  try {
    const Json& dataset = state.at("dataset");
    origin = {
        .epoch = state.at("epoch"), .dataset_name = dataset.at("name"), .dataset_fingerprint = dataset.at("xxh3")};
    const Json model = parse_json<Json>(state.at("model").get<std::string>());
    if (model.is_object()) origin.edge_features = model.value("edge_dim", 0) - model.value("time_encoding", 0);
    if (dataset.contains("schema")) {
      origin.schema = schema_from_json(dataset["schema"].dump(), file.string());
      return origin;
    }
    origin.schema = {.task = value_named<Task>(model.at("task").get<std::string>()).value_or(Task::kMultiClass),
                     .num_classes = model.at("num_classes"),
                     .feature_dim = model.at("in_dim")};
    origin.schema.is_complete = false;
  } catch (const Json::exception& cause) {
    fail(ErrorKind::kBadData, file.string() + ": " + cause.what());
  }
  return origin;
}

std::string checkpoint_name(int epoch) {
  const std::string digits = std::to_string(epoch);
  return "epoch-" + std::string(4 - std::min<std::size_t>(4, digits.size()), '0') + digits;
}

std::string checkpoint_name(const TrainProgress& progress) {
  return checkpoint_name(progress.epoch + (progress.step_in_epoch > 0 ? 1 : 0));
}

}  // namespace salient
