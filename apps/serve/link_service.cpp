// apps/serve/link_service.cpp - see link_service.h.
#include "apps/serve/link_service.h"

#include <algorithm>
#include <array>
#include <exception>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/serve/prediction_json.h"
#include "core/console/log.h"
#include "core/error.h"
#include "core/number_text.h"
#include "core/timer.h"

namespace salient::serve {
namespace {

constexpr std::array<std::string_view, 3> kToRead = {"/v1/model", "/healthz", "/metrics"};
constexpr std::chrono::minutes kWarningInterval{1};

HttpAnswer refusal(int status, const std::string& what) { return {.status = status, .body = error_json(what)}; }

/// As salient-infer writes it.
std::string number_of(float score) { return printed("%.9g", static_cast<double>(score)); }

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string link_model_json(const std::string& program, const std::string& run, const LinkScorer& scorer,
                            const LinkServiceOptions& options) {
  const Dataset& dataset = scorer.dataset();
  const PredictorFacts facts = scorer.facts();
  nlohmann::ordered_json relations = nlohmann::ordered_json::array();
  for (const Relation& relation : dataset.types.relations)
    if (!relation.reverse_of) relations.push_back(relation.name);
  const char* const ids = options.ids.empty() ? "rows" : options.ids.numbers().empty() ? "text" : "numbers";
  const nlohmann::ordered_json json = {
      {"program", program},
      {"run", run},
      {"checkpoint", facts.checkpoint},
      {"model", facts.model},
      {"decoder", scorer.decoder()},
      {"task", "link"},
      {"precision", facts.precision},
      {"dataset",
       {{"name", dataset.name}, {"nodes", dataset.num_nodes()}, {"edges", dataset.num_edges()}, {"ids", ids}}},
      {"relations", dataset.types.is_typed() ? relations : nlohmann::ordered_json(nullptr)},
      {"max_nodes", options.rules.max_nodes},
      {"max_k", options.rules.max_best}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

LinkService::LinkService(LinkScorer& scorer, LinkServiceOptions options)
    : scorer_(scorer),
      options_(std::move(options)),
      known_(known_links_of(scorer.dataset())),
      warning_(kWarningInterval),
      worker_([this] { work(); }) {}

LinkService::~LinkService() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  arrived_.notify_all();
}

void LinkService::handle(HttpRequest request, Reply reply) {
  const bool is_asked = request.path == "/score" || request.path == "/recommend";
  if (!is_asked && std::ranges::find(kToRead, request.path) == kToRead.end())
    return reply(refusal(404, "the run predicts links: there is /score, /recommend, /v1/model, /healthz and /metrics"));
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (is_asked ? request.method != "POST" : !is_read) {
    HttpAnswer answer = refusal(405, request.path + " takes " + (is_asked ? "POST" : "GET"));
    answer.allow = is_asked ? "POST" : "GET, HEAD";
    return reply(std::move(answer));
  }
  if (!is_asked) return reply(look(request.path));
  {
    const std::lock_guard lock(mutex_);
    if (!is_closed_ && queue_.size() < options_.max_queued) {
      queue_.push_back({std::move(request), std::move(reply)});
      arrived_.notify_one();
      return;
    }
  }
  reply(refusal(503, is_closed_ ? "the server is stopping" : "too many requests wait; try again"));
}

void LinkService::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return is_closed_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const Job job = std::move(queue_.front());
    queue_.pop_front();
    is_busy_ = true;
    lock.unlock();
    try {
      job.reply(answer(job.request));
    } catch (const std::exception&) {  // no memory, not even for words
      job.reply({.status = 500});
    }
    lock.lock();
    is_busy_ = false;
    if (queue_.empty()) emptied_.notify_all();
  }
}

HttpAnswer LinkService::answer(const HttpRequest& request) {
  try {
    return {.body = request.path == "/score" ? score(request.body) : recommend(request.body)};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kBadData) return refusal(400, error.what());
    if (const auto line = warning_.line(std::string("a request failed: ") + error.what())) log_warning(*line);
    return refusal(500, std::string("the request failed: ") + error.what());
  }
}

/// "source":17,"source_id":"ann"
void LinkService::add_node(std::string& text, const char* name, NodeId node) const {
  text.append("\"").append(name).append("\":").append(std::to_string(node));
  if (options_.ids.empty()) return;
  const std::string id_name = std::string_view(name) == "node" ? "id" : std::string(name) + "_id";
  text.append(",\"").append(id_name).append("\":").append(quoted(options_.ids[node]));
}

std::string LinkService::score(const std::string& body) {
  const Timer timer;
  const ScoreRequest request = parse_score(body, options_.rules);
  std::string text = "{\"scores\":[";
  for (std::size_t i = 0; i < request.links.size(); ++i) {
    const auto& [source, destination, relation] = request.links[i];
    text.append(i > 0 ? ",{" : "{");
    add_node(text, "source", source);
    if (options_.rules.relation_named)
      text.append(",\"relation\":").append(quoted(scorer_.dataset().types.relations[relation].name));
    text.append(",");
    add_node(text, "destination", destination);
    text.append(",\"score\":").append(number_of(scorer_.score(relation, {source, destination}))).append("}");
  }
  metrics_.count_batch(1, request.links.size(), timer.seconds());
  return text + "]}\n";
}

std::string LinkService::recommend(const std::string& body) {
  const Timer timer;
  const RecommendRequest request = parse_recommend(body, options_.rules);
  const BestLinks wanted{.dataset = scorer_.dataset(),
                         .nodes = request.nodes,
                         .side = request.asks_heads ? LinkSide::kHead : LinkSide::kTail,
                         .relation = request.relation,
                         .k = request.k,
                         .blocks = scorer_.blocks()};
  const auto best = find_best_links(wanted, known_, request.nodes,
                                    [&](std::span<const NodeId> nodes, std::int64_t first, std::int64_t count,
                                        float* out) { scorer_.scores(wanted, nodes, first, count, out); });
  std::string text = "{\"recommendations\":[";
  for (std::size_t q = 0; q < best.size(); ++q) {
    text.append(q > 0 ? ",{" : "{");
    add_node(text, "node", request.nodes[q]);
    text.append(",\"best\":[");
    for (std::size_t rank = 0; rank < best[q].size(); ++rank) {
      text.append(rank > 0 ? ",{" : "{");
      add_node(text, "node", best[q][rank].node);
      text.append(",\"score\":").append(number_of(best[q][rank].score));
      text.append(",\"rank\":").append(std::to_string(rank + 1)).append("}");
    }
    text.append("]}");
  }
  metrics_.count_batch(1, request.nodes.size(), timer.seconds());
  return text + "]}\n";
}

HttpAnswer LinkService::look(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (path == "/healthz")
    return {.status = is_closed_ ? 503 : 200, .body = is_closed_ ? "stopping\n" : "ok\n", .type = "text/plain"};
  if (path == "/v1/model") return {.body = options_.model};
  const Gauges now{.queued_requests = queue_.size(), .connections = num_connections_};
  return {.body = metrics_.text(now), .type = "text/plain; version=0.0.4"};
}

bool LinkService::finish(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  is_closed_ = true;
  arrived_.notify_all();
  return emptied_.wait_for(lock, limit, [this] { return queue_.empty() && !is_busy_; });
}

}  // namespace salient::serve
