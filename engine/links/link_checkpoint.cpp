// engine/links/link_checkpoint.cpp - see link_checkpoint.h.
#include "engine/links/link_checkpoint.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/files/sealed_json.h"
#include "core/files/staged_directory.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr char kState[] = "state.json", kModel[] = "model.safetensors", kOptimizer[] = "optimizer.safetensors";

Json identity_json(const LinkIdentity& identity) {
  return {{"dataset", identity.dataset},
          {"fingerprint", identity.fingerprint},
          {"decoder", name_of(identity.shape.decoder)},
          {"hidden", identity.shape.hidden},
          {"nodes", identity.shape.num_nodes},
          {"relations", identity.shape.num_relations},
          {"optimizer", name_of(identity.optimiser)},
          {"seed", identity.seed}};
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

TensorInfo tensor(std::string name, const std::vector<float>& values) {
  return {std::move(name), TensorType::kF32, {std::ssize(values)}, std::as_bytes(std::span(values))};
}

/// Of each table the moments that its optimiser has.
std::vector<std::pair<const char*, std::vector<float> RowMoments::*>> moments_of(RowRule rule) {
  std::vector<std::pair<const char*, std::vector<float> RowMoments::*>> moments{{"second", &RowMoments::second}};
  if (rule == RowRule::kAdam) moments.emplace_back("first", &RowMoments::first);
  return moments;
}

FileDigest write_moments(const fs::path& path, const LinkState& state, RowRule rule) {
  std::vector<TensorInfo> tensors;
  for (const auto& [name, values] : moments_of(rule)) {
    tensors.push_back(tensor(std::string("node_emb.") + name, state.node_moments.*values));
    tensors.push_back(tensor(std::string("rel_emb.") + name, state.relation_moments.*values));
  }
  return write_safetensors(path, tensors, {{"steps", std::to_string(state.node_moments.steps)}});
}

void read_moments(const fs::path& path, RowRule rule, LinkState& state) {
  const SafetensorsFile file(path);
  const auto read = [&](const std::string& name, std::vector<float>& values) {
    const TensorInfo* found = file.view().find(name);
    if (found == nullptr || found->type != TensorType::kF32 || found->bytes.size() != values.size() * sizeof(float))
      fail(ErrorKind::kBadData, file.name() + ": tensor " + name + " is missing, or has another size");
    std::memcpy(values.data(), found->bytes.data(), found->bytes.size());
  };
  for (const auto& [name, values] : moments_of(rule)) {
    read(std::string("node_emb.") + name, state.node_moments.*values);
    read(std::string("rel_emb.") + name, state.relation_moments.*values);
  }
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

void write_latest(const fs::path& root, const LinkState& state, const LinkProgress& progress,
                  const LinkIdentity& identity) {
  fs::create_directories(root);
  StagedDirectory staged(root / "latest", ReplaceExisting::kReplace, kState);
  const FileDigest model = write_embeddings(staged.path() / kModel, state.embeddings);
  const FileDigest moments = write_moments(staged.path() / kOptimizer, state, identity.optimiser);
  write_state(staged.path(), progress, identity, {{kModel, model}, {kOptimizer, moments}});
  staged.publish();
}

void write_best(const fs::path& root, const Embeddings& embeddings, const LinkProgress& progress,
                const LinkIdentity& identity) {
  fs::create_directories(root);
  StagedDirectory staged(root / "best", ReplaceExisting::kReplace, kState);
  const FileDigest model = write_embeddings(staged.path() / kModel, embeddings);
  write_state(staged.path(), progress, identity, {{kModel, model}});
  staged.publish();
}

bool has_latest(const fs::path& root) { return is_there(root / "latest" / kState); }

LinkProgress read_latest(const fs::path& root, const LinkIdentity& identity, LinkState& state) {
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
  state.embeddings = read_embeddings(folder / kModel, identity.shape);
  const RowOptimiser optimiser{.rule = identity.optimiser};
  state.node_moments = optimiser.moments_of(state.embeddings.nodes);
  state.relation_moments = optimiser.moments_of(state.embeddings.relations);
  state.node_moments.steps = state.relation_moments.steps = progress.step;
  read_moments(folder / kOptimizer, identity.optimiser, state);
  return progress;
}

Embeddings read_best(const fs::path& root, const LinkIdentity& identity) {
  const fs::path folder = root / (is_there(root / "best" / kState) ? "best" : "latest");
  (void)checked_state(folder, identity);
  return read_embeddings(folder / kModel, identity.shape);
}

}  // namespace salient
