// workbench/method/run_record.h - the first record of a ledger: what was to be run, so that it can be run again.
#pragma once

#include "workbench/ledger/spent.h"
#include "workbench/method/method.h"

namespace salient::workbench {

Json json_of(const MethodOptions& options);
/// @throws Error{kBadData}
MethodOptions method_options_of(const Json& json);

/// Case, prompts, start kernel and options of a recorded run: as they were then, not as they are today.
struct RunRecipe {
  Case given{};
  Prompts prompts;
  BackendKind backend = BackendKind::kHost;
  std::string start{};
  MethodOptions options{};
  std::map<std::string, std::string> machine{};
  Prices prices{};

  /// Refers to this.
  MethodContext context() const {
    return {.given = &given,
            .prompts = &prompts,
            .backend = backend,
            .start = start,
            .options = options,
            .machine = machine};
  }
};
/// Where the case of a record is today: of the workbench, or a file of the user.
std::filesystem::path case_file_of(const Json& first, const std::filesystem::path& workbench);
/// @param first  record of the ledger in `folder`   @throws Error{kBadData}
RunRecipe read_recipe(const std::filesystem::path& folder, const Json& first, const std::filesystem::path& workbench);

}  // namespace salient::workbench
