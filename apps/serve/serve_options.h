// apps/serve/serve_options.h - everything that salient-serve depends on, and its command line.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "apps/applied_variables.h"
#include "core/console/console_options.h"
#include "core/console/log_format.h"
#include "core/device_kind.h"
#include "core/field_problem.h"
#include "engine/plan/step_kind.h"
#include "store/data_schema.h"

namespace salient::serve {

struct ServeOptions {
  std::string run{};
  std::string host = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> allow_host{};
  std::string checkpoint = "best";
  std::string dataset{};
  FeatureMatch match_features = FeatureMatch::kName;
  std::string data_root{};
  std::vector<int> fanout{};
  std::optional<DeviceKind> device{};
  std::optional<StepKind> step{};
  int workers = 1;
  int threads = 0;
  int max_nodes = 1024;
  int max_edges = 1'000'000;
  int max_body_kb = 1024;
  int max_connections = 256;
  int max_queued = 128;
  int window_us = 0;
  int timeout = 10;
  bool access_log = false;
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;
};

template <class Self, class Visit>
requires std::is_same_v<std::remove_const_t<Self>, ServeOptions>
void visit_fields(Self& self, Visit&& field) {
  field("run", self.run, "directory of a run of salient-train");
  field("host", self.host, "address to listen on; 0.0.0.0 = every one of this machine, for anyone who reaches it");
  field("port", self.port, "0 = any that is free; the first line of the output names it");
  field("allow-host", self.allow_host, "other names of this server, a list: of requests and of pages that ask it");
  field("checkpoint", self.checkpoint, "best | latest | epoch-NNNN");
  field("dataset", self.dataset, "another data set than the run's, with the run's columns of features");
  field("match-features", self.match_features,
        "columns of another data set: by their names, and made features only if made as the run's; or as they come");
  field("data-root", self.data_root, "where prepared data sets live; SALIENT_DATA sets it too");
  field("fanout", self.fanout, "neighbours kept per node and hop, the nodes' own hop first; the run's --eval-fanout");
  field("device", self.device, "");
  field("step", self.step, "of known nodes; resident: one graph on the GPU, with all data there; auto: if that can be");
  field("workers", self.workers, "threads that prepare batches");
  field("threads", self.threads, "threads of the dense layers on a CPU; 0 = all cores");
  field("max-nodes", self.max_nodes, "nodes of a request");
  field("max-edges", self.max_edges, "sampled for a request of new nodes; more get 413");
  field("max-body-kb", self.max_body_kb, "KiB of a request; larger ones get 413");
  field("max-connections", self.max_connections, "open at a time; others wait");
  field("max-queued", self.max_queued, "requests that wait for a batch; others get 503");
  field("window-us", self.window_us, "microseconds that a request waits for others, to be predicted as one batch");
  field("timeout", self.timeout, "seconds for a client to send a request or to take an answer");
  field("access-log", self.access_log, "a line of the log for each answer: client, request, status, bytes, time");
  field("log-level", self.log_level, "of the lines on standard error");
  field("log-format", self.log_format, "lines with their time, or an object of JSON a line");
}

/// The whole command line.
using ServeCommand = Command<ServeOptions>;

/// Merges, the strongest last: defaults < --config file < SALIENT_*, as applied_variables() < command line.
///
/// @param look_up  getenv in a program
/// @throws Error{kUsage}; Error{kNoInput} when the config file is missing
ServeCommand read_serve_command(std::span<const char* const> args,
                                const std::function<const char*(const char*)>& look_up);

/// Every rule that the options break. Never touches disk, GPU or network.
std::vector<FieldProblem> problems_of(const ServeOptions& options);

}  // namespace salient::serve
