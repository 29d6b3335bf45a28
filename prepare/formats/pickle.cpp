// prepare/formats/pickle.cpp - see pickle.h.
#include "prepare/formats/pickle.h"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "core/error.h"

namespace salient {
namespace {

using Kind = PickleValue::Kind;

/// What operations work on: the values so far, a stack of their numbers, and those that are kept by a number.
class PickleMachine {
 public:
  PickleMachine(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  bool is_done() const { return is_done_; }
  Pickle take_pickle() {
    pickle_.num_bytes = at_;
    return std::move(pickle_);
  }
  void finish() {
    pickle_.root = pop();
    is_done_ = true;
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kBadData, file_ + ": byte " + std::to_string(at_) + ": " + why +
                                  "; a dictionary of NumPy arrays is expected, as torch.save writes it");
  }

  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size() - at_) refuse("the pickle is cut off");
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    at_ += static_cast<std::size_t>(count);
    return {begin, static_cast<std::size_t>(count)};
  }

  /// Little-endian, without sign.
  std::uint64_t number(std::size_t num_bytes) {
    std::uint64_t value = 0;
    const std::string_view raw = take(num_bytes);
    std::memcpy(&value, raw.data(), num_bytes);
    return value;
  }

  std::size_t num_kept() const { return memo_.size(); }
  std::string_view text_of(std::uint32_t value) const { return pickle_.values[value].text; }

  std::string_view line() {
    const std::size_t begin = at_;
    while (take(1)[0] != '\n') {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_ - begin - 1};
  }

  void push(PickleValue value) {
    stack_.push_back(static_cast<std::uint32_t>(pickle_.values.size()));
    pickle_.values.push_back(std::move(value));
  }
  void push_integer(std::int64_t value) { push({.kind = Kind::kInteger, .integer = value}); }
  void push_text(Kind kind, std::uint64_t count) { push({.kind = kind, .text = take(count)}); }

  std::uint32_t pop() {
    if (stack_.empty()) refuse("nothing is there to be used");
    const std::uint32_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue& top() {
    if (stack_.empty()) refuse("nothing is there to be used");
    return pickle_.values[stack_.back()];
  }

  /// What is above the last mark, which goes, too.
  std::vector<std::uint32_t> above_mark() {
    std::size_t mark = stack_.size();
    while (mark > 0 && pickle_.values[stack_[mark - 1]].kind != Kind::kMark) --mark;
    if (mark == 0) refuse("no mark");
    std::vector<std::uint32_t> items(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark - 1);
    return items;
  }

  void push_tuple(std::size_t count) {
    PickleValue tuple{.kind = Kind::kList};
    tuple.items.resize(count);
    for (std::size_t i = count; i > 0; --i) tuple.items[i - 1] = pop();
    push(std::move(tuple));
  }

  void add_to(Kind kind, const std::vector<std::uint32_t>& items) {
    PickleValue& target = top();
    if (target.kind != kind) refuse("items of another value");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  /// A whole number in two's complement.
  void push_long() {
    const auto count = static_cast<std::size_t>(number(1));
    if (count > 8) {
      (void)take(count);
      return push_integer(0);  // torch's magic number alone is as long, and is not read
    }
    std::uint64_t value = number(count);
    if (count > 0 && count < 8 && (value >> (8 * count - 1) & 1) != 0) value |= ~std::uint64_t{0} << (8 * count);
    push_integer(static_cast<std::int64_t>(value));
  }

  void call() {
    const std::uint32_t arguments = pop(), what = pop();
    const PickleValue& global = pickle_.values[what];
    if (global.kind == Kind::kGlobal && global.text == "_codecs encode") {
      const PickleValue& of = pickle_.values[arguments];
      if (of.items.empty() || pickle_.values[of.items[0]].kind != Kind::kText) refuse("no text to be encoded");
      return push({.kind = Kind::kBytes, .is_escaped = true, .text = pickle_.values[of.items[0]].text});
    }
    push({.kind = Kind::kObject, .items = {what, arguments}});
  }

  void build() {
    const std::uint32_t state = pop();
    PickleValue& object = top();
    if (object.kind != Kind::kObject) refuse("a state of no object");
    object.items.resize(2);
    object.items.push_back(state);
  }

  void get(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) refuse("a value that was not kept");
    stack_.push_back(found->second);
  }
  void put(std::uint64_t key) {
    if (stack_.empty()) refuse("nothing to be kept");
    memo_[key] = stack_.back();
  }

  void push_global(std::string_view module, std::string_view name) {
    // "MODULE\nNAME\n" and two texts alike become "MODULE NAME"; the few that there are are kept.
    pickle_.names.push_back(std::make_unique<const std::string>(std::string(module) + " " + std::string(name)));
    push({.kind = Kind::kGlobal, .text = *pickle_.names.back()});
  }

 private:
  const std::span<const std::byte> bytes_;
  const std::string& file_;
  std::size_t at_ = 0;
  bool is_done_ = false;
  Pickle pickle_{};
  std::vector<std::uint32_t> stack_{};
  std::unordered_map<std::uint64_t, std::uint32_t> memo_{};
};

bool step_of_values(PickleMachine& on, unsigned char code) {
  switch (code) {
    case 0x80: on.number(1); return true;  // protocol
    case 0x95: on.number(8); return true;  // frame
    case 'N': on.push({}); return true;
    case 0x88: on.push_integer(1); return true;
    case 0x89: on.push_integer(0); return true;
    case 'J': on.push_integer(static_cast<std::int32_t>(on.number(4))); return true;
    case 'K': on.push_integer(static_cast<std::int64_t>(on.number(1))); return true;
    case 'M': on.push_integer(static_cast<std::int64_t>(on.number(2))); return true;
    case 0x8a: on.push_long(); return true;
    case 'G':
      on.number(8);
      on.push({});
      return true;
    case 'h': on.get(on.number(1)); return true;
    case 'j': on.get(on.number(4)); return true;
    case 'q': on.put(on.number(1)); return true;
    case 'r': on.put(on.number(4)); return true;
    case 0x94: on.put(on.num_kept()); return true;
    case '.': on.finish(); return true;
    default: return false;
  }
}

bool step_of_text(PickleMachine& on, unsigned char code) {
  switch (code) {
    case 'X': on.push_text(Kind::kText, on.number(4)); return true;
    case 0x8c: on.push_text(Kind::kText, on.number(1)); return true;
    case 0x8d: on.push_text(Kind::kText, on.number(8)); return true;
    case 'U':
    case 'C': on.push_text(Kind::kBytes, on.number(1)); return true;
    case 'T':
    case 'B': on.push_text(Kind::kBytes, on.number(4)); return true;
    case 0x8e: on.push_text(Kind::kBytes, on.number(8)); return true;
    case 'c': {
      const std::string_view module = on.line();
      on.push_global(module, on.line());
      return true;
    }
    case 0x93: {
      const std::uint32_t name = on.pop(), module = on.pop();
      on.push_global(on.text_of(module), on.text_of(name));
      return true;
    }
    default: return false;
  }
}

bool step_of_groups(PickleMachine& on, unsigned char code) {
  switch (code) {
    case '(': on.push({.kind = Kind::kMark}); return true;
    case ')':
    case ']': on.push({.kind = Kind::kList}); return true;
    case '}': on.push({.kind = Kind::kDict}); return true;
    case 0x85: on.push_tuple(1); return true;
    case 0x86: on.push_tuple(2); return true;
    case 0x87: on.push_tuple(3); return true;
    case 't': on.push({.kind = Kind::kList, .items = on.above_mark()}); return true;
    case 'a': {
      const std::uint32_t item = on.pop();
      on.add_to(Kind::kList, {item});
      return true;
    }
    case 'e': on.add_to(Kind::kList, on.above_mark()); return true;
    case 's': {
      const std::uint32_t value = on.pop(), key = on.pop();
      on.add_to(Kind::kDict, {key, value});
      return true;
    }
    case 'u': on.add_to(Kind::kDict, on.above_mark()); return true;
    case 'R': on.call(); return true;
    case 'b': on.build(); return true;
    default: return false;
  }
}

void step(PickleMachine& on) {
  const auto code = static_cast<unsigned char>(on.take(1)[0]);
  if (!step_of_values(on, code) && !step_of_text(on, code) && !step_of_groups(on, code))
    on.refuse("operation " + std::to_string(code) + ", which is of other values");
}

}  // namespace

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& file) {
  PickleMachine machine(bytes, file);
  while (!machine.is_done()) step(machine);
  return machine.take_pickle();
}

}  // namespace salient
