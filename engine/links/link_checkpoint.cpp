// engine/links/link_checkpoint.cpp - see link_checkpoint.h.
#include "engine/links/link_checkpoint.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/is_there.h"
#include "core/files/sealed_json.h"
#include "core/files/staged_directory.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kState[] = "state.json", kModel[] = "model.safetensors", kOptimizer[] = "optimizer.safetensors";

Json identity_json(const LinkIdentity& identity) {
  Json json{{"dataset", identity.dataset}, {"fingerprint", identity.fingerprint}};
  for (const auto& [name, value] : identity.shape)
    std::visit([&json, &key = name](const auto& one) { json[key] = one; }, value);
  json["optimizer"] = name_of(identity.optimiser);
  json["seed"] = identity.seed;
  return json;
}

void write_state(const fs::path& folder, const LinkProgress& progress, const LinkIdentity& identity,
                 const std::vector<std::pair<std::string, FileDigest>>& files) {
  Json state{{"format", "salient link checkpoint"}, {"identity", identity_json(identity)}};
  state["epoch"] = progress.epoch;
  state["step"] = progress.step;
  state["best_epoch"] = progress.best_epoch;
  state["stale"] = progress.stale;
  state["best"] = Json::object();
  progress.best.for_each([&](const char* name, Metric, double value) { state["best"][name] = value; });
  for (const auto& [name, digest] : files) state["files"][name] = to_hex(digest.xxh3);
  write_text_file(folder / kState, sealed_json(state.dump(2)));
}

/// The state of a folder whose files are whole and of this identity.
Json checked_state(const fs::path& folder, const LinkIdentity& identity) {
  const fs::path path = folder / kState;
  if (!is_there(path)) fail(ErrorKind::kNoInput, path.string() + " is missing: no epoch was finished");
  const std::string text = read_text_file(path);
  if (!check_seal(text, path.string())) fail(ErrorKind::kBadData, path.string() + ": has no checksum");
  try {
    Json state = Json::parse(text);
    const Json expected = identity_json(identity), &found = state.at("identity");
    for (const auto& [key, value] : expected.items())
      if (found.at(key) != value)
        fail(ErrorKind::kBadData,
             path.string() + ": " + key + " is " + found.at(key).dump() + ", this run's is " + value.dump());
    for (const auto& [name, digest] : state.at("files").items())
      if (to_hex(digest_file(folder / name).xxh3) != digest.get<std::string>())
        fail(ErrorKind::kBadData, (folder / name).string() + ": is not what " + kState + " says: its checksum differs");
    return state;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kBadData, path.string() + ": is no state of a run: " + error.what());
  }
}

}  // namespace

void write_latest(const fs::path& root, const LinkLearner& learner, const LinkProgress& progress,
                  const LinkIdentity& identity) {
  fs::create_directories(root);
  StagedDirectory staged(root / "latest", ReplaceExisting::kReplace, kState);
  const FileDigest model = learner.write_model(staged.path() / kModel);
  const FileDigest moments = learner.write_moments(staged.path() / kOptimizer);
  write_state(staged.path(), progress, identity, {{kModel, model}, {kOptimizer, moments}});
  staged.publish();
}

void write_best(const fs::path& root, const LinkLearner& learner, const LinkProgress& progress,
                const LinkIdentity& identity) {
  fs::create_directories(root);
  StagedDirectory staged(root / "best", ReplaceExisting::kReplace, kState);
  const FileDigest model = learner.write_model(staged.path() / kModel);
  write_state(staged.path(), progress, identity, {{kModel, model}});
  staged.publish();
}

bool has_latest(const fs::path& root) { return is_there(root / "latest" / kState); }

LinkProgress read_latest(const fs::path& root, const LinkIdentity& identity, LinkLearner& learner) {
  const fs::path folder = root / "latest";
  const Json found = checked_state(folder, identity);
  LinkProgress progress;
  try {
    progress.epoch = found.at("epoch").get<int>();
    progress.step = found.at("step").get<std::int64_t>();
    progress.best_epoch = found.at("best_epoch").get<int>();
    progress.stale = found.at("stale").get<int>();
    for (const auto& [metric, name] : names_of(Metric{}))
      if (found.at("best").contains(name)) progress.best[metric] = found.at("best").at(name).get<double>();
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::kBadData, (folder / kState).string() + ": is no state of a run: " + error.what());
  }
  learner.read_model(folder / kModel);
  learner.read_moments(folder / kOptimizer, progress.step);
  return progress;
}

fs::path best_model(const fs::path& root, const LinkIdentity& identity) {
  const fs::path folder = root / (is_there(root / "best" / kState) ? "best" : "latest");
  (void)checked_state(folder, identity);
  return folder / kModel;
}

}  // namespace salient
