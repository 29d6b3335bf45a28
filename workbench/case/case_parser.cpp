// workbench/case/case_parser.cpp - reads case files, one keyword a line; see case.h and docs/KERNELS.md.
#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <sstream>

#include "core/error.h"
#include "workbench/case/case.h"
#include "workbench/case/case_reference.h"

namespace salient::workbench {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// What follows the first `skip` words, without blanks at both ends.
std::string rest_of(const std::string& line, std::size_t skip) {
  std::size_t at = 0;
  const auto blank = [&](std::size_t i) { return line[i] == ' ' || line[i] == '\t'; };
  for (std::size_t word = 0; word < skip; ++word) {
    while (at < line.size() && blank(at)) ++at;
    while (at < line.size() && !blank(at)) ++at;
  }
  while (at < line.size() && blank(at)) ++at;
  std::size_t end = line.size();
  while (end > at && blank(end - 1)) --end;
  return line.substr(at, end - at);
}

bool read_exact(const std::vector<std::string>& words, Exact& exact) {
  static const std::map<std::string, Exact> kinds = {
      {"no", Exact::kNo}, {"values", Exact::kValues}, {"bits", Exact::kBits}};
  const auto kind = words.size() == 2 ? kinds.find(words[1]) : kinds.end();
  if (kind != kinds.end()) exact = kind->second;
  return kind != kinds.end();
}

class CaseParser {
 public:
  explicit CaseParser(const std::filesystem::path& file) : file_(file) {
    made_.file = file;
    one_word_["case"] = &made_.name;
    one_word_["class"] = &made_.kind;
    one_word_["ceiling"] = &made_.ceiling;
    expression_["rows"] = &made_.rows;
    expression_["row_cost"] = &made_.row_cost;
    expression_["bound"] = &made_.bound;
    expression_["bytes"] = &made_.bytes;
    expression_["flops"] = &made_.flops;
    flag_["nonfinite"] = &made_.nonfinite;
    flag_["atomics"] = &made_.atomics;
    flag_["data_dependent"] = &made_.data_dependent;
  }

  Case parse(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      ++line_number_;
      if (!line.empty() && line.back() == '\r') line.pop_back();
      read_line(line);
    }
    add_rows_of_reference(made_);
    check();
    return std::move(made_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    std::string text = file_.string() + ":" + std::to_string(line_number_) + ": " + why;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }, '?');
    fail(ErrorKind::kBadData, text);
  }

  void read_line(const std::string& line) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) return;
    const std::string& key = words[0];
    if (key == "|") {
      made_.task += rest_of(line, 1) + "\n";
    } else if (const auto word = one_word_.find(key); word != one_word_.end()) {
      if (words.size() != 2) refuse(key + ": one word");
      *word->second = words[1];
    } else if (const auto expression = expression_.find(key); expression != expression_.end()) {
      *expression->second = rest_of(line, 1);
    } else if (const auto flag = flag_.find(key); flag != flag_.end()) {
      if (words.size() != 2 || (words[1] != "yes" && words[1] != "no")) refuse(key + ": yes or no");
      *flag->second = words[1] == "yes";
    } else if (key == "mean" || key == "backward") {
      (key == "mean" ? made_.mean : made_.backward) = rest_of(line, 1);
    } else if (key == "formula") {
      made_.formulas.push_back(rest_of(line, 1));
    } else if (key == "reference") {
      if (auto why = read_reference(words, made_)) refuse(*why);
    } else if (key == "exact") {
      if (!read_exact(words, made_.exact)) refuse("exact: no, values or bits");
    } else if (key == "exponents") {
      read_exponents(words);
    } else if (key == "dims") {
      made_.dims.assign(words.begin() + 1, words.end());
    } else if (key == "buffer") {
      read_buffer(words);
    } else if (key == "start") {
      read_start(words);
    } else if (key == "engine") {
      if (words.size() != 4) refuse("engine FILE FUNCTION RUN");
      made_.engine.push_back({words[1], words[2], words[3]});
    } else if (key == "public" || key == "edge" || key == "hidden") {
      read_shape(words);
    } else {
      refuse("unknown keyword '" + key + "'");
    }
  }

  /// buffer NAME TYPE in|out|inout COUNT [values | bits | index LIMIT | indptr LIMIT]; COUNT and LIMIT without blanks
  void read_buffer(const std::vector<std::string>& words) {
    if (words.size() < 5 || words.size() > 7) refuse("buffer NAME TYPE ROLE COUNT [FILL [LIMIT]]");
    BufferSpec buffer{.name = words[1], .count = words[4]};
    const auto type = element_type_of(words[2]);
    if (!type) refuse("buffer type: f32, f16, bf16, i32 or u32");
    buffer.type = *type;
    static const std::map<std::string, BufferRole> roles = {
        {"in", BufferRole::kIn}, {"out", BufferRole::kOut}, {"inout", BufferRole::kInOut}};
    static const std::map<std::string, Fill> fills = {
        {"values", Fill::kValues}, {"bits", Fill::kBits}, {"index", Fill::kIndex}, {"indptr", Fill::kIndptr}};
    const auto role = roles.find(words[3]);
    if (role == roles.end()) refuse("buffer role: in, out or inout");
    buffer.role = role->second;
    const auto fill = fills.find(words.size() > 5 ? words[5] : "values");
    if (fill == fills.end()) refuse("buffer fill: values, bits, index LIMIT or indptr LIMIT");
    buffer.fill = fill->second;
    if (words.size() > 6) buffer.limit = words[6];
    const bool is_limited = buffer.fill == Fill::kIndex || buffer.fill == Fill::kIndptr;
    if (is_limited == buffer.limit.empty()) refuse("index and indptr have a limit, values and bits have none");
    if (buffer.role != BufferRole::kOut && is_float(buffer.type) != (buffer.fill == Fill::kValues))
      refuse("values fill floating point, the other fills integers");
    made_.buffers.push_back(std::move(buffer));
  }

  void read_exponents(const std::vector<std::string>& words) {
    const auto whole = [&](const std::string& word) {
      return static_cast<int>(number(word, -149, 127, "an exponent of 2, -149 to 127"));
    };
    if (words.size() != 3) refuse("exponents LEAST MOST");
    made_.least_exponent = whole(words[1]);
    made_.most_exponent = whole(words[2]);
    if (made_.least_exponent > made_.most_exponent) refuse("exponents LEAST MOST ascend");
  }

  void read_start(const std::vector<std::string>& words) {
    if (words.size() != 3 || (words[1] != "host" && words[1] != "cuda") || words[2].find('/') != std::string::npos)
      refuse("start host|cuda FILE");
    (words[1] == "host" ? made_.host_start : made_.cuda_start) = file_.parent_path() / "kernels" / words[2];
  }

  void read_shape(const std::vector<std::string>& words) {
    ShapeSpec shape;
    shape.set = words[0] == "public" ? ShapeSet::kPublic : words[0] == "edge" ? ShapeSet::kEdge : ShapeSet::kHidden;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (i == 1 && (words[i] == "host" || words[i] == "cuda")) {
        shape.backend = words[i];
        continue;
      }
      shape.dims.push_back(read_dim(words[i], shape.set == ShapeSet::kHidden));
    }
    for (const std::string& dim : made_.dims)
      if (std::count_if(shape.dims.begin(), shape.dims.end(), [&](const DimRange& d) { return d.name == dim; }) != 1)
        refuse("the shape gives " + dim + " once");
    if (shape.dims.size() != made_.dims.size()) refuse("the shape gives a dim that the case lacks");
    made_.shapes.push_back(std::move(shape));
  }

  DimRange read_dim(const std::string& word, bool may_be_range) const {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) refuse("a dim is NAME=VALUE");
    DimRange range{word.substr(0, equals)};
    const std::string value = word.substr(equals + 1);
    const std::size_t dots = value.find("..");
    range.low = number(value.substr(0, dots));
    range.high = dots == std::string::npos ? range.low : number(value.substr(dots + 2));
    if (range.low > range.high) refuse("a range LOW..HIGH ascends");
    if (range.low != range.high && !may_be_range) refuse("only hidden shapes have ranges");
    return range;
  }

  std::int64_t number(const std::string& text, std::int64_t least = 0, std::int64_t most = std::int64_t{1} << 40,
                      const char* rule = "a whole number, 0 to 2^40") const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
      refuse("'" + text + "': " + rule);
    return value;
  }

  void check() const {
    for (const auto& [key, word] : one_word_)
      if (word->empty()) refuse("missing: " + key);
    for (const auto& [key, expression] : expression_)
      if (expression->empty()) refuse("missing: " + key);
    if (made_.reference.empty()) refuse("missing: reference");
    if (made_.task.empty() || made_.dims.empty() || made_.shapes.empty()) refuse("missing: task, dims or shapes");
    const auto writes = [](const BufferSpec& buffer) { return buffer.role != BufferRole::kIn; };
    if (std::none_of(made_.buffers.begin(), made_.buffers.end(), writes)) refuse("no buffer is written");
    for (const ShapeSpec& shape : made_.shapes) check_shape(shape);
    check_formulas(made_);
  }

  void check_shape(const ShapeSpec& shape) const {
    for (const bool low : {true, false}) {
      Variables values;
      for (const DimRange& dim : shape.dims) values[dim.name] = low ? dim.low : dim.high;
      Variables with_distinct = values;  // bytes may count the different indices of a buffer
      for (const BufferSpec& buffer : made_.buffers)
        if (buffer.fill == Fill::kIndex) with_distinct["distinct_" + buffer.name] = evaluate(buffer.count, values);
      for (const auto& [key, expression] : expression_)
        if (evaluate(*expression, key == "bytes" ? with_distinct : values) < 0)
          refuse(key + " is negative for a shape");
      if (!made_.mean.empty() && evaluate(made_.mean, values) < 1) refuse("mean is below 1 for a shape");
      for (const BufferSpec& buffer : made_.buffers) {
        if (evaluate(buffer.count, values) < 0) refuse(buffer.name + ": negative size");
        if (buffer.fill == Fill::kIndex && evaluate(buffer.count, values) > 0 && evaluate(buffer.limit, values) < 1)
          refuse(buffer.name + ": indices into nothing");
        if (buffer.fill == Fill::kIndptr && evaluate(buffer.count, values) < 1) refuse(buffer.name + ": no offset");
      }
    }
  }

  std::filesystem::path file_;
  Case made_;
  int line_number_ = 0;
  std::map<std::string, std::string*, std::less<>> one_word_{}, expression_{};
  std::map<std::string, bool*, std::less<>> flag_{};
};

}  // namespace

Case parse_case(const std::string& text, const std::filesystem::path& file) { return CaseParser(file).parse(text); }

}  // namespace salient::workbench
