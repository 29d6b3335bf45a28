// workbench/method/method.h - how a kernel is improved: state machines that ask, judge and decide.
//
// A method never runs, measures or reads anything itself. It receives answers and assessments and returns what comes
// next, so
// that the same events lead to the same actions: a recorded run can be replayed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "workbench/generator/generator.h"
#include "workbench/method/prompts.h"
#include "workbench/referee/referee.h"

namespace salient::workbench {

enum class ProfilePolicy { kFromStart, kLate, kNever };

struct MethodOptions {
  std::string method = "cutegen";  ///< cutegen | astra | single | beam | mcts
  int rounds = 0;                  ///< optimisation depths, rounds, requests; 0 = the method's own: 10, 5, 5, 12, 12
  int repairs = 5;                 ///< of one depth
  ProfilePolicy profile = ProfilePolicy::kLate;
  std::string language = "cuda";                                                ///< host | cuda | cute
  std::vector<std::string> roles = {"planner", "coder", "tester", "profiler"};  ///< of astra; coder is needed
  int width = 3;               ///< of beam: kernels that are parents at a time; of mcts: children before it goes deeper
  double stop_at = 0;          ///< per cent of the measured bound at which a run ends; 0 = not by that
  bool measures_start = true;  ///< the start kernel is timed first, so that the first plan rests on measurements
};

struct Action {
  enum class Kind { kAsk, kJudge, kFinish } kind = Kind::kFinish;
  Request request{};      ///< of kAsk; the id is the driver's
  std::string source{};   ///< of kJudge
  std::string against{};  ///< of kJudge: the kernel that it must beat; "" = the start kernel
  std::string parent{};   ///< of kJudge: the kernel that it was made of; "" = that one
  MoreTests more{};       ///< of kJudge: to be run from now on
  bool is_start = false;  ///< of kJudge: the start kernel is measured; it is no candidate
  std::string reason{};   ///< of kFinish
  std::string refused{};  ///< after an answer: why it was of no use; "" = it was of use
};

class Method {
 public:
  virtual ~Method() = default;
  virtual Action begin() = 0;
  /// After kAsk.
  virtual Action answered(const Answer& answer) = 0;
  /// After kJudge.
  virtual Action judged(const Assessment& assessment) = 0;
};

/// What every method knows of its task.
struct MethodContext {
  const Case* given = nullptr;       ///< outlives the method
  const Prompts* prompts = nullptr;  ///< likewise
  BackendKind backend = BackendKind::kHost;
  std::string start{};  ///< source of the start kernel
  MethodOptions options{};
  std::map<std::string, std::string> machine{};  ///< what runs it: device, compiler, measured rates
};

/// @throws Error{kUsage} for an unknown method or role
std::unique_ptr<Method> make_method(const MethodContext& context);

std::unique_ptr<Method> make_cutegen(const MethodContext& context);
std::unique_ptr<Method> make_astra(const MethodContext& context);
std::unique_ptr<Method> make_single(const MethodContext& context);
std::unique_ptr<Method> make_beam(const MethodContext& context);
std::unique_ptr<Method> make_mcts(const MethodContext& context);
/// `method`, which also ends with the first accepted candidate whose share_of_floor() is `percent`.
std::unique_ptr<Method> make_until(std::unique_ptr<Method> method, double percent);

// Shared by the methods.

/// Task, rules of the language and form of candidates: the part of a prompt that never changes.
std::string task_text(const MethodContext& context);
/// The class' menu of optimisations; "" if there is none.
std::string menu_text(const MethodContext& context);
/// Verdict, reason and the first lines of the log.
std::string finding_text(const Finding& finding);
/// Whether a method begins by measuring the start kernel, and the action that does.
bool begins_with_start(const MethodContext& context);
Action measure_start(const MethodContext& context);

/// Times, what holds the kernel back, and the compiler's notes.
std::string profile_text(const Assessment& assessment);

}  // namespace salient::workbench
