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

constexpr int kPort = 29500;  // torchrun's own default

RankStart start_of_torchrun(const LookUp& look_up) {
  const int size = number_in(look_up, "WORLD_SIZE"), rank = number_in(look_up, "RANK");
  for (const char* name : {"RANK", "MASTER_ADDR"})
    if (size <= 1 || look_up(name) == nullptr) return {};
  const int local_rank = number_in(look_up, "LOCAL_RANK");
  const int on_host = look_up("LOCAL_WORLD_SIZE") != nullptr ? number_in(look_up, "LOCAL_WORLD_SIZE") : 1;
  if (local_rank < 0 || local_rank >= on_host)
    fail(ErrorKind::kUsage, "LOCAL_RANK is " + std::to_string(local_rank) + " of LOCAL_WORLD_SIZE, which is " +
                                std::to_string(on_host) + ", or not set");
  if (rank < local_rank || rank - local_rank + on_host > size)
    fail(ErrorKind::kUsage, "RANK " + std::to_string(rank) + ", LOCAL_RANK " + std::to_string(local_rank) +
                                ", LOCAL_WORLD_SIZE " + std::to_string(on_host) + " and WORLD_SIZE " +
                                std::to_string(size) + " do not fit each other");
  using Part = RankStart::Part;
  return {local_rank > 0 ? Part::kEnd : rank > 0 ? Part::kJoin : Part::kStart, size, on_host};
}

/// argv without --ranks, which mpirun's -np says.
std::vector<const char*> without_ranks(std::span<const char* const> args) {
  std::vector<const char*> others;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    if (arg == "--ranks") ++i;
    if (arg != "--ranks" && !arg.starts_with("--ranks=")) others.push_back(args[i]);
  }
  return others;
}

}  // namespace

RankStart rank_start(int asked, const LookUp& look_up) {
  if (is_started_by_launcher(look_up)) {
    if (asked > 0) fail(ErrorKind::kUsage, "--ranks: mpirun or srun has started the ranks; leave it out");
    return {};
  }
  const RankStart torchrun = start_of_torchrun(look_up);
  if (asked > 0 && torchrun.ranks > 1) fail(ErrorKind::kUsage, "--ranks: torchrun has said how many; leave it out");
  if (asked > 1 && asked <= kMostRanks) return {RankStart::Part::kStart, asked, asked};
  return torchrun;
}

Meeting meeting_of(const LookUp& look_up) {
  const auto text_in = [&](const char* name) { return std::string(look_up(name) != nullptr ? look_up(name) : ""); };
  const bool torchrun_listens = text_in("TORCHELASTIC_USE_AGENT_STORE") == "True";
  const int port = text_in("MASTER_PORT").empty() ? kPort : number_in(look_up, "MASTER_PORT");
  if (port < 1 || port >= 65535) fail(ErrorKind::kUsage, "MASTER_PORT is no port: '" + text_in("MASTER_PORT") + "'");
  return {text_in("MASTER_ADDR"), port + (torchrun_listens ? 1 : 0), text_in("TORCHELASTIC_RUN_ID"),
          number_in(look_up, "WORLD_SIZE")};
}

std::vector<std::string> mpirun_command(int ranks, const std::string& hosts, bool is_root, const std::string& program,
                                        std::span<const char* const> args) {
  std::vector<std::string> words{"mpirun", "-np", std::to_string(ranks), "--bind-to", "none", "--oversubscribe"};
  if (!hosts.empty()) words.insert(words.end(), {"--host", hosts});
  if (is_root) words.emplace_back("--allow-run-as-root");
  words.push_back(program);
  words.insert(words.end(), args.begin(), args.end());
  return words;
}

std::optional<int> start_ranks(int asked, std::span<const char* const> args, const LookUp& look_up) {
  using Part = RankStart::Part;
  const RankStart start = rank_start(asked, look_up);
  if (start.part == Part::kRank) return std::nullopt;
  if (start.part == Part::kEnd) return 0;
  if (start.part == Part::kJoin)
    return work_for_first_host(meeting_of(look_up),
                               {number_in(look_up, "RANK"), start.ranks_on_host, name_of_machine()});
  std::string hosts;
  if (start.ranks_on_host < start.ranks)
    hosts = lead_mpirun_to(meet_hosts(meeting_of(look_up), start.ranks_on_host), start.ranks_on_host);
  std::vector<std::string> words =
      mpirun_command(start.ranks, hosts, geteuid() == 0, std::filesystem::read_symlink("/proc/self/exe").string(),
                     without_ranks(args));
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  if (errno == ENOENT)
    fail(ErrorKind::kNoInput, "mpirun, which starts ranks, is not on PATH; OpenMPI's packages have it: openmpi-bin");
  fail_with_errno("mpirun", "start ranks by it");
}

}  // namespace salient
