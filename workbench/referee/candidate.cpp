// workbench/referee/candidate.cpp - see candidate.h.
#include "workbench/referee/candidate.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>

#include "core/error.h"
#include "workbench/referee/static_gate.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxSource = std::size_t{1} << 20;
constexpr std::size_t kMaxLaunches = 16, kMaxParameters = 16, kMaxScratch = 8, kMaxValues = 64, kMaxExtents = 5;
constexpr std::int64_t kMaxScratchElements = std::int64_t{1} << 33, kMaxSmem = std::int64_t{1} << 20;

/// In the order of Language.
constexpr LanguageTraits kLanguages[] = {
    {.word = "cpp", .extension = ".cu"},
    {.word = "ptx", .extension = ".ptx", .has_params = false},
    {.word = "triton",
     .extension = ".py",
     .package = "Triton",
     .has_blocks = false,
     .has_warps = true,
     .hidden_parameters = 2},
    {.word = "cute-dsl", .extension = ".py", .package = "nvidia-cutlass-dsl"},
    {.word = "tilelang", .extension = ".py", .package = "tilelang"},
    {.word = "cutile",
     .extension = ".py",
     .package = "cuda-tile",
     .has_blocks = false,
     .has_arrays = true,
     .has_ptx = false},
};

bool is_identifier(std::string_view word) {
  if (word.empty() || word.size() > 64 || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return false;
  return std::all_of(word.begin(), word.end(),
                     [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); });
}

/// Words of a declaration. Blanks inside parentheses do not part words, and neither do those around "=" and operators.
std::vector<std::string> declared_words_of(std::string_view line) {
  std::vector<std::string> words;
  int depth = 0;
  bool in_word = false;
  for (const char c : line) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if ((c == ' ' || c == '\t' || c == '\r') && depth <= 0) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    words.back() += c;
  }
  return words;
}

class Declarations {
 public:
  explicit Declarations(Candidate& made) : made_(made) {}

  void read(std::string_view line, int number) {
    number_ = number;
    const std::size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return;
    const std::size_t mark = line.substr(start, 2) == "//" ? 2 : line[start] == '#' ? 1 : 0;
    if (mark == 0) return;
    const std::vector<std::string> words = declared_words_of(line.substr(start + mark));
    if (words.size() < 2) return;
    if (words[0] == "language" && words.size() == 2) read_language(words[1]);
    if (words[0] == "launch") read_launch(words);
    if (words[0] == "param") read_parameter(words);
    if (words[0] == "scratch") read_scratch(words);
    if (words[0] == "array") read_array(words);
  }

 private:
  const LanguageTraits& traits() const { return traits_of(made_.language); }

  [[noreturn]] void refuse(const std::string& why) const {
    std::string text = "line " + std::to_string(number_) + ": " + why;
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c >= 0x7F; }, '?');
    fail(ErrorKind::kBadData, text);
  }

  static std::pair<std::string, std::string> key_value(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return {word, ""};
    return {word.substr(0, equals), word.substr(equals + 1)};
  }

  void read_language(const std::string& word) {
    const std::optional<Language> found = language_of(word);
    if (!found) refuse("a language is one of " + names_of_languages());
    if (!made_.launches.empty()) refuse("the language comes before the launches");
    if (traits_of(*found).has_arrays && has_early_array_) refuse("the language comes before the arrays");
    made_.language = *found;
  }

  void read_launch(const std::vector<std::string>& words) {
    if (made_.launches.size() == kMaxLaunches) refuse("more than 16 launches");
    LaunchLine launch{.kernel = words[1]};
    if (!is_identifier(launch.kernel)) refuse("a launch names a kernel first");
    std::map<std::string, std::string*> keys = {
        {"grid", &launch.grid}, {"grid_y", &launch.grid_y}, {"grid_z", &launch.grid_z}};
    if (traits().has_warps) keys.insert({{"warps", &launch.warps}, {"stages", &launch.stages}});
    if (traits().has_blocks)
      keys.insert({{"block", &launch.block}, {"block_y", &launch.block_y}, {"smem", &launch.smem}});
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto [key, value] = key_value(words[i]);
      const auto found = keys.find(key);
      if (found == keys.end()) refuse("unknown launch key '" + key + "'; " + names_of(keys));
      if (value.empty()) refuse("launch key '" + key + "' has no value");
      *found->second = value;
    }
    if (launch.grid.empty()) refuse("a launch says grid=");
    if (traits().has_warps) launch.block = "32*(" + launch.warps + ")";
    made_.launches.push_back(std::move(launch));
  }

  static std::string names_of(const std::map<std::string, std::string*>& keys) {
    std::string text;
    for (const auto& [key, value] : keys) text += (text.empty() ? "" : ", ") + key;
    return text;
  }

  std::int64_t number(const std::string& text) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || std::abs(value) > (std::int64_t{1} << 31))
      refuse("'" + text + "' is not a whole number up to 2^31");
    return value;
  }

  void read_parameter(const std::vector<std::string>& words) {
    if (!traits().has_params) refuse("PTX has no macros: a param would mean nothing");
    if (made_.parameters.size() == kMaxParameters) refuse("more than 16 parameters");
    const auto [name, value] = key_value(words[1]);
    if (!is_identifier(name) || value.empty()) refuse("param NAME=VALUE [values=A,B,C]");
    if (is_reserved(name)) refuse("a param cannot be named " + name + ", which has a meaning of its own");
    Parameter parameter{.name = name, .value = number(value)};
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto [key, list] = key_value(words[i]);
      if (key != "values") refuse("unknown param key '" + key + "'");
      for (std::size_t from = 0; from <= list.size();) {
        const std::size_t to = std::min(list.find(',', from), list.size());
        parameter.values.push_back(number(list.substr(from, to - from)));
        if (parameter.values.size() > kMaxValues) refuse("more than 64 values");
        from = to + 1;
      }
    }
    made_.parameters.push_back(std::move(parameter));
  }

  void read_scratch(const std::vector<std::string>& words) {
    if (made_.scratch.size() == kMaxScratch) refuse("more than 8 scratch buffers");
    const auto type = words.size() > 2 ? element_type_of(words[2]) : std::nullopt;
    if (words.size() != 4 || !is_identifier(words[1]) || !type) refuse("scratch NAME f32|f16|bf16|i32|u32 COUNT");
    made_.scratch.push_back({.name = words[1], .type = *type, .role = BufferRole::kOut, .count = words[3]});
  }

  /// A comment like any other where the language has no arrays.
  void read_array(const std::vector<std::string>& words) {
    has_early_array_ = true;
    if (!traits().has_arrays) return;
    if (!is_identifier(words[1]) || words.size() < 3 || words.size() > 2 + kMaxExtents)
      refuse("array NAME EXTENT, up to " + std::to_string(kMaxExtents) + " extents");
    if (!made_.arrays.emplace(words[1], std::vector<std::string>(words.begin() + 2, words.end())).second)
      refuse("array " + words[1] + " a second time");
  }

  Candidate& made_;
  int number_ = 0;
  bool has_early_array_ = false;
};

}  // namespace

const LanguageTraits& traits_of(Language language) { return kLanguages[static_cast<std::size_t>(language)]; }

std::optional<Language> language_of(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kLanguages); ++i)
    if (word == kLanguages[i].word) return static_cast<Language>(i);
  return std::nullopt;
}

std::string names_of_languages() {
  std::string text;
  for (const LanguageTraits& one : kLanguages) text.append(text.empty() ? "" : ", ").append(one.word);
  return text;
}

std::size_t num_parameters(const Candidate& candidate, const Case& given) {
  const LanguageTraits& language = traits_of(candidate.language);
  std::size_t count = given.dims.size() + language.hidden_parameters;
  for (const auto* list : {&given.buffers, &candidate.scratch})
    for (const BufferSpec& buffer : *list)
      count += 1 + (language.has_arrays ? 2 * extents_of(candidate, buffer).size() : 0);
  return count;
}

std::vector<std::string> extents_of(const Candidate& candidate, const BufferSpec& buffer) {
  const auto found = candidate.arrays.find(buffer.name);
  return found == candidate.arrays.end() ? std::vector<std::string>{buffer.count} : found->second;
}

Candidate parse_candidate(std::string source) {
  if (source.size() > kMaxSource) fail(ErrorKind::kBadData, "a source above 1 MiB");
  if (source.find('\0') != std::string::npos) fail(ErrorKind::kBadData, "a source with a zero byte");
  Candidate made;
  Declarations declarations(made);
  int number = 0;
  for (std::size_t from = 0; from < source.size();) {
    const std::size_t to = std::min(source.find('\n', from), source.size());
    declarations.read(std::string_view(source).substr(from, to - from), ++number);
    from = to + 1;
  }
  if (made.launches.empty()) fail(ErrorKind::kBadData, "no '// launch NAME block=... grid=...' line");
  made.source = std::move(source);
  return made;
}

std::variant<Candidate, Finding> read_candidate(std::string source) {
  try {
    return parse_candidate(std::move(source));
  } catch (const Error& error) {
    return Finding{Verdict::kLaunchError, error.what(), {}};
  }
}

Variables with_parameters(const Candidate& candidate, const Variables& dims, std::int64_t sm) {
  Variables all = dims;
  all.emplace("sm", sm);
  for (const Parameter& parameter : candidate.parameters) all.insert_or_assign(parameter.name, parameter.value);
  return all;
}

std::vector<Launch> resolve_launches(const Candidate& candidate, const Variables& dims, std::int64_t sm) {
  const Variables all = with_parameters(candidate, dims, sm);
  std::vector<Launch> launches;
  for (const LaunchLine& line : candidate.launches) {
    const Launch launch{.kernel = line.kernel,
                        .grid = {evaluate(line.grid, all), evaluate(line.grid_y, all), evaluate(line.grid_z, all)},
                        .block = {evaluate(line.block, all), evaluate(line.block_y, all)},
                        .smem = evaluate(line.smem, all)};
    const std::string of = "launch " + line.kernel + ": ";
    const auto [x, y, z] = launch.grid;
    if (x < 0 || y < 0 || z < 0 || x > INT32_MAX || y > 65535 || z > 65535)
      fail(ErrorKind::kBadData,
           of + "a grid of " + std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z));
    if (launch.block[0] < 1 || launch.block[1] < 1 || launch.block[0] > 1024 || launch.block[1] > 1024 ||
        launch.block[0] * launch.block[1] > 1024)
      fail(ErrorKind::kBadData,
           of + "a block of " + std::to_string(launch.block[0]) + " x " + std::to_string(launch.block[1]));
    if (launch.smem < 0 || launch.smem > kMaxSmem)
      fail(ErrorKind::kBadData, of + std::to_string(launch.smem) + " bytes of shared memory");
    if (x > 0 && y > 0 && z > 0) launches.push_back(launch);
  }
  return launches;
}

std::size_t scratch_elements(const BufferSpec& scratch, const Candidate& candidate, const Variables& dims,
                             std::int64_t sm) {
  const std::int64_t count = evaluate(scratch.count, with_parameters(candidate, dims, sm));
  if (count < 0 || count > kMaxScratchElements)
    fail(ErrorKind::kBadData, "scratch " + scratch.name + ": " + std::to_string(count) + " elements");
  return static_cast<std::size_t>(count);
}

}  // namespace salient::workbench
