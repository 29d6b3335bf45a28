// apps/salient_serve.cpp - salient-serve: a trained run behind HTTP.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/advice.h"
#include "apps/applied_variables.h"
#include "apps/environment.h"
#include "apps/link_scorer.h"
#include "apps/options/help.h"
#include "apps/options/thread_note.h"
#include "apps/predictor.h"
#include "apps/program.h"
#include "apps/run_fields.h"
#include "apps/selected_nodes.h"
#include "apps/serve/access_log.h"
#include "apps/serve/http_server.h"
#include "apps/serve/link_service.h"
#include "apps/serve/listen.h"
#include "apps/serve/model_json.h"
#include "apps/serve/serve_options.h"
#include "apps/serve/service.h"
#include "apps/serve/stop_signal.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/host/machine.h"
#include "core/host/program.h"
#include "core/version.h"
#include "store/node_lookup.h"

namespace salient::serve {
namespace {

using namespace std::chrono_literals;

constexpr const char* kProgram = "salient-serve";
constexpr auto kTimeToStop = 1500ms;  // for requests that wait
constexpr auto kTimeToSend = 300ms;   // for answers that are not sent
constexpr const char* kHelp =
    "salient-serve - predictions of a trained model over HTTP\n\n"
    "  salient-serve --run runs/wordnet-sage-20261121-101500\n"
    "  curl -d '{\"nodes\": [17, 4]}' http://127.0.0.1:8080/predict\n\n"
    "POST /predict, of a run that predicts links POST /score and /recommend, GET /v1/model, GET /healthz, GET "
    "/metrics; SIGTERM and Ctrl-C end it after the requests that "
    "wait.\n"
    "\n"
    "options (with their defaults; empty = the run's); a --config file and SALIENT_NAME variables set them, too, but "
    "for variables that say what a training is, such as SALIENT_FANOUT:\n";

PredictorOptions predictor_options(const ServeOptions& options) {
  PredictorOptions wanted{.checkpoint = options.checkpoint,
                          .fanouts = options.fanout,
                          .device = options.device,
                          .step = options.step,
                          .workers = options.workers,
                          .threads = options.threads,
                          .max_new_edges = options.max_edges};
  warn_of_threads("--threads", options.threads, num_usable_cores());
  warn_of_threads("--workers", options.workers, num_usable_cores());
  wanted.graphs = GraphKind::kAny;
  wanted.dataset = options.dataset;
  wanted.match_features = options.match_features;
  wanted.data_root = options.data_root;
  return wanted;
}

bool are_distinct(const std::vector<std::string>& names) {
  return !names.empty() && std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

/// What is known of nodes and classes; generated data has neither ids nor names.
ServiceOptions service_options(const ServeOptions& options, const Predictor& predictor, const NodeLookup& lookup,
                               const TypedRules* typed) {
  const Dataset& dataset = predictor.dataset();
  const PredictorFacts facts = predictor.facts();
  const auto max_nodes = static_cast<std::size_t>(options.max_nodes);
  const ModelFacts model{.program = std::string(kProgram) + " " + kVersion,
                         .run = options.run,
                         .checkpoint = facts.checkpoint,
                         .model = facts.model,
                         .num_layers = facts.num_layers,
                         .layer_widths = facts.layer_widths,
                         .last_hidden = facts.last_hidden,
                         .fanouts = facts.fanouts,
                         .precision = facts.precision,
                         .device = name_of(facts.device),
                         .max_nodes = max_nodes};
  return {.rules = {.lookup = lookup,
                    .num_nodes = dataset.num_nodes(),
                    .feature_dim = static_cast<std::size_t>(dataset.feature_dim),
                    .task = dataset.task,
                    .num_classes = static_cast<std::size_t>(dataset.num_classes),
                    .max_nodes = max_nodes,
                    .has_names = are_distinct(dataset.class_names),
                    .num_layers = facts.num_layers,
                    .draws_by_time = facts.draws_by_time,
                    .last_hidden = facts.last_hidden,
                    .raw_rows = raw_rows_of(dataset, dataset.name),
                    .typed = typed},
          .names = {.task = dataset.task,
                    .ids = lookup.ids(),
                    .classes = dataset.class_names,
                    .num_outputs = static_cast<std::size_t>(dataset.num_classes)},
          .limits = {.max_nodes = predictor.batch_size(),
                     .max_queued = static_cast<std::size_t>(options.max_queued),
                     .window = std::chrono::microseconds(options.window_us)},
          .model = model_json(model, dataset, lookup.ids())};
}

/// Until a signal comes. @param service  Service or LinkService
template <class AnyService>
void answer_requests(const ServeOptions& options, Descriptor socket, AnyService& service) {
  const StopSignal stop;
  const std::string address = address_of(socket);
  HttpServer server(
      std::move(socket),
      {.rules = {.max_body = static_cast<std::size_t>(options.max_body_kb) << 10,
                 .hosts = HostNames(address, options.host, options.allow_host)},
       .max_connections = static_cast<unsigned>(options.max_connections),
       .timeout = std::chrono::seconds(options.timeout)},
      {.on_request = [&](HttpRequest request, Reply reply) { service.handle(std::move(request), std::move(reply)); },
       .on_answer = [&](int status, double seconds) { service.count_answer(status, seconds); },
       .on_access = options.access_log ? log_access : std::function<void(const HttpAccess&)>(),
       .on_connections = [&](std::size_t num_open) { service.set_connections(num_open); }});
  log_result("listening on http://" + address);
  stop.wait();
  log_info("stopping");
  server.stop_accepting();
  if (!service.finish(kTimeToStop)) {
    log_warning("a prediction takes too long; its request stays without an answer");
    std::_Exit(0);  // nothing can interrupt it, and nothing of this process outlives it
  }
  (void)server.wait_for_answers(kTimeToSend);
}

void serve_links(const ServeOptions& options, Descriptor socket, LinkScorer& scorer) {
  const NodeLookup lookup(scorer.dataset());
  LinkServiceOptions service{.rules = {.lookup = lookup, .max_nodes = static_cast<std::size_t>(options.max_nodes)},
                             .ids = lookup.ids(),
                             .max_queued = static_cast<std::size_t>(options.max_queued)};
  if (scorer.dataset().types.is_typed())
    service.rules.relation_named = [&](std::string_view name) { return scorer.relation_named(name); };
  service.model = link_model_json(std::string(kProgram) + " " + kVersion, options.run, scorer, service);
  LinkService links(scorer, std::move(service));
  answer_requests(options, std::move(socket), links);
}

void serve(const ServeOptions& options) {
  set_progress_mode(ProgressMode::kNone);
  set_log_level(options.log_level);
  set_log_format(options.log_format);
  for (const std::string& warning : misspelt_variables(names_in_environment())) log_warning(warning);
  for (const std::string& line : variables_left_out<ServeOptions>(in_environment)) log_info(line);
  Descriptor socket = listen_on(options.host, options.port);  // first: a port that is taken is said at once
  const PredictorOptions wanted = predictor_options(options);
  if (const std::unique_ptr<LinkScorer> scorer = open_link_scorer(options.run, wanted))
    return serve_links(options, std::move(socket), *scorer);
  Predictor predictor(options.run, wanted);
  const Dataset& dataset = predictor.dataset();
  const NodeLookup lookup = lookup_of_targets(dataset);
  std::optional<TypedRules> typed;
  if (dataset.types.is_typed()) typed.emplace(TypedRules{dataset.types, *dataset.slots, lookups_of_types(dataset)});
  const NodeId first = dataset.first_target();
  const std::span<const NodeId> some(&first, num_targets(dataset) > 0 ? 1 : 0);
  constexpr std::int64_t kLate = std::numeric_limits<std::int64_t>::max() / 2;  // so that there are neighbours
  const auto warm_time = predictor.facts().draws_by_time ? std::optional(kLate) : std::nullopt;
  // The first batch of a thread is the slowest.
  Service service({.warm_up = [&] { (void)predictor.logits(some, warm_time); },
                   .known =
                       [&](auto rows, int layer, auto time) {
                         std::vector<NodeId> nodes(rows.begin(), rows.end());
                         for (NodeId& node : nodes) node += first;
                         return predictor.logits_and_embeddings(nodes, layer, time);
                       },
                   .added = [&](auto lists, int layer) { return predictor.logits_and_embeddings(lists, layer); }},
                  service_options(options, predictor, lookup, typed ? &*typed : nullptr));
  answer_requests(options, std::move(socket), service);
}

int run(std::span<const char* const> args) {
  const ServeCommand command = read_serve_command(args, in_environment);
  if (command.actions.help) {
    options::print_help(std::cout, kHelp, ServeCommand{}, command.actions.help);
  } else if (command.actions.version) {
    print_versions(kProgram);
  } else if (command.actions.print_config) {
    refuse(problems_of(command.options));
    options::print_toml(std::cout, command.options);
  } else {
    refuse(problems_of(command.options));
    serve(command.options);
  }
  return 0;
}

}  // namespace
}  // namespace salient::serve

int main(int argc, char** argv) {
  salient::start_program();
  try {
    const int code = salient::serve::run({argv + 1, static_cast<std::size_t>(argc - 1)});
    return salient::end_program(salient::serve::kProgram, code);
  } catch (...) {
    return salient::report_current_exception(salient::serve::kProgram, salient::serve_advice);
  }
}
