// workbench/app/late_backend.h - a back end that is made when it is first needed: texts are asked for without a GPU.
#pragma once

#include <functional>
#include <memory>

#include "workbench/backend/backend.h"

namespace salient::workbench {

/// Every call is passed on to what `make` returns.
class LateBackend final : public Backend {
 public:
  LateBackend(BackendKind kind, std::function<std::unique_ptr<Backend>()> make) : kind_(kind), make_(std::move(make)) {}

  BackendKind kind() const override { return kind_; }
  Machine machine() override { return real().machine(); }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    return real().compile(candidate, given);
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) override {
    return real().make_executor(artifacts, arena_bytes);
  }
  std::string profile(const Candidate& candidate, const Case& given, const Artifact& artifact) override {
    return real().profile(candidate, given, artifact);
  }
  WorkerLimits limits() const override { return real_->limits(); }
  std::unique_ptr<DeviceTurn> turn(DeviceTurn::Kind kind) override { return real().turn(kind); }
  std::map<std::string, std::string> environment() override { return real().environment(); }

 private:
  Backend& real() {
    if (real_ == nullptr) real_ = make_();
    return *real_;
  }

  BackendKind kind_;
  std::function<std::unique_ptr<Backend>()> make_;
  std::unique_ptr<Backend> real_{};
};

}  // namespace salient::workbench
