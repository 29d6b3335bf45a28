// engine/infer/infer_options.cpp - the rules between options, and where their values come from.
#include "engine/infer/infer_options.h"

#include <algorithm>
#include <utility>

#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

bool is_checkpoint_name(const std::string& name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return name == "best" || name == "latest" ||
         (name.starts_with("epoch-") && name.size() > 6 && std::all_of(name.begin() + 6, name.end(), is_digit));
}

}  // namespace

std::vector<std::string> InferOptions::problems() const {
  using options::is_one_of;
  std::vector<std::string> found;
  const auto rule = [&](bool holds, std::string text) {
    if (!holds) found.push_back(std::move(text));
  };
  rule(!run.empty(), "--run: is required, the directory of a run of salient-train");
  rule(is_one_of(nodes, {"train", "valid", "test", "all"}) || nodes.ends_with(".npy"),
       "--nodes: train, valid, test, all or FILE.npy, not '" + nodes + "'");
  rule(fanout.empty() || are_fanouts(fanout), "--fanout: each 1 to 65535, or -1 for all");
  rule(!exact || fanout.empty(), "--exact takes all neighbours: leave out --fanout");
  rule(!exact || (batch_size == 0 && seed == -1), "--exact knows no --batch-size and no --seed");
  rule(exact || block_mb == InferOptions().block_mb, "--block-mb: only with --exact");
  rule(is_checkpoint_name(checkpoint), "--checkpoint: best, latest or epoch-NNNN, not '" + checkpoint + "'");
  rule(is_one_of(format, {"npy", "csv"}), "--format: npy or csv");
  rule(top_k >= 1, "--top-k: at least 1");
  rule(embeddings >= 0, "--embeddings: a layer, from 1, or 0 for none");
  rule(seed >= -1 && seed < std::int64_t{1} << 32, "--seed: 0 to 2^32 - 1, or -1 for the run's");
  rule(batch_size >= 0, "--batch-size: at least 1, or 0 for the run's");
  rule(is_one_of(device, {"auto", "cpu", "cuda"}), "--device: auto, cpu or cuda");
  rule(is_one_of(features, {"auto", "host", "device"}), "--features: auto, host or device");
  rule(is_one_of(sampler, {"auto", "host", "device"}), "--sampler: auto, host or device");
  rule(device != "cpu" || features != "device", "--features: device needs a GPU");
  rule(device != "cpu" || sampler != "device", "--sampler: device needs a GPU");
  rule(workers >= 0 && workers <= 1024, "--workers: 1 to 1024, or 0 for the default");
  rule(threads >= 0 && threads <= 1024, "--threads: 1 to 1024, or 0 for the default");
  rule(slots == 0 || (slots >= 2 && slots <= 4096), "--slots: 2 to 4096, or 0 for the default");
  rule(is_one_of(activations, {"auto", "device", "memory", "file"}), "--activations: auto, device, memory or file");
  rule(memory_gb >= 0, "--memory-gb: at least 0");
  rule(exact || (activations == "auto" && scratch.empty() && memory_gb == 0),
       "--activations, --scratch and --memory-gb: only with --exact");
  rule(block_mb >= 1 && block_mb <= 1 << 20, "--block-mb: 1 to 1048576");
  rule(is_one_of(comm, {"auto", "nccl", "mpi", "self"}), "--comm: auto, nccl, mpi or self");
  rule(comm_timeout >= 1, "--comm-timeout: at least 1 second");
  rule(is_one_of(progress, {"auto", "plain", "none"}), "--progress: auto, plain or none");
  rule(is_one_of(log_level, {"debug", "info", "warning", "off"}), "--log-level: debug, info, warning or off");
  return found;
}

void check(const InferOptions& options) {
  std::string all;
  for (const std::string& problem : options.problems()) all.append(all.empty() ? "" : "; ").append(problem);
  if (!all.empty()) fail(ErrorKind::kUsage, all);
}

InferCommand read_infer_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up) {
  const auto command_line = options::from_command_line<InferCommand>(args);
  const auto environment = options::from_environment<InferOptions>(look_up);
  InferCommand command;
  if (const char* root = look_up("SALIENT_DATA")) command.options.data_root = root;
  options::apply(command.options, std::span<const options::Assignment>(environment));
  options::apply(command, std::span<const options::Assignment>(command_line));
  return command;
}

}  // namespace salient
