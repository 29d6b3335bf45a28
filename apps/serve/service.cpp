// apps/serve/service.cpp - see service.h.
#include "apps/serve/service.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"

namespace salient::serve {
namespace {

constexpr std::array<std::string_view, 3> kToRead = {"/v1/model", "/healthz", "/metrics"};
constexpr const char* kBusy = "too many requests wait; try again";
constexpr std::chrono::minutes kWarningInterval{1};
constexpr const char* kStopping = "the server is stopping";

HttpAnswer refusal(int status, const std::string& what) { return {.status = status, .body = error_json(what)}; }

}  // namespace

Service::Service(PredictFunctions predict, ServiceOptions options)
    : options_(std::move(options)),
      warning_(kWarningInterval),
      batcher_(std::move(predict), options_.limits, metrics_) {}

/// Of a prediction that could not be made: the client's fault if it asked for too much (kBatch) or for what the run
/// does not predict (kUsage), else the server's, and then the log has the reason, too.
HttpAnswer Service::failure(const std::exception_ptr& error) {
  const Error found = as_error(error);
  const std::string what = found.what();
  if (found.kind() == ErrorKind::kUsage) return refusal(found.topic() == Topic::kBatch ? 413 : 400, what);
  if (const auto line = warning_.line("a prediction failed: " + what)) log_warning(*line);
  return refusal(500, "the prediction failed: " + what);
}

HttpAnswer Service::answer_of(const PredictRequest& request, const Prediction& prediction) {
  if (prediction.error) return failure(prediction.error);
  try {
    return {.body = predictions_json(request, prediction.rows, options_.names)};
  } catch (const std::exception&) {
    return failure(std::current_exception());
  }
}

void Service::handle(HttpRequest request, Reply reply) {
  const bool is_prediction = request.path == "/predict";
  if (!is_prediction && std::ranges::find(kToRead, request.path) == kToRead.end())
    return reply(refusal(404, "there is /predict, /v1/model, /healthz and /metrics"));
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (is_prediction ? request.method != "POST" : !is_read) {
    HttpAnswer answer = refusal(405, request.path + " takes " + (is_prediction ? "POST" : "GET"));
    answer.allow = is_prediction ? "POST" : "GET, HEAD";
    return reply(std::move(answer));
  }
  is_prediction ? predict(request.body, reply) : reply(look(request.path));
}

void Service::predict(const std::string& body, const Reply& reply) {
  if (is_stopping_) return reply(refusal(503, kStopping));
  const auto request = std::make_shared<PredictRequest>();
  try {
    *request = parse_request(body, options_.rules);
  } catch (const Error& error) {
    return reply(refusal(400, error.what()));
  } catch (const std::exception&) {
    return reply(failure(std::current_exception()));
  }
  Job job{.nodes = request->nodes,
          .new_nodes = request->new_nodes,
          .layer = request->layer,
          .time = request->time,
          .done = [this, request, reply](Prediction prediction) {
            try {
              reply(answer_of(*request, prediction));
            } catch (const std::exception&) {  // no memory, not even for words
              reply({.status = 500});
            }
          }};
  if (!batcher_.submit(job)) reply(refusal(503, is_stopping_ ? kStopping : kBusy));
}

HttpAnswer Service::look(const std::string& path) const {
  if (path == "/healthz")
    return {.status = is_stopping_ ? 503 : 200, .body = is_stopping_ ? "stopping\n" : "ok\n", .type = "text/plain"};
  if (path == "/v1/model") return {.body = options_.model};
  const Gauges now{.queued_requests = batcher_.num_queued(), .connections = num_connections_};
  return {.body = metrics_.text(now), .type = "text/plain; version=0.0.4"};
}

bool Service::finish(std::chrono::milliseconds limit) {
  is_stopping_ = true;
  return batcher_.finish(limit);
}

}  // namespace salient::serve
