// apps/command.h - the whole command line of a program that has options of a run: these, and what to do instead.
#pragma once

#include <string>
#include <type_traits>

#include "apps/options/help.h"

namespace salient {

/// What to do instead of a run, or before it. Not part of a run's configuration.
struct Actions {
  std::string config{};
  bool print_config = false;
  bool version = false;
  options::HelpTopic help{};
};

/// Of programs that may run as several ranks.
struct RankedActions : Actions {
  int ranks = 0;  ///< see start_ranks.h
};

/// @tparam Options  of a run, with visit_fields()      @tparam What  Actions, or what has more
template <class Options, class What = Actions>
struct Command {
  Options options{};
  What actions{};
};

template <class Self, class Visit>
requires std::is_base_of_v<Actions, decltype(std::remove_const_t<Self>::actions)>
void visit_fields(Self& self, Visit&& field) {
  visit_fields(self.options, field);
  if constexpr (requires { self.actions.ranks; })
    field("ranks", self.actions.ranks,
          "so many of them on this machine, by mpirun; 0 = as mpirun, srun or torchrun started them");
  field("config", self.actions.config, "TOML file with any of the options above");
  field("print-config", self.actions.print_config, "print the resolved configuration and stop");
  if constexpr (requires { self.actions.dry_run; })
    field("dry-run", self.actions.dry_run, "check everything, print the memory plan and stop");
  field("version", self.actions.version, "print the versions of this program and its libraries and stop");
  field("help", self.actions.help,
        "print this and stop; --help=WORD: options with a word in them, --help=all: in full");
}

}  // namespace salient
