// workbench/method/tree_search.cpp - searches with several parents: a beam of the fastest correct kernels, and a Monte
// Carlo tree search by upper confidence bounds (UCT, Kocsis and Szepesvari, ECML 2006). A candidate that is correct but
// slower than the best stays in the tree, since a change may pay only after the next one.
//
// Both draw no random numbers: the next parent is a function of the answers and assessments so far.
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/number_text.h"
#include "workbench/method/answers.h"
#include "workbench/method/method.h"
#include "workbench/referee/bottlenecks.h"

namespace salient::workbench {
namespace {

constexpr int kRequests = 12;
constexpr double kExploration = 0.7;  // of rewards in [0, 1]

/// The start kernel, or what came of a request: a candidate, or an answer without one.
struct Node {
  std::size_t parent = 0;
  std::string source{};
  double of_start = 0;  ///< 0: not correct, no parent of others
  std::string said{};   ///< what it says of itself, and the verdict
  std::string profile{};
  std::string bottlenecks{};  ///< their names
  std::vector<std::size_t> children{};
};

/// The first is the start kernel; children come behind their parents.
using Tree = std::vector<Node>;

/// The parent of request `number` (from 0).
using Select = std::size_t (*)(const Tree& tree, int number, std::size_t width);

/// `width` requests are one generation; its parents are the fastest of those that were there when it began, in turn.
std::size_t select_of_beam(const Tree& tree, int number, std::size_t width) {
  const std::size_t place = static_cast<std::size_t>(number) % width;
  const std::size_t num_there = tree.size() - place;
  std::vector<std::size_t> fastest;
  for (std::size_t i = 0; i < num_there; ++i)
    if (tree[i].of_start > 0) fastest.push_back(i);
  std::ranges::stable_sort(fastest, [&](std::size_t a, std::size_t b) { return tree[a].of_start > tree[b].of_start; });
  return fastest[place % std::min(width, fastest.size())];
}

/// From the start kernel down to the first that has fewer than `width` children, each time to the child with the
/// largest bound: the mean reward below it, and more where it was tried less. A reward is the logarithm of the gain, as
/// a share of the best's.
std::size_t select_of_mcts(const Tree& tree, int, std::size_t width) {
  double most = 0;
  for (const Node& node : tree) most = std::max(most, std::log(std::max(node.of_start, 1.0)));
  std::vector<double> rewards(tree.size()), visits(tree.size(), 1);
  for (std::size_t i = tree.size(); i-- > 0;) {  // children first
    rewards[i] += most > 0 ? std::log(std::max(tree[i].of_start, 1.0)) / most : 0;
    if (i == 0) break;
    rewards[tree[i].parent] += rewards[i];
    visits[tree[i].parent] += visits[i];
  }
  std::size_t at = 0;
  while (tree[at].children.size() >= width) {
    std::size_t next = at;
    double best = 0;
    for (const std::size_t child : tree[at].children) {
      if (tree[child].of_start == 0) continue;
      const double bound =
          rewards[child] / visits[child] + kExploration * std::sqrt(std::log(visits[at]) / visits[child]);
      if (next == at || bound > best) next = child, best = bound;
    }
    if (next == at) break;  // no child is correct
    at = next;
  }
  return at;
}

class TreeSearch final : public Method {
 public:
  TreeSearch(const MethodContext& context, Select select)
      : context_(context),
        select_(select),
        requests_(context.options.rounds > 0 ? context.options.rounds : kRequests),
        tree_{{.source = context.start, .of_start = 1, .said = "the start kernel"}} {}

  Action begin() override { return begins_with_start(context_) ? measure_start(context_) : next(); }

  Action answered(const Answer& answer) override {
    try {
      if (!answer.is_there) fail(ErrorKind::kBadData, answer.error);
      add(source_in(answer.text));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kBadData) throw;
      add({});
      tree_.back().said = std::string("no usable answer: ") + error.what();
      Action after = next();
      after.refused = error.what();
      return after;
    }
    return {.kind = Action::Kind::kJudge,
            .source = tree_.back().source,
            .against = tree_[best_].source,
            .parent = tree_[at_].source};
  }

  Action judged(const Assessment& assessment) override {
    const Finding& finding = assessment.finding;
    Node& node = tree_.back();
    if (shows_measurements()) {
      node.profile = profile_text(assessment);
      node.bottlenecks = names_of(bottlenecks_of(assessment));
    }
    if (tree_.size() == 1) return next();
    if (finding.verdict == Verdict::kImpossible)
      return {.kind = Action::Kind::kFinish, .reason = "stopped: " + finding.reason};
    node.said = opening_comment(node.source);
    node.said += (node.said.empty() ? "" : ": ") + std::string(word_of(finding.verdict)) + ", " + finding.reason;
    if (is_correct(finding.verdict)) node.of_start = assessment.decision.of_start;
    if (finding.verdict == Verdict::kAccepted) best_ = tree_.size() - 1;
    return next();
  }

 private:
  bool shows_measurements() const { return context_.options.profile != ProfilePolicy::kNever; }

  void add(std::string source) {
    tree_[at_].children.push_back(tree_.size());
    tree_.push_back({.parent = at_, .source = std::move(source)});
  }

  /// From the start kernel to `at`, then what was made of it.
  std::string log_of(std::size_t at) const {
    std::vector<std::size_t> path = {at};
    while (path.back() != 0) path.push_back(tree_[path.back()].parent);
    std::string text = "how this kernel came to be:\n";
    for (auto step = path.rbegin(); step != path.rend(); ++step) text += line_of(*step);
    if (!tree_[at].children.empty()) text += "what was made of it so far:\n";
    for (const std::size_t child : tree_[at].children) text += line_of(child);
    return text;
  }

  std::string line_of(std::size_t at) const {
    const Node& node = tree_[at];
    const std::string held_back = node.bottlenecks.empty() ? "" : "; " + node.bottlenecks;
    return "  " + node.said +
           (node.of_start > 0 ? " (" + fixed(node.of_start, 3) + "x of start" + held_back + ")" : "") + "\n";
  }

  Action next() {
    if (asked_ == requests_) return {.kind = Action::Kind::kFinish, .reason = "all requests are done"};
    at_ = select_(tree_, asked_++, static_cast<std::size_t>(context_.options.width));
    const Node& parent = tree_[at_];
    return {.kind = Action::Kind::kAsk,
            .request = {.round = asked_,
                        .role = "coder",
                        .answer = AnswerKind::kSource,
                        .system = context_.prompts->fill("system_coder"),
                        .prompt = context_.prompts->fill(
                            "tree", {{"task", task_text(context_)},
                                     {"kernel", quoted(parent.source)},
                                     {"log", log_of(at_)},
                                     {"menu", menu_text(context_)},
                                     {"profile", parent.profile.empty() ? "not shown\n" : parent.profile}})}};
  }

  MethodContext context_;
  Select select_;
  int requests_, asked_ = 0;
  Tree tree_;
  std::size_t at_ = 0, best_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_beam(const MethodContext& context) {
  return std::make_unique<TreeSearch>(context, &select_of_beam);
}

std::unique_ptr<Method> make_mcts(const MethodContext& context) {
  return std::make_unique<TreeSearch>(context, &select_of_mcts);
}

}  // namespace salient::workbench
