// workbench/case/formula.cpp - reads formulas; see formula.h.
#include "workbench/case/formula.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "workbench/case/formula_node.h"

namespace salient::workbench {
namespace {

using Node = Formula::Node;
using Step = FormulaStep;

const std::map<std::string, std::pair<Step, std::size_t>, std::less<>> kFormulaFunctions = {
    {"abs", {Step::kAbs, 1}},     {"exp", {Step::kExp, 1}},     {"log", {Step::kLog, 1}},
    {"sqrt", {Step::kSqrt, 1}},   {"rsqrt", {Step::kRsqrt, 1}}, {"tanh", {Step::kTanh, 1}},
    {"erf", {Step::kErf, 1}},     {"sin", {Step::kSin, 1}},     {"cos", {Step::kCos, 1}},
    {"floor", {Step::kFloor, 1}}, {"min", {Step::kMin, 2}},     {"max", {Step::kMax, 2}},
    {"pow", {Step::kPow, 2}},     {"mod", {Step::kMod, 2}},     {"sigmoid", {Step::kSigmoid, 1}},
    {"where", {Step::kWhere, 3}}};
const std::map<std::string, Step, std::less<>> kLoops = {{"sum", Step::kSum}, {"maximum", Step::kMaximum}};
constexpr std::pair<const char*, Step> kComparisons[] = {{"<=", Step::kLessEqual}, {">=", Step::kGreaterEqual},
                                                         {"==", Step::kEqual},     {"!=", Step::kUnequal},
                                                         {"<", Step::kLess},       {">", Step::kGreater}};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Takes words and signs off a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  [[noreturn]] void refuse(const std::string& why) const {
    std::string shown(text_.substr(0, 200));
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c >= 0x7F; }, '?');
    fail(ErrorKind::kBadData, "formula '" + shown + "': " + why);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view what) {
    skip_blanks();
    if (text_.substr(at_, what.size()) != what) return false;
    at_ += what.size();
    return true;
  }
  void expect(std::string_view what) {
    if (!take(what)) refuse("expected '" + std::string(what) + "' at character " + std::to_string(at_ + 1));
  }
  std::string name() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (start == at_ || std::isdigit(static_cast<unsigned char>(text_[start])) != 0)
      refuse("expected a name at character " + std::to_string(start + 1));
    return std::string(text_.substr(start, at_ - start));
  }
  /// Up to "," or "]": an expression of whole numbers.
  std::string extent() {
    const std::size_t start = at_;
    for (int depth = 0; at_ < text_.size() && (depth > 0 || (text_[at_] != ',' && text_[at_] != ']')); ++at_)
      depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
    return std::string(text_.substr(start, at_ - start));
  }
  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

 protected:
  double number() {
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    if (end == rest.c_str() || !std::isfinite(value)) refuse("no number at character " + std::to_string(at_ + 1));
    at_ += static_cast<std::size_t>(end - rest.c_str());
    if (at_ < text_.size() && text_[at_] == 'f') ++at_;
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Recursive descent over one text. Each function reads what its name says.
class Reader : public Cursor {
 public:
  Reader(std::string_view text, const Case& given) : Cursor(text), given_(given) {
    for (const std::string& dim : given.dims) names_[dim] = num_slots_++;
  }

  std::size_t new_index(const std::string& index) {
    if (names_.contains(index) || kFormulaFunctions.contains(index) || kLoops.contains(index) || index == "pi" ||
        index == "let")
      refuse("the index " + index + " has another meaning");
    return names_[index] = num_slots_++;
  }
  std::size_t buffer(const std::string& of) const {
    for (std::size_t b = 0; b < given_.buffers.size(); ++b)
      if (given_.buffers[b].name == of) return b;
    refuse("the case has no buffer " + of);
  }
  std::size_t num_slots() const { return num_slots_; }

  Node comparison() {
    Node left = sum();
    for (const auto& [sign, step] : kComparisons)
      if (take(sign)) return {step, 0, 0, pair(std::move(left), sum())};
    return left;
  }

 private:
  static std::vector<Node> pair(Node a, Node b) {
    std::vector<Node> both;
    both.push_back(std::move(a));
    both.push_back(std::move(b));
    return both;
  }

  Node sum() {
    if (++depth_ > kMaxFormulaDepth) refuse("more than 64 levels");
    Node value = product();
    while (true) {
      const bool adds = take("+");
      if (!adds && !take("-")) break;
      value = {adds ? Step::kAdd : Step::kSubtract, 0, 0, pair(std::move(value), product())};
    }
    --depth_;
    return value;
  }

  Node product() {
    Node value = factor();
    while (true) {
      const bool multiplies = take("*");
      if (!multiplies && !take("/")) return value;
      value = {multiplies ? Step::kMultiply : Step::kDivide, 0, 0, pair(std::move(value), factor())};
    }
  }

  Node factor() {
    skip_blanks();
    if (at_ >= text_.size()) refuse("ends too early");
    if (take("(")) {
      Node value = comparison();
      expect(")");
      return value;
    }
    if (take("-")) {
      if (++depth_ > kMaxFormulaDepth) refuse("more than 64 levels");
      Node value{Step::kNegate, 0, 0, {}};
      value.of.push_back(factor());
      --depth_;
      return value;
    }
    const char c = text_[at_];
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') return {Step::kNumber, number(), 0, {}};
    return named();
  }

  Node named() {
    const std::string word = name();
    if (take("(")) return call(word);
    if (take("[")) {
      Node element{Step::kElement, 0, buffer(word), {}};
      if (given_.buffers[element.place].role == BufferRole::kOut) refuse(word + " is written, it cannot be read");
      element.of.push_back(comparison());
      expect("]");
      return element;
    }
    if (word == "pi") return {Step::kNumber, M_PI, 0, {}};
    const auto found = names_.find(word);
    if (found == names_.end()) refuse("unknown name '" + word + "'");
    return {Step::kSlot, 0, found->second, {}};
  }

  Node call(const std::string& word) {
    if (word == "let") return bound();
    if (const auto loop = kLoops.find(word); loop != kLoops.end()) return over_index(loop->second);
    const auto found = kFormulaFunctions.find(word);
    if (found == kFormulaFunctions.end()) refuse("unknown function '" + word + "'");
    Node made{found->second.first, 0, 0, {}};
    for (std::size_t i = 0; i < found->second.second; ++i) {
      if (i > 0) expect(",");
      made.of.push_back(comparison());
    }
    expect(")");
    return made;
  }

  /// (I, FROM, TO, TERM), from behind the bracket
  Node over_index(Step step) {
    Node made{step, 0, 0, {}};
    const std::string index = name();
    for (int bound = 0; bound < 2; ++bound) {
      expect(",");
      made.of.push_back(comparison());
    }
    made.place = new_index(index);
    expect(",");
    made.of.push_back(comparison());
    expect(")");
    names_.erase(index);
    return made;
  }

  /// (NAME, VALUE, EXPRESSION), from behind the bracket
  Node bound() {
    const std::string word = name();
    expect(",");
    Node made{Step::kLet, 0, 0, {}};
    made.of.push_back(comparison());
    made.place = new_index(word);
    expect(",");
    made.of.push_back(comparison());
    expect(")");
    names_.erase(word);
    return made;
  }

  const Case& given_;
  std::map<std::string, std::size_t, std::less<>> names_{};  ///< of sizes and indices: their slots
  std::size_t num_slots_ = 0;
  int depth_ = 0;
};

/// What a bound of a sum is at most, or at least, as an expression of sizes.
std::string bound_text(const Node& node, const Case& given, const std::vector<std::string>& names, bool is_most) {
  const auto of = [&](std::size_t i) { return bound_text(node.of[i], given, names, is_most); };
  const auto joined = [&](const char* sign) { return "(" + of(0) + sign + of(1) + ")"; };
  switch (node.step) {
    case Step::kNumber: return std::to_string(static_cast<std::int64_t>(std::clamp(node.number, 0.0, 0x1p40)));
    case Step::kSlot: {
      const bool is_size = node.place < given.dims.size();
      return is_size || is_most ? "(" + names[node.place] + ")" : "0";
    }
    case Step::kElement: {
      const BufferSpec& buffer = given.buffers[node.place];
      if (!is_most || buffer.limit.empty()) return "0";
      return buffer.fill == Fill::kIndptr ? "ceil(" + buffer.limit + ",max(" + buffer.count + "-1,1))" : buffer.limit;
    }
    case Step::kAdd: return joined("+");
    case Step::kSubtract: return joined("-");
    case Step::kMultiply: return joined("*");
    case Step::kDivide: return "(" + of(0) + "/max(1," + of(1) + "))";
    case Step::kMin: return "min(" + of(0) + "," + of(1) + ")";
    case Step::kMax: return "max(" + of(0) + "," + of(1) + ")";
    case Step::kFloor: return of(0);
    default: return "0";
  }
}

std::string cost_text(const Node& node, const Case& given, const std::vector<std::string>& names) {
  if (node.of.empty()) return "1";
  if (node.step == Step::kSum || node.step == Step::kMaximum)
    return "(1+" + cost_text(node.of[2], given, names) + ")*max(1," + bound_text(node.of[1], given, names, true) + "-" +
           bound_text(node.of[0], given, names, false) + ")";
  std::string text = "(1";
  for (const Node& child : node.of) text += "+" + cost_text(child, given, names);
  return text + ")";
}

bool has_function(const Node& node) {
  const bool is_exact = node.step == Step::kFloor || node.step == Step::kMin || node.step == Step::kMax;
  return (node.step >= Step::kExp && node.step <= Step::kMod && !is_exact) ||
         std::any_of(node.of.begin(), node.of.end(), has_function);
}

}  // namespace

struct Formula::Parts {
  std::size_t output = 0, num_slots = 0;
  std::vector<std::pair<std::size_t, std::string>> indices{};  ///< slot and extent, the last one runs fastest
  std::string text{}, count{}, cost{};
  Node expression{};
};

Formula::Formula(const std::string& text, const Case& given) : parts_(std::make_unique<Parts>()) {
  Reader reader(text, given);
  const std::string output = reader.name();
  parts_->text = text;
  parts_->output = reader.buffer(output);
  if (given.buffers[parts_->output].role == BufferRole::kIn) reader.refuse(output + " is read, it cannot be written");
  reader.expect("[");
  do {
    const std::size_t slot = reader.new_index(reader.name());
    parts_->indices.emplace_back(slot, reader.take("<") ? reader.extent() : "");
  } while (reader.take(","));
  reader.expect("]");
  if (parts_->indices.size() > 1)
    for (const auto& [slot, extent] : parts_->indices)
      if (extent.empty()) reader.refuse("of several indices each says its extent, as in [i < m, j < n]");
  if (parts_->indices.size() == 1 && parts_->indices[0].second.empty())
    parts_->indices[0].second = given.buffers[parts_->output].count;
  reader.expect("=");
  parts_->expression = reader.comparison();
  if (!reader.is_at_end()) reader.refuse("more than an expression");
  parts_->num_slots = reader.num_slots();
  parts_->count = given.buffers[parts_->output].count;
  std::vector<std::string> names(parts_->num_slots, "0");  // an index is below its extent
  std::copy(given.dims.begin(), given.dims.end(), names.begin());
  for (const auto& [slot, extent] : parts_->indices) names[slot] = extent;
  parts_->cost = cost_text(parts_->expression, given, names);
}

Formula::~Formula() = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;

std::size_t Formula::output() const { return parts_->output; }
bool Formula::has_functions() const { return has_function(parts_->expression); }
std::string Formula::cost() const { return parts_->cost; }

void Formula::check(const Variables& dims) const {
  std::int64_t elements = 1;
  for (const auto& [slot, extent] : parts_->indices)
    elements = evaluate("a*b", {{"a", elements}, {"b", evaluate(extent, dims)}});
  if (const std::int64_t count = evaluate(parts_->count, dims); elements != count)
    fail(ErrorKind::kBadData, "formula '" + parts_->text + "': its indices make " + std::to_string(elements) +
                                  " elements, the buffer has " + std::to_string(count));
}

Formula::Place Formula::place_of(const Problem& problem) const {
  Place place{std::vector<Estimated>(parts_->num_slots), {}};
  const Case& given = problem.definition();
  for (std::size_t d = 0; d < given.dims.size(); ++d)
    place.slots[d].value = static_cast<double>(problem.dim(given.dims[d]));
  for (const auto& [slot, extent] : parts_->indices)
    place.extents.push_back(static_cast<std::size_t>(problem.value_of(extent)));
  return place;
}

Estimated Formula::at(const Problem& problem, Place& place, std::size_t index) const {
  for (std::size_t i = parts_->indices.size(); i-- > 0; index /= place.extents[i])
    place.slots[parts_->indices[i].first] = {static_cast<double>(index % place.extents[i]), 0, 0};
  return value_of(parts_->expression, problem, place.slots);
}

}  // namespace salient::workbench
