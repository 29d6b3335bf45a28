// apps/serve/link_service.h - what each path of salient-serve answers for a run that predicts links.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "apps/link_scorer.h"
#include "apps/serve/http_server.h"
#include "apps/serve/link_request.h"
#include "apps/serve/metrics.h"
#include "apps/serve/rare_warning.h"
#include "store/node_ids.h"

namespace salient::serve {

struct LinkServiceOptions {
  LinkRules rules;
  NodeIds ids{};
  std::size_t max_queued = 256;  ///< requests that wait
  std::string model{};           ///< the answer of GET /v1/model
};

/// What scores links, and by what they are asked for, as the JSON of GET /v1/model.
std::string link_model_json(const std::string& program, const std::string& run, const LinkScorer& scorer,
                            const LinkServiceOptions& options);

/// POST /score, POST /recommend, GET /v1/model, /healthz, /metrics. Requests are answered one by one, in their order,
/// on one thread. Threads: handle() on one thread at a time.
class LinkService {
 public:
  /// @param scorer  outlives it
  LinkService(LinkScorer& scorer, LinkServiceOptions options);
  ~LinkService();
  LinkService(const LinkService&) = delete;
  LinkService& operator=(const LinkService&) = delete;

  void handle(HttpRequest request, Reply reply);

  void count_answer(int status, double seconds) { metrics_.count_answer(status, seconds); }
  void set_connections(std::size_t count) { num_connections_ = count; }  ///< Threads: any

  /// From now on requests are refused. @return whether those that wait were answered in time
  bool finish(std::chrono::milliseconds limit);

 private:
  struct Job {
    HttpRequest request;
    Reply reply;
  };
  void work();
  HttpAnswer answer(const HttpRequest& request);
  std::string score(const std::string& body);
  std::string recommend(const std::string& body);
  HttpAnswer look(const std::string& path);
  void add_node(std::string& text, const char* name, NodeId node) const;

  LinkScorer& scorer_;
  const LinkServiceOptions options_;
  const KnownLinks known_;
  Metrics metrics_;
  RareWarning warning_;
  std::atomic<std::size_t> num_connections_{0};
  std::mutex mutex_;
  std::condition_variable arrived_, emptied_;
  std::deque<Job> queue_;
  bool is_closed_ = false, is_busy_ = false;
  std::jthread worker_;  // last: it uses all of the above
};

}  // namespace salient::serve
