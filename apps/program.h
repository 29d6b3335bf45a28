// apps/program.h - main() of the programs that may run as several ranks: their command line, help and versions.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <iostream>
#include <span>
#include <string>

#include "apps/environment.h"
#include "apps/options/help.h"
#include "apps/run_config.h"
#include "apps/run_fields.h"
#include "apps/session.h"
#include "apps/start_ranks.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/host/program.h"
#include "engine/comm/agreement.h"
#include "engine/comm/comm_options.h"
#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/comm/mpi_communicator.h"

namespace salient {

/// What --version prints.
void print_versions(const char* program);

/// One warning for each MPI job that was killed on this host and whose shared memory is still there; for runs of
/// several ranks, which need such memory themselves.
void warn_of_stale_segments(const Launch& launch);

/// @tparam Command  {options, actions {help, version}}, with problems_of(options)
template <class Command>
struct Program {
  const char* name;
  Advice advice;
  const char* help;  ///< what is printed above the list of options
  Command (*read)(std::span<const char* const> args, const std::function<const char*(const char*)>& look_up,
                  const ConfigReader& read_run);
  /// The work of a rank. @param control  host communication, for what is agreed on before the device is known
  int (*run)(const Command& command, const Launch& launch, Communicator& control);
};

// NOLINTNEXTLINE(concurrency-mt-unsafe): nothing writes the environment
inline const char* in_environment(const char* name) { return std::getenv(name); }

/// The command line as each rank has it; the configuration of a run that is resumed as rank 0 has it. Collective.
template <class Command>
Command read_command(const Program<Command>& program, std::span<const char* const> args, Communicator& control) {
  Command command;
  std::string config;
  const bool is_rank_0 = control.rank() == 0;
  together(control, [&] {
    if (is_rank_0)
      command = program.read(args, in_environment,
                             [&](const std::filesystem::path& run) { return config = read_resumed_config(run); });
  });
  control.broadcast(config);
  together(control, [&] {
    if (!is_rank_0) command = program.read(args, in_environment, [&](const std::filesystem::path&) { return config; });
  });
  return command;
}

/// How long this process waits for other ranks, before they can agree on what is wrong with the command line.
template <class Command>
double start_seconds(const Program<Command>& program, std::span<const char* const> args) {
  constexpr CommOptions kDefaults;
  try {
    return std::max(1, program.read(args, in_environment, read_resumed_config).options.comm.timeout_seconds);
  } catch (const std::exception&) {  // is reported when it is read again
    return kDefaults.timeout_seconds;
  }
}

/// --ranks of a command line that can be read; 0 = not given, or what is wrong is reported when it is read again.
template <class Command>
int asked_ranks(std::span<const char* const> args) {
  try {
    int ranks = 0;
    for (const options::Assignment& said : options::from_command_line<Command>(args)) {
      if (said.name == "help" || said.name == "version") return 0;
      if (said.name == "ranks" && !from_text(said.text, ranks)) return 0;
    }
    return ranks;
  } catch (const std::exception&) {
    return 0;
  }
}

/// @return the exit code
template <class Command>
int run_rank(const Program<Command>& program, std::span<const char* const> args, const Launch& launch) {
  const auto control =
      launch.size > 1 ? make_mpi_communicator(launch, launch.program.start_seconds) : make_self_communicator();
  const Command command = read_command(program, args, *control);
  const bool is_rank_0 = launch.rank == 0;
  if (command.actions.help) {
    together(*control, [&] {
      if (is_rank_0) options::print_help(std::cout, program.help, Command{}, command.actions.help);
    });
    std::cout << std::flush;
  }
  if (command.actions.version && !command.actions.help && is_rank_0) print_versions(program.name);
  if (command.actions.help || command.actions.version) return 0;
  together(*control, [&] {
    require_option(command.actions.ranks >= 0 && command.actions.ranks <= kMostRanks,
                   "--ranks: 0 to " + std::to_string(kMostRanks));
    refuse(problems_of(command.options));
  });
  set_terminal(command.options.console, launch);
  if (is_rank_0)
    for (const std::string& warning : misspelt_variables(names_in_environment())) log_warning(warning);
  if (launch.size > 1 && launch.local_rank == 0) warn_of_stale_segments(launch);
  return program.run(command, launch, *control);
}

/// The whole of main().
template <class Command>
int run_program(const Program<Command>& program, int argc, char** argv) {
  start_program();
  const std::span<const char* const> args(argv + 1, static_cast<std::size_t>(argc - 1));
  try {
    if (const auto done = start_ranks(asked_ranks<Command>(args), args, in_environment)) return *done;
  } catch (...) {
    return report_current_exception(program.name, program.advice);
  }
  const int code = run_ranks({program.name, program.advice, start_seconds(program, args)},
                             [&](const Launch& launch) { return run_rank(program, args, launch); });
  return end_program(program.name, code);
}

}  // namespace salient
