// workbench/app/late_backend.h - a back end that is made when it is first needed: texts are asked for without a GPU,
// and what does not compile is rejected without one.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "core/error.h"
#include "workbench/backend/backend.h"
#include "workbench/generator/generator.h"

namespace salient::workbench {

/// Every call is passed on to what `make` returns. Where that throws Waiting, `make_compiler` is asked whether a
/// candidate compiles: if it does not, nothing has to be waited for.
class LateBackend final : public Backend {
 public:
  using Make = std::function<std::unique_ptr<Backend>()>;
  LateBackend(BackendKind kind, Make make, Make make_compiler)
      : kind_(kind), make_(std::move(make)), make_compiler_(std::move(make_compiler)) {}

  BackendKind kind() const override { return kind_; }
  Machine machine() override { return real().machine(); }
  std::variant<Artifact, Finding> compile(const Candidate& candidate, const Case& given) override {
    try {
      return real().compile(candidate, given);
    } catch (const Waiting&) {
      if (auto rejected = rejection(candidate, given)) return std::move(*rejected);
      throw;
    }
  }
  std::unique_ptr<Executor> make_executor(const std::vector<Artifact>& artifacts, std::size_t arena_bytes) override {
    return real().make_executor(artifacts, arena_bytes);
  }
  WorkerLimits limits() const override { return real_->limits(); }
  std::string profile(const Candidate& candidate, const Case& given, const Artifact& artifact) override {
    return real().profile(candidate, given, artifact);
  }
  std::unique_ptr<DeviceTurn> turn(DeviceTurn::Kind kind) override { return real().turn(kind); }
  std::map<std::string, std::string> environment() override { return real().environment(); }

 private:
  std::optional<Finding> rejection(const Candidate& candidate, const Case& given) {
    try {
      std::variant<Artifact, Finding> compiled = make_compiler_()->compile(candidate, given);
      if (auto* rejected = std::get_if<Finding>(&compiled)) return std::move(*rejected);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoInput) throw;  // there is no compiler here
    }
    return std::nullopt;
  }

  Backend& real() {
    if (real_ == nullptr) real_ = make_();
    return *real_;
  }

  BackendKind kind_;
  Make make_, make_compiler_;
  std::unique_ptr<Backend> real_{};
};

}  // namespace salient::workbench
