// workbench/ledger/report.cpp - see report.h.
#include "workbench/ledger/report.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/files/file_io.h"
#include "core/number_text.h"
#include "workbench/ledger/records.h"
#include "workbench/ledger/report_pages.h"
#include "workbench/referee/bottlenecks.h"

namespace salient::workbench {
namespace {

constexpr std::size_t kMaxDiffLines = 2000;

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

/// Attempts of a record: the start kernel, then candidates, each below the kernel that it was made of. Older records
/// say which one it had to beat, which is the same but for searches with several parents.
std::vector<Attempt> attempts_of(const std::vector<Json>& records) {
  std::vector<Attempt> attempts = {{.name = "start", .verdict = "the start kernel", .of_start = 1, .is_correct = true}};
  std::map<std::string, std::size_t> by_source = {{text_of(records.front(), "start"), 0}};
  std::size_t best = 0;
  for (const Json& record : records) {
    if (record["kind"] != "assessment") continue;
    const Assessment made = assessment_of(record);
    const bool is_timed = !made.timing.shapes.empty();
    const double share = is_timed ? 100 * share_of_floor(made.timing) : 0;
    if (number_of(record, "candidate") == 0) {
      attempts[0].share = share;
      continue;
    }
    const std::string parent = record.contains("parent") ? text_of(record, "parent") : text_of(record, "against");
    attempts.push_back({.name = std::to_string(number_of(record, "candidate")),
                        .parent = by_source.contains(parent) ? by_source.at(parent) : 0,
                        .verdict = word_of(made.finding.verdict),
                        .reason = made.finding.reason,
                        .of_start = is_timed ? made.decision.of_start : 0,
                        .share = share,
                        .is_correct = is_correct(made.finding.verdict)});
    by_source.emplace(text_of(record, "source"), attempts.size() - 1);
    if (made.finding.verdict == Verdict::kAccepted && attempts.back().of_start > attempts[best].of_start)
      best = attempts.size() - 1;
  }
  attempts[best].is_best = best > 0;
  return attempts;
}

void add_summary(const std::vector<Json>& records, const std::vector<Attempt>& attempts, Page& page) {
  const auto best = std::find_if(attempts.begin(), attempts.end(), [](const Attempt& one) { return one.is_best; });
  const Attempt& shown = best == attempts.end() ? attempts.front() : *best;
  std::vector<Tile> tiles = {{fixed(shown.of_start, 2) + "x", "of the start kernel"}};
  if (shown.share > 0) tiles.push_back({fixed(shown.share, 0) + " %", "of the measured bound"});
  tiles.push_back({std::to_string(attempts.size() - 1), "candidates judged"});
  const auto correct =
      std::count_if(attempts.begin() + 1, attempts.end(), [](const Attempt& one) { return one.is_correct; });
  tiles.push_back({std::to_string(correct), "of them correct"});
  tiles.push_back({text_of(records.front(), "backend"), "back end"});
  page.tiles(tiles);
}

void add_rounds(const std::vector<Json>& records, const std::vector<Attempt>& attempts, Page& page) {
  std::vector<std::vector<std::string>> rows = {
      {"candidate", "verdict", "x of start", "noise", "held back by", "reason"}};
  std::size_t failed = 0;
  for (const Json& record : records) {
    if (record["kind"] == "answer" && !(text_of(record, "error") + text_of(record, "refused")).empty()) ++failed;
    if (record["kind"] != "assessment") continue;
    const Assessment made = assessment_of(record);
    const bool is_timed = !made.timing.shapes.empty();
    const int number = number_of(record, "candidate");
    rows.push_back({number == 0 ? "start" : std::to_string(number), word_of(made.finding.verdict),
                    is_timed ? fixed(made.decision.of_start, 3) : "",
                    is_timed ? fixed(made.decision.noise * 100, 1) + " %" : "", names_of(bottlenecks_of(made)),
                    made.finding.reason.substr(0, 200)});
  }
  page.section("Candidates");
  if (const std::string authors = authors_of(records); !authors.empty())
    page.paragraph("Answers were written by: " + authors + ".");
  if (failed > 0) page.paragraph(std::to_string(failed) + " requests had no usable answer.");
  page.course(attempts);
  page.table(rows);
  page.section("Which was made of which");
  page.tree(attempts);
}

void add_best_shapes(const Assessment& best, const Baselines& baselines, Page& page) {
  std::vector<std::vector<std::string>> rows = {{"shape", "time, us", "quartiles", "start, us", "ceiling, us",
                                                 "% of the measured ceiling", "x of start", "noise"}};
  std::set<std::string> names;
  for (const auto& [shape, others] : baselines)
    for (const auto& [name, seconds] : others) names.insert(name);
  const bool has_joules = std::any_of(best.timing.shapes.begin(), best.timing.shapes.end(),
                                      [](const ShapeTimes& times) { return times.joules > 0; });
  if (has_joules) rows[0].insert(rows[0].end(), {"mJ", "start, mJ"});
  for (const std::string& name : names) rows[0].push_back("x of " + name);
  for (const ShapeTimes& times : best.timing.shapes) {
    const Spread spread = spread_of(times.candidate);
    const double start = spread_of(times.start).median;
    rows.push_back({times.shape, fixed(spread.median * 1e6, 2),
                    fixed(spread.low * 1e6, 2) + " to " + fixed(spread.high * 1e6, 2), fixed(start * 1e6, 2),
                    fixed(times.floor * 1e6, 2), fixed(100 * times.floor / spread.median, 1),
                    fixed(start / spread.median, 3), fixed(noise_of(times) * 100, 1) + " %"});
    if (has_joules)
      rows.back().insert(rows.back().end(), {fixed(times.joules * 1e3, 2), fixed(times.start_joules * 1e3, 2)});
    const auto others = baselines.find(times.shape);
    for (const std::string& name : names) {
      const bool is_there = others != baselines.end() && others->second.contains(name);
      rows.back().push_back(is_there ? fixed(others->second.at(name) / spread.median, 3) : "");
    }
  }
  page.section("The best kernel, shape by shape");
  for (const Bottleneck& one : bottlenecks_of(best)) page.paragraph(one.name + ": " + one.evidence + ".");
  if (!best.device.empty()) page.paragraph("Measured on: " + best.device + ".");
  if (!best.tried.empty())
    page.paragraph("Tried up to " + text_of(best.tried) + "; nothing is known beyond. Sizes were chosen by rule " +
                   std::to_string(best.size_rule) +
                   (best.size_rule == 1 ? ", at random." : ", with every remainder by 256."));
  std::vector<std::pair<std::string, double>> shares;
  for (const ShapeTimes& times : best.timing.shapes)
    shares.emplace_back(times.shape, 100 * times.floor / spread_of(times.candidate).median);
  page.shares(shares);
  page.table(rows);
}

/// A figure of an object in a record; "" where there is none.
std::string figure_of(const Json& record, const char* object, const char* key, int digits) {
  const Json figures = record.value(object, Json::object());
  return figures.contains(key) && figures[key].is_number() ? fixed(figures[key].get<double>(), digits) : "";
}

/// What each accepted candidate has cost, and how much of it for a per cent of the measured bound. Records before
/// these were kept have nothing of it.
void add_cost(const std::vector<Json>& records, Page& page) {
  std::vector<std::vector<std::string>> rows = {{"candidate", "% of the bound before", "and with it",
                                                 "seconds of the run", "tokens", "money", "seconds a per cent",
                                                 "tokens a per cent", "money a per cent"}};
  for (const Json& record : records) {
    if (record["kind"] != "best" || !record.contains("spent")) continue;
    rows.push_back({std::to_string(number_of(record, "candidate")), figure_of(record, "bound", "from", 1),
                    figure_of(record, "bound", "to", 1)});
    for (const char* object : {"spent", "spent_a_per_cent"}) {
      rows.back().push_back(figure_of(record, object, "seconds", 1));
      rows.back().push_back(figure_of(record, object, "tokens", 0));
      rows.back().push_back(figure_of(record, object, "cost", 4));
    }
  }
  if (rows.size() == 1) return;
  page.section("What it has cost");
  page.paragraph(
      "Seconds and tokens of the whole run up to each accepted candidate; those of a per cent are counted from the "
      "accepted one before. Seconds are of answers and of the referee, tokens as endpoints count them.");
  page.table(rows);
}

std::string report_on(const std::filesystem::path& run, const Baselines& baselines, Page& page) {
  const std::vector<Json> records = load_ledger(run);
  const Json& first = records.front();
  if (first["kind"] != "run") fail(ErrorKind::kBadData, run.string() + ": the ledger does not begin with a run");
  const Json options = first.value("options", Json::object());
  page.title("Kernel run: " + text_of(first, "case"));
  page.paragraph("Method " + text_of(options, "method") + ", generator " + text_of(first, "generator") + ", back end " +
                 text_of(first, "backend") + ".");
  const std::vector<Attempt> attempts = attempts_of(records);
  add_summary(records, attempts, page);
  std::vector<std::vector<std::string>> facts = {{"what", "value"}};
  const Json environment = first.value("environment", Json::object());
  for (const auto& [key, value] : environment.items())
    facts.push_back({key, value.is_string() ? value.get<std::string>() : value.dump()});
  page.table(facts);
  add_rounds(records, attempts, page);

  const Json* best = nullptr;
  for (const Json& record : records)
    if (record["kind"] == "best") best = &record;
  if (best == nullptr) {
    page.paragraph("No candidate was faster than the start kernel.");
  } else {
    for (const Json& record : records)
      if (record["kind"] == "assessment" && number_of(record, "candidate") == number_of(*best, "candidate"))
        add_best_shapes(assessment_of(record), baselines, page);
    add_cost(records, page);
    page.section("Start and best");
    page.difference(
        line_difference(read_object(run, text_of(first, "start")), read_object(run, text_of(*best, "source"))));
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
  return report_on(run, baselines, *make_markdown_page());
}

std::string html_report(const std::filesystem::path& run, const Baselines& baselines) {
  return report_on(run, baselines, *make_html_page());
}

}  // namespace salient::workbench
