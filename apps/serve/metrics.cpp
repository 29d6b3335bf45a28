// apps/serve/metrics.cpp - see metrics.h.
#include "apps/serve/metrics.h"

#include "core/value_text.h"
#include "core/version.h"

namespace salient::serve {
namespace {

void open_metric(std::string& out, const std::string& name, const char* type, const char* help) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

template <std::size_t kNumBounds>
void print(std::string& out, const std::string& name, const char* help, const Histogram<kNumBounds>& histogram) {
  open_metric(out, name, "histogram", help);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= kNumBounds; ++i) {
    count += histogram.counts[i];
    const std::string bound = i < kNumBounds ? to_text(histogram.bounds[i]) : "+Inf";
    out += name + "_bucket{le=\"" + bound + "\"} " + std::to_string(count) + "\n";
  }
  out += name + "_sum " + to_text(histogram.sum) + "\n" + name + "_count " + std::to_string(count) + "\n";
}

}  // namespace

void Metrics::count_answer(int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++answers_[status];
  answer_seconds_.add(seconds);
}

void Metrics::count_batch(std::size_t num_requests, std::size_t num_nodes, double seconds) {
  const std::lock_guard lock(mutex_);
  batch_requests_.add(static_cast<double>(num_requests));
  batch_nodes_.add(static_cast<double>(num_nodes));
  batch_seconds_.add(seconds);
}

std::string Metrics::text(const Gauges& now) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  open_metric(out, "salient_info", "gauge", "The version of salient-serve.");
  out += std::string("salient_info{version=\"") + kVersion + "\"} 1\n";
  open_metric(out, "salient_requests_total", "counter", "Requests that were answered, by status code.");
  for (const auto& [status, count] : answers_)
    out += "salient_requests_total{code=\"" + std::to_string(status) + "\"} " + std::to_string(count) + "\n";
  print(out, "salient_request_seconds", "From a request's headers to its answer.", answer_seconds_);
  print(out, "salient_batch_seconds", "Time to predict a batch.", batch_seconds_);
  print(out, "salient_batch_requests", "Requests that were predicted together.", batch_requests_);
  print(out, "salient_batch_nodes", "Nodes that were predicted together.", batch_nodes_);
  open_metric(out, "salient_queued_requests", "gauge", "Requests that wait for a batch.");
  out += "salient_queued_requests " + std::to_string(now.queued_requests) + "\n";
  open_metric(out, "salient_connections", "gauge", "Open connections.");
  out += "salient_connections " + std::to_string(now.connections) + "\n";
  return out;
}

}  // namespace salient::serve
