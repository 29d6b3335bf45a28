// engine/train/checkpoint.cpp - see checkpoint.h. A folder without a valid state.json, written last, does not count.
#include "engine/train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/files/file_io.h"
#include "core/files/is_there.h"
#include "core/files/json_text.h"
#include "core/files/staged_directory.h"
#include "engine/train/checkpoint_state.h"
#include "engine/train/tensor_file.h"
#include "store/store_manifest.h"

namespace salient {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kState = "state.json";
constexpr std::string_view kNamePrefix = "epoch-";

Json digest_json(const FileDigest& digest) { return {{"bytes", digest.bytes}, {"xxh3", to_hex(digest.xxh3)}}; }

/// state.json of a checkpoint. @throws Error{kBadData}, Error{kNoInput}.
Json read_state(const fs::path& folder) {
  const fs::path file = folder / kState;
  const std::string text = read_text_file(file);
  check_state_text(text, file);
  Json state = parse_json<Json>(text);
  if (!state.is_object() || !state.contains("files") || !state.contains("format_version"))
    fail(ErrorKind::kBadData, file.string() + ": is not the state of a checkpoint");
  if (state["format_version"] != 1)
    fail(ErrorKind::kBadData,
         file.string() + ": format_version " + state["format_version"].dump() + ", this program reads 1");
  return state;
}

/// read_state() of a checkpoint whose files are all there, whole, and unchanged. @throws Error{kBadData},
/// Error{kNoInput}.
Json valid_state(const fs::path& folder) {
  Json state = read_state(folder);
  for (const char* name : {kWeights, kOptimizer}) {
    const Json stated = state["files"].contains(name) ? state["files"][name] : Json();
    const bool has_size = stated.is_object() && stated.contains("bytes") && stated["bytes"].is_number_unsigned();
    if (stated != digest_json(digest_file(folder / name, has_size ? stated["bytes"].get<std::uint64_t>() : 0)))
      fail(ErrorKind::kBadData,
           (folder / name).string() + ": is damaged: size or checksum is not the one in state.json");
  }
  return state;
}

void warn_if_unsealed(const fs::path& folder, const Json& state) {
  if (!state.contains(kChecksum))
    log_warning((folder / kState).string() + " has no checksum, as in older versions: a change in it goes unnoticed");
}

/// The number in "epoch-NNNN"; nullopt for any other name.
std::optional<int> epoch_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kNamePrefix)) return std::nullopt;
  const char* const end = name.data() + name.size();
  int epoch = 0;
  const auto [rest, error] = std::from_chars(name.data() + kNamePrefix.size(), end, epoch);
  return error == std::errc() && rest == end ? std::optional(epoch) : std::nullopt;
}

/// Checkpoint folders below `root`, newest first.
std::vector<fs::path> checkpoints_in(const fs::path& root) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
    if (epoch_of(entry.path()) && !entry.is_symlink()) found.push_back(entry.path());
  if (error && is_there(root)) fail(ErrorKind::kIo, root.string() + ": cannot read: " + error.message());
  std::ranges::sort(found, std::greater<>(), epoch_of);
  return found;
}

/// ROOT/NAME becomes a link to `target`, atomically.
void point(const fs::path& root, const char* name, const std::string& target) {
  const fs::path temporary = root / (std::string(name) + ".tmp");
  std::error_code error;
  fs::remove(temporary, error);
  fs::create_directory_symlink(target, temporary, error);
  if (!error) fs::rename(temporary, root / name, error);
  std::error_code ignored;
  if (error) fs::remove(temporary, ignored);
  if (error) fail(ErrorKind::kIo, (root / name).string() + ": " + error.message());
}

/// The files of a checkpoint, fsynced, state.json last.
void write_parts(const fs::path& folder, const Model& model, const FlatAdam& optimizer, Json state,
                 const CheckpointIdentity& identity) {
  const TensorMetadata metadata{
      {"format", "pt"}, {"salient.config", identity.model_config}, {"salient.version", identity.program_version}};
  state["files"] = {{kWeights, digest_json(save_tensors(folder / kWeights, state_of(model), metadata))},
                    {kOptimizer, digest_json(save_tensors(folder / kOptimizer, optimizer.state(), metadata))}};
  (void)write_text_file(folder / kState, sealed_text(state));
  fsync_directory(folder);
}

/// By way of another name: what has the name epoch-NNNN is whole at any moment.
void remove_checkpoint(const fs::path& folder) {
  const fs::path leftover = folder.string() + ".tmp";
  std::error_code error;  // what cannot be removed is a leftover
  fs::remove_all(leftover, error);
  fs::rename(folder, leftover, error);
  fs::remove_all(error ? folder : leftover, error);
}

/// Names that a crash can leave: epoch-0004.tmp, epoch-0004.old-PID, latest.tmp, best.tmp.
bool is_leftover(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name == "latest.tmp" || name == "best.tmp") return true;
  const bool is_named_so = name.ends_with(".tmp") || name.find(".old-") != std::string::npos;
  return is_named_so && epoch_of(name.substr(0, name.find('.'))).has_value();
}

void remove_leftovers(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
    if (is_leftover(entry.path())) found.push_back(entry.path());
  for (const fs::path& path : found) {
    fs::remove_all(path, error);
    if (error) log_warning(path.string() + " is a leftover and cannot be removed: " + error.message());
  }
}

void remove_old(const fs::path& root, int best_epoch, int keep) {
  int kept = 0;
  for (const fs::path& folder : checkpoints_in(root))
    if (kept++ >= keep && folder.filename() != checkpoint_name(best_epoch)) remove_checkpoint(folder);
  remove_leftovers(root);  // what could not be removed the first time
}

/// The checkpoint of the best epoch that the newest one tells of. Its number counts, not the link: a crash may come
/// between the two. nullopt if no epoch was validated, or its checkpoint is gone.
std::optional<fs::path> best_checkpoint(const fs::path& root, int best_epoch) {
  std::error_code error;
  const fs::path folder = root / checkpoint_name(best_epoch);
  return best_epoch > 0 && fs::exists(folder / kState, error) ? std::optional(folder) : std::nullopt;
}

/// As the newest checkpoint's state has it; 0 if that cannot be read.
int best_epoch_in(const fs::path& newest) {
  try {
    return parse_json<Json>(read_text_file(newest / kState)).at("best").at("epoch");
  } catch (const std::exception&) {  // its reader says what is wrong with it
    return 0;
  }
}

void check_identity(const fs::path& folder, const Json& state, const CheckpointIdentity& identity) {
  const auto refuse = [&](const std::string& what) {
    fail(ErrorKind::kBadData, folder.string() + ": belongs to another run: " + what);
  };
  if (state.at("model") != identity.model_config) refuse(model_difference(state.at("model"), identity.model_config));
  if (state.at("dataset").at("xxh3") != identity.dataset_fingerprint)
    refuse("its data set is " + state.at("dataset").at("name").get<std::string>() + " with another checksum");
  if (!state.at("best").contains("valid_" + identity.metric)) refuse("its metric is not " + identity.metric);
  if (state.at("seed") != identity.seed) refuse("its seed is " + state.at("seed").dump());
}

/// The newest checkpoint that is whole, for the message about one that is not.
std::string advice(const fs::path& root, const fs::path& damaged) {
  for (const fs::path& folder : checkpoints_in(root)) {
    if (folder == damaged) continue;
    try {
      (void)valid_state(folder);
      return "; remove " + damaged.filename().string() + " to resume from " + folder.string() + ", which is whole";
    } catch (const Error&) {
      continue;
    }
  }
  return "; no other checkpoint is whole";
}

struct Latest {
  fs::path folder;
  Json state;
};

/// The newest checkpoint, whole and of this run. @throws as read_latest_checkpoint().
Latest latest_state(const fs::path& root, const CheckpointIdentity& identity) {
  const std::vector<fs::path> found = checkpoints_in(root);
  if (found.empty()) fail(ErrorKind::kNoInput, root.string() + ": holds no checkpoint to resume from");
  Latest latest{.folder = found.front(), .state = {}};
  try {
    latest.state = valid_state(latest.folder);
  } catch (const Error& cause) {
    fail(ErrorKind::kBadData, cause.what() + advice(root, latest.folder));
  }
  try {
    check_identity(latest.folder, latest.state, identity);
  } catch (const Json::exception& cause) {
    fail(ErrorKind::kBadData, (latest.folder / kState).string() + ": " + cause.what() + advice(root, latest.folder));
  }
  return latest;
}

}  // namespace

void write_checkpoint(const fs::path& root, const Model& model, const FlatAdam& optimizer,
                      const TrainProgress& progress, const CheckpointIdentity& identity, int keep) {
  const std::string name = checkpoint_name(progress);
  const fs::path folder = root / (name + ".tmp");
  std::error_code error;
  fs::remove_all(folder, error);
  fs::create_directories(folder, error);
  if (error) fail(ErrorKind::kIo, folder.string() + ": " + error.message());
  try {
    write_parts(folder, model, optimizer, state_json(progress, identity), identity);
    (void)replace_directory(folder, root / name);  // a leftover costs space alone
  } catch (...) {
    fs::remove_all(folder, error);
    throw;
  }
  point(root, "latest", name);
  if (progress.best_epoch > 0 && progress.best_epoch == progress.epoch && progress.step_in_epoch == 0)
    point(root, "best", name);
  fsync_directory(root);
  remove_old(root, progress.best_epoch, keep);
}

bool has_checkpoint(const fs::path& root) { return !checkpoints_in(root).empty(); }

void check_latest_checkpoint(const fs::path& root, const CheckpointIdentity& identity) {
  (void)latest_state(root, identity);
}

TrainProgress read_latest_checkpoint(const fs::path& root, Model& model, FlatAdam& optimizer,
                                     const CheckpointIdentity& identity, int keep) {
  const auto [folder, state] = latest_state(root, identity);
  warn_if_unsealed(folder, state);
  try {
    if (state.at("world_size") != identity.world_size || state.at("global_batch_size") != identity.global_batch_size)
      log_warning("the checkpoint was written by " + state.at("world_size").dump() + " rank(s) with " +
                  state.at("global_batch_size").dump() + " seeds per step, this run has " +
                  std::to_string(identity.world_size) + " with " + std::to_string(identity.global_batch_size) +
                  "; it goes on, but not with the same bits");
    (void)load_tensors(folder / kWeights, state_of(model));
    (void)load_tensors(folder / kOptimizer, optimizer.state());
    TrainProgress progress = progress_in(state, identity.metric, folder);
    if (progress.step_in_epoch > 0 && state.at("global_batch_size") != identity.global_batch_size) {
      log_warning("epoch " + std::to_string(progress.epoch + 1) + " is begun again, as its steps had other seeds");
      progress.step_in_epoch = progress.partial_correct = progress.partial_labels = 0;
      progress.partial_loss_sum = 0;
    }
    if (const std::optional<fs::path> best = best_checkpoint(root, progress.best_epoch)) {
      point(root, "best", best->filename().string());  // a crash may have come before it
    } else if (progress.best_epoch > 0) {
      log_warning("the checkpoint of epoch " + std::to_string(progress.best_epoch) +
                  ", the best until now, is gone: " + "the best epoch is looked for from here on");
      progress.best_epoch = 0;
      progress.best_valid = 0;
    }
    point(root, "latest", folder.filename().string());
    remove_old(root, progress.best_epoch, keep);
    return progress;
  } catch (const Json::exception& cause) {
    fail(ErrorKind::kBadData, (folder / kState).string() + ": " + cause.what() + advice(root, folder));
  }
}

void load_best_weights(const fs::path& root, Model& model) {
  const fs::path folder = find_checkpoint(root, "best");
  (void)valid_state(folder);
  (void)load_tensors(folder / kWeights, state_of(model));
}

fs::path find_checkpoint(const fs::path& root, const std::string& name) {
  const std::vector<fs::path> found = checkpoints_in(root);
  if (found.empty()) fail(ErrorKind::kNoInput, root.string() + ": holds no checkpoint");
  std::error_code error;
  fs::path folder = root / name;
  if (name == "latest" || name == "best") folder = found.front();
  if (name == "best") {
    const int best_epoch = best_epoch_in(found.front());
    if (const std::optional<fs::path> best = best_checkpoint(root, best_epoch))
      folder = *best;
    else if (best_epoch > 0)
      log_warning(root.string() + ": the checkpoint of the best epoch, " + std::to_string(best_epoch) + ", is gone; " +
                  folder.filename().string() + ", the latest, is used");
  }
  if (fs::exists(folder / kState, error)) return fs::canonical(folder, error);
  std::string known;
  for (auto other = found.rbegin(); other != found.rend(); ++other)
    known.append(known.empty() ? "" : ", ").append(other->filename().string());
  fail(ErrorKind::kNoInput, folder.string() + ": no such checkpoint; there are " + known);
}

CheckpointOrigin read_origin(const fs::path& root, const std::string& name) {
  if (name != "latest" && name != "best") (void)find_checkpoint(root, name);
  std::exception_ptr reason;
  for (const fs::path& folder : checkpoints_in(root)) {  // a run that goes on may remove one at any moment
    try {
      return origin_in(read_state(folder), folder / kState);
    } catch (const Error&) {
      if (!reason) reason = std::current_exception();
    }
  }
  if (reason) std::rethrow_exception(reason);
  fail(ErrorKind::kNoInput, root.string() + ": holds no checkpoint");
}

CheckpointOrigin load_weights(const fs::path& folder, Model& model, const std::string& model_config) {
  const Json state = valid_state(folder);
  warn_if_unsealed(folder, state);
  try {
    if (state.at("model") != model_config)
      fail(ErrorKind::kBadData,
           folder.string() + ": does not fit the data set: " + model_difference(state.at("model"), model_config));
    (void)load_tensors(folder / kWeights, state_of(model));
  } catch (const Json::exception& cause) {
    fail(ErrorKind::kBadData, (folder / kState).string() + ": " + cause.what());
  }
  return origin_in(state, folder / kState);
}

LoadedWeights load_named_weights(const fs::path& root, const std::string& name, Model& model,
                                 const std::string& model_config) {
  constexpr int kTries = 20;  // a run writes checkpoints seconds apart
  for (int tries = 1;; ++tries) {
    fs::path folder;
    try {
      folder = find_checkpoint(root, name);
      return {.folder = folder, .origin = load_weights(folder, model, model_config)};
    } catch (const Error&) {
      const bool is_moving = name == "latest" || name == "best";
      const bool is_gone = folder.empty() ? !checkpoints_in(root).empty() : !is_there(folder);
      if (!is_moving || !is_gone || tries == kTries) throw;
    }
  }
}

}  // namespace salient
