// apps/start_ranks.cpp - see start_ranks.h.
#include "apps/start_ranks.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>

#include "core/error.h"
#include "core/files/file_io.h"

namespace salient {
namespace {

/// torchrun sets all of these, and --ranks none.
RankStart start_of_torchrun(const LookUp& look_up) {
  const int size = number_in(look_up, "WORLD_SIZE");
  for (const char* name : {"RANK", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK"})
    if (size <= 1 || look_up(name) == nullptr) return {};
  if (number_in(look_up, "LOCAL_WORLD_SIZE") != size)
    fail(ErrorKind::kUsage, "torchrun has started " + std::to_string(size) +
                                " processes, not all of them on this machine: start ranks on several with mpirun or "
                                "srun");
  return {size, number_in(look_up, "RANK") != 0};
}

}  // namespace

RankStart rank_start(int asked, const LookUp& look_up) {
  if (is_started_by_launcher(look_up)) {
    if (asked > 0) fail(ErrorKind::kUsage, "--ranks: mpirun or srun has started the ranks; leave it out");
    return {};
  }
  const RankStart torchrun = start_of_torchrun(look_up);
  if (asked > 0 && torchrun.ranks > 1) fail(ErrorKind::kUsage, "--ranks: torchrun has said how many; leave it out");
  return asked > 0 && asked <= kMostRanks ? RankStart{asked, false} : torchrun;
}

std::vector<std::string> mpirun_command(int ranks, bool is_root, const std::string& program,
                                        std::span<const char* const> args) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks), "--bind-to", "none", "--oversubscribe"};
  if (is_root) words.emplace_back("--allow-run-as-root");
  words.push_back(program);
  words.insert(words.end(), args.begin(), args.end());
  return words;
}

std::optional<int> start_ranks(int asked, std::span<const char* const> args, const LookUp& look_up) {
  const RankStart start = rank_start(asked, look_up);
  if (start.is_of_another) return 0;
  if (start.ranks <= 1) return std::nullopt;
  std::vector<const char*> others;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--ranks") ++i;
    if (arg != "--ranks" && !arg.starts_with("--ranks=")) others.push_back(args[i]);
  }
  std::vector<std::string> words =
      mpirun_command(start.ranks, geteuid() == 0, std::filesystem::read_symlink("/proc/self/exe").string(), others);
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  if (errno == ENOENT)
    fail(ErrorKind::kNoInput, "mpirun, which starts ranks, is not on PATH; OpenMPI's packages have it: openmpi-bin");
  fail_with_errno("mpirun", "start ranks by it");
}

}  // namespace salient
