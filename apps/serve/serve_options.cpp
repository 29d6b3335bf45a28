// apps/serve/serve_options.cpp - see serve_options.h.
#include "apps/serve/serve_options.h"

#include "apps/applied_variables.h"
#include "apps/options/checkpoint_name.h"
#include "apps/serve/host_names.h"
#include "sampler/neighbor_sampler.h"

namespace salient::serve {

ServeCommand read_serve_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up) {
  return merged_command<ServeCommand>(args, look_up);
}

std::vector<FieldProblem> problems_of(const ServeOptions& options) {
  std::vector<FieldProblem> found;
  check_field(found, !options.run.empty(), "run", "is required, the directory of a run of salient-train");
  check_field(found, !options.host.empty(), "host", "an address of this machine");
  check_field(found, options.port >= 0 && options.port <= 65535, "port", "0 to 65535");
  for (const std::string& name : options.allow_host)
    check_field(found, host_named(name).has_value(), "allow-host",
                "a name or an address, such as models.example or [fd00::1], no port");
  options::check_checkpoint_name(found, options.checkpoint);
  check_field(found, options.fanout.empty() || are_fanouts(options.fanout), "fanout", "each 1 to 65535, or -1 for all");
  check_field(found, options.device != DeviceKind::kCpu || options.step != StepKind::kResident, "step",
              "resident needs a GPU");
  check_field(found, options.workers >= 1 && options.workers <= 1024, "workers", "1 to 1024");
  check_field(found, options.threads >= 0 && options.threads <= 1024, "threads", "0 to 1024");
  check_field(found, options.max_nodes >= 1 && options.max_nodes <= 1 << 20, "max-nodes", "1 to 1048576");
  check_field(found, options.max_edges >= 1, "max-edges", "above 0");
  check_field(found, options.max_body_kb >= 1 && options.max_body_kb <= 1 << 20, "max-body-kb", "1 to 1048576");
  check_field(found, options.max_connections >= 1 && options.max_connections <= 1 << 16, "max-connections",
              "1 to 65536");
  check_field(found, options.max_queued >= 1 && options.max_queued <= 1 << 20, "max-queued", "1 to 1048576");
  check_field(found, options.window_us >= 0 && options.window_us <= 1'000'000, "window-us", "0 to 1000000");
  check_field(found, options.timeout >= 1 && options.timeout <= 3600, "timeout", "1 to 3600");
  return found;
}

}  // namespace salient::serve
