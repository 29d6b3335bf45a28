// apps/serve/service.h - what each path of salient-serve answers.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "apps/serve/batcher.h"
#include "apps/serve/http_server.h"
#include "apps/serve/metrics.h"
#include "apps/serve/predict_request.h"
#include "apps/serve/prediction_json.h"
#include "apps/serve/rare_warning.h"

namespace salient::serve {

struct ServiceOptions {
  RequestRules rules;
  Names names{};
  BatchLimits limits{};
  std::string model{};  ///< the answer of GET /v1/model
};

/// POST /predict, GET /v1/model, GET /healthz, GET /metrics. Threads: handle() on one thread at a time.
class Service {
 public:
  Service(PredictFunctions predict, ServiceOptions options);  ///< as Batcher: waits until all is warm

  void handle(HttpRequest request, Reply reply);

  void count_answer(int status, double seconds) { metrics_.count_answer(status, seconds); }
  void set_connections(std::size_t count) { num_connections_ = count; }  ///< Threads: any

  /// From now on requests are refused. @return whether those that wait were answered in time
  bool finish(std::chrono::milliseconds limit);

 private:
  void predict(const std::string& body, const Reply& reply);
  HttpAnswer answer_of(const PredictRequest& request, const Prediction& prediction);
  HttpAnswer failure(const std::exception_ptr& error);
  HttpAnswer look(const std::string& path) const;

  const ServiceOptions options_;
  Metrics metrics_;
  std::atomic<std::size_t> num_connections_{0};
  std::atomic<bool> is_stopping_{false};
  RareWarning warning_;
  Batcher batcher_;  // last: its thread uses the above
};

}  // namespace salient::serve
