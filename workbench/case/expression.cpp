// workbench/case/expression.cpp - see expression.h.
#include "workbench/case/expression.h"

#include <algorithm>
#include <cctype>

#include "core/error.h"
#include "workbench/case/formula.h"

namespace salient::workbench {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1} << 62;
__extension__ using Wide = __int128;  // holds any product of two values

/// Recursive descent over one text. Each function reads what its name says and leaves `at_` behind it.
class Parser {
 public:
  Parser(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}

  std::int64_t whole() {
    const std::int64_t value = sum();
    skip_blanks();
    if (at_ < text_.size()) refuse("unexpected '" + printable(text_[at_]) + "'");
    return value;
  }

 private:
  static std::string printable(char c) {
    return std::isprint(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : std::string("?");
  }

  [[noreturn]] void refuse(const std::string& why) const {
    std::string shown;
    for (const char c : text_.substr(0, 80)) shown += printable(c);
    fail(ErrorKind::kBadData, "expression '" + shown + "': " + why);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    return ++at_, true;
  }

  void expect(char c) {
    if (!take(c)) refuse(std::string("expected '") + c + "'");
  }

  std::int64_t checked(Wide value) const {
    if (value > kLargest || value < -kLargest) refuse("the value is beyond 2^62");
    return static_cast<std::int64_t>(value);
  }

  std::int64_t divide(std::int64_t a, std::int64_t b) const {
    if (b == 0) refuse("division by zero");
    return a / b;
  }

  std::int64_t sum() {
    if (++depth_ > kMaxFormulaDepth) refuse("more than 64 levels");
    std::int64_t value = product();
    while (true) {
      if (take('+'))
        value = checked(static_cast<Wide>(value) + product());
      else if (take('-'))
        value = checked(static_cast<Wide>(value) - product());
      else
        break;
    }
    --depth_;
    return value;
  }

  std::int64_t product() {
    std::int64_t value = factor();
    while (true) {
      if (take('*')) {
        value = checked(static_cast<Wide>(value) * factor());
      } else if (take('/')) {
        value = divide(value, factor());
      } else if (take('%')) {
        const std::int64_t by = factor();
        value -= divide(value, by) * by;
      } else {
        return value;
      }
    }
  }

  std::int64_t factor() {
    skip_blanks();
    if (at_ >= text_.size()) refuse("ends too early");
    if (take('(')) {
      const std::int64_t value = sum();
      expect(')');
      return value;
    }
    if (take('-')) {
      if (++depth_ > kMaxFormulaDepth) refuse("more than 64 levels");
      const std::int64_t value = -factor();
      --depth_;
      return value;
    }
    if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) return number();
    return name_or_call();
  }

  std::int64_t number() {
    Wide value = 0;
    while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      value = checked(value * 10 + (text_[at_++] - '0'));
    return static_cast<std::int64_t>(value);
  }

  std::int64_t name_or_call() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name.empty()) refuse("unexpected '" + printable(text_[at_]) + "'");
    if (!take('(')) {
      const auto found = variables_.find(name);
      if (found == variables_.end()) refuse("unknown name '" + std::string(name) + "'");
      return found->second;
    }
    const std::int64_t a = sum();
    expect(',');
    const std::int64_t b = sum();
    expect(')');
    if (name == "min") return std::min(a, b);
    if (name == "max") return std::max(a, b);
    if (name != "ceil") refuse("unknown function '" + std::string(name) + "'");
    const std::int64_t quotient = divide(a, b);
    return quotient + (a % b != 0 && (a > 0) == (b > 0) ? 1 : 0);
  }

  std::string_view text_;
  const Variables& variables_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate(std::string_view text, const Variables& variables) { return Parser(text, variables).whole(); }

}  // namespace salient::workbench
