// workbench/ledger/report.cpp - see report.h.
#include "workbench/ledger/report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/number_text.h"
#include "workbench/ledger/records.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxDiffLines = 2000;

/// The parts of a page, so that both formats come from one walk over the ledger.
class Page {
 public:
  virtual ~Page() = default;
  virtual void title(const std::string& text) = 0;
  virtual void section(const std::string& text) = 0;
  virtual void paragraph(const std::string& text) = 0;
  virtual void table(const std::vector<std::vector<std::string>>& rows) = 0;
  virtual void code(const std::string& text) = 0;
  virtual std::string done() = 0;
};

class MarkdownPage final : public Page {
 public:
  void title(const std::string& text) override { out_ += "# " + without_tags(text) + "\n\n"; }
  void section(const std::string& text) override { out_ += "## " + without_tags(text) + "\n\n"; }
  void paragraph(const std::string& text) override { out_ += without_tags(text) + "\n\n"; }
  void table(const std::vector<std::vector<std::string>>& rows) override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::string cell : rows[r]) {
        std::replace(cell.begin(), cell.end(), '|', '/');
        std::replace(cell.begin(), cell.end(), '\n', ' ');
        out_ += "| " + without_tags(cell) + " ";
      }
      out_ += "|\n";
      for (std::size_t c = 0; r == 0 && c < rows[0].size(); ++c) out_ += c == 0 ? "|---|" : "---|";
      if (r == 0) out_ += "\n";
    }
    out_ += "\n";
  }
  void code(const std::string& text) override {
    std::string fence = "````";
    while (text.find(fence) != std::string::npos) fence += '`';
    out_ += fence + "\n" + text + fence + "\n\n";
  }
  std::string done() override { return out_; }

 private:
  /// Viewers of Markdown take HTML as it is: what a candidate or a compiler says is text.
  static std::string without_tags(const std::string& text) {
    std::string safe;
    for (const char c : text) safe += c == '<' ? "&lt;" : std::string(1, c);
    return safe;
  }

  std::string out_;
};

class HtmlPage final : public Page {
 public:
  void title(const std::string& text) override {
    out_ = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>" + escaped(text) +
           "</title><style>body{font:15px/1.5 sans-serif;max-width:70em;margin:2em auto;padding:0 "
           "1em}table{border-collapse:collapse}"
           "td,th{border:1px solid #ccc;padding:.2em "
           ".6em;text-align:left}pre{background:#f4f4f4;padding:1em;overflow:auto}</style><h1>" +
           escaped(text) + "</h1>\n";
  }
  void section(const std::string& text) override { out_ += "<h2>" + escaped(text) + "</h2>\n"; }
  void paragraph(const std::string& text) override { out_ += "<p>" + escaped(text) + "</p>\n"; }
  void table(const std::vector<std::vector<std::string>>& rows) override {
    out_ += "<table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const char* const tag = r == 0 ? "th" : "td";
      out_ += "<tr>";
      for (const std::string& cell : rows[r]) out_ += std::string("<") + tag + ">" + escaped(cell) + "</" + tag + ">";
      out_ += "</tr>\n";
    }
    out_ += "</table>\n";
  }
  void code(const std::string& text) override { out_ += "<pre>" + escaped(text) + "</pre>\n"; }
  std::string done() override { return out_ + "</html>\n"; }

 private:
  static std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : text) {
      if (c == '&')
        safe += "&amp;";
      else if (c == '<')
        safe += "&lt;";
      else if (c == '>')
        safe += "&gt;";
      else if (c == '"')
        safe += "&quot;";
      else
        safe += c;
    }
    return safe;
  }
  std::string out_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Who wrote the answers, with the count of each.
std::string authors_of(const std::vector<Json>& records) {
  std::map<std::string, int> counts;
  for (const Json& record : records)
    if (record["kind"] == "answer" && text_of(record, "error").empty()) ++counts[text_of(record, "author")];
  std::string text;
  for (const auto& [author, count] : counts)
    text += (text.empty() ? "" : ", ") + (author.empty() ? "not said" : author) + " (" + std::to_string(count) + ")";
  return text;
}

void add_rounds(const std::vector<Json>& records, Page& page) {
  std::vector<std::vector<std::string>> rows = {{"candidate", "verdict", "x of start", "noise", "reason"}};
  std::size_t failed = 0;
  for (const Json& record : records) {
    if (record["kind"] == "answer" && !(text_of(record, "error") + text_of(record, "refused")).empty()) ++failed;
    if (record["kind"] != "assessment") continue;
    const Assessment made = assessment_of(record);
    const bool is_timed = !made.timing.shapes.empty();
    const int number = number_of(record, "candidate");
    rows.push_back({number == 0 ? "start" : std::to_string(number), word_of(made.finding.verdict),
                    is_timed ? fixed(made.decision.of_start, 3) : "",
                    is_timed ? fixed(made.decision.noise * 100, 1) + " %" : "", made.finding.reason.substr(0, 200)});
  }
  page.section("Candidates");
  if (const std::string authors = authors_of(records); !authors.empty())
    page.paragraph("Answers were written by: " + authors + ".");
  if (failed > 0) page.paragraph(std::to_string(failed) + " requests had no usable answer.");
  page.table(rows);
}

void add_best_shapes(const Assessment& best, const Baselines& baselines, Page& page) {
  std::vector<std::vector<std::string>> rows = {{"shape", "time, us", "quartiles", "start, us", "ceiling, us",
                                                 "% of the measured ceiling", "x of start", "noise"}};
  std::set<std::string> names;
  for (const auto& [shape, others] : baselines)
    for (const auto& [name, seconds] : others) names.insert(name);
  for (const std::string& name : names) rows[0].push_back("x of " + name);
  for (const ShapeTimes& times : best.timing.shapes) {
    const Spread spread = spread_of(times.candidate);
    const double start = spread_of(times.start).median;
    rows.push_back({times.shape, fixed(spread.median * 1e6, 2),
                    fixed(spread.low * 1e6, 2) + " to " + fixed(spread.high * 1e6, 2), fixed(start * 1e6, 2),
                    fixed(times.floor * 1e6, 2), fixed(100 * times.floor / spread.median, 1),
                    fixed(start / spread.median, 3), fixed(noise_of(times) * 100, 1) + " %"});
    const auto others = baselines.find(times.shape);
    for (const std::string& name : names) {
      const bool is_there = others != baselines.end() && others->second.contains(name);
      rows.back().push_back(is_there ? fixed(others->second.at(name) / spread.median, 3) : "");
    }
  }
  page.section("The best kernel, shape by shape");
  if (!best.device.empty()) page.paragraph("Measured on: " + best.device + ".");
  if (!best.tried.empty())
    page.paragraph("Tried up to " + text_of(best.tried) + "; nothing is known beyond. Sizes were chosen by rule " +
                   std::to_string(best.size_rule) +
                   (best.size_rule == 1 ? ", at random." : ", with every remainder by 256."));
  page.table(rows);
}

/// What a per cent of the measured bound has cost, if an endpoint counted tokens.
void add_cost(const std::vector<Json>& records, const Assessment& best, Page& page) {
  double tokens = 0;
  for (const Json& record : records)
    if (record["kind"] == "answer") tokens += number_of(record, "tokens_asked") + number_of(record, "tokens_answered");
  if (tokens == 0) return;
  Timing start = best.timing;
  for (ShapeTimes& times : start.shapes) times.candidate = times.start;
  const double from = 100 * share_of_floor(start), to = 100 * share_of_floor(best.timing);
  page.paragraph("From " + fixed(from, 1) + " to " + fixed(to, 1) + " % of the measured bound with " +
                 fixed(tokens, 0) + " tokens: " + fixed(tokens / (to - from), 0) + " a per cent.");
}

std::string report_on(const std::filesystem::path& run, const Baselines& baselines, Page& page) {
  const std::vector<Json> records = load_ledger(run);
  const Json& first = records.front();
  if (first["kind"] != "run") fail(ErrorKind::kBadData, run.string() + ": the ledger does not begin with a run");
  const Json options = first.value("options", Json::object());
  page.title("Kernel run: " + text_of(first, "case"));
  page.paragraph("Method " + text_of(options, "method") + ", generator " + text_of(first, "generator") + ", back end " +
                 text_of(first, "backend") + ".");
  std::vector<std::vector<std::string>> facts = {{"what", "value"}};
  const Json environment = first.value("environment", Json::object());
  for (const auto& [key, value] : environment.items())
    facts.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
  page.table(facts);
  add_rounds(records, page);

  const Json* best = nullptr;
  for (const Json& record : records)
    if (record["kind"] == "best") best = &record;
  if (best == nullptr) {
    page.paragraph("No candidate was faster than the start kernel.");
  } else {
    for (const Json& record : records)
      if (record["kind"] == "assessment" && number_of(record, "candidate") == number_of(*best, "candidate"))
        add_best_shapes(assessment_of(record), baselines, page), add_cost(records, assessment_of(record), page);
    page.section("Start and best");
    page.code(line_difference(read_object(run, text_of(first, "start")), read_object(run, text_of(*best, "source"))));
  }
  page.paragraph(records.back()["kind"] == "end" ? "The run ended: " + text_of(records.back(), "reason")
                                                 : "The run has no end yet.");
  return page.done();
}

}  // namespace

std::string line_difference(const std::string& before, const std::string& after) {
  const std::vector<std::string> a = lines_of(before), b = lines_of(after);
  if (a.size() > kMaxDiffLines || b.size() > kMaxDiffLines) return after;
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1));  // of the tails
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      text += "  " + a[i++] + "\n", ++j;
    else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1]))
      text += "- " + a[i++] + "\n";
    else
      text += "+ " + b[j++] + "\n";
  }
  return text;
}

Baselines read_baselines(const std::filesystem::path& file, const std::string& name) {
  const Json json = Json::parse(read_text_file(file), nullptr, false);
  const auto refuse = [&] { fail(ErrorKind::kBadData, file.string() + ": no file of scripts/workbench_baselines.py"); };
  if (!json.is_object() || !json.contains("cases") || !json["cases"].is_object()) refuse();
  if (!json["cases"].contains(name)) return {};
  try {
    return json["cases"][name].get<Baselines>();
  } catch (const Json::exception&) {
    refuse();
  }
  return {};
}

std::string markdown_report(const std::filesystem::path& run, const Baselines& baselines) {
  MarkdownPage page;
  return report_on(run, baselines, page);
}

std::string html_report(const std::filesystem::path& run, const Baselines& baselines) {
  HtmlPage page;
  return report_on(run, baselines, page);
}

}  // namespace salient::workbench
