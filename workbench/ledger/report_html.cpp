// workbench/ledger/report_html.cpp - a report as a page for a browser; see report_pages.h.
//
// Charts are SVG with a text for each mark, so that they say the same without a pointer and without colours.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/number_text.h"
#include "workbench/ledger/report_pages.h"

namespace salient::workbench {
namespace {

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ground:#fff;--card:#f6f7f9;--text:#1c2128;--dim:#57606a;--line:#d0d7de;--good:#116329;
--best:#0550ae;--bad:#a40e26;--added:#dafbe1;--removed:#ffebe9}
@media(prefers-color-scheme:dark){:root{--ground:#0d1117;--card:#161b22;--text:#e6edf3;--dim:#9198a1;--line:#3d444d;
--good:#56d364;--best:#79c0ff;--bad:#ff7b72;--added:#12261e;--removed:#2d1517}}
body{font:15px/1.5 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em;background:var(--ground);
color:var(--text)}
h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}
.tiles{display:flex;flex-wrap:wrap;gap:.8em}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:.5em;padding:.6em 1em;min-width:8em}
.tiles strong{display:block;font-size:1.5em}.tiles span{color:var(--dim)}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{border:1px solid var(--line);padding:.25em .7em;text-align:left;vertical-align:top}th{background:var(--card)}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5em;padding:1em;overflow:auto;line-height:1.35}
pre span{display:block}.added{background:var(--added)}.removed{background:var(--removed)}
figure{margin:1em 0;background:var(--card);border:1px solid var(--line);border-radius:.5em;padding:1em;overflow-x:auto}
figcaption{color:var(--dim)}svg text{fill:var(--text);font:12px system-ui,sans-serif}svg .dim{fill:var(--dim)}
.good{color:var(--good);fill:var(--good)}.best{color:var(--best);fill:var(--best)}.bad{color:var(--bad);fill:var(--bad)}
.grid{stroke:var(--line)}.link{stroke:var(--dim);fill:none}.step{stroke:var(--best);fill:none;stroke-width:2}
.bar{fill:var(--best)}.rest{fill:var(--line)}
.tree ul{margin:0;padding-left:1.4em;border-left:1px solid var(--line);list-style:none}.tree>ul{border:0;padding:0}
.tree li{margin:.25em 0}.tree small{color:var(--dim)}
)";

std::string escaped(const std::string& text) {
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

const char* class_of(const Attempt& attempt) { return attempt.is_best ? "best" : attempt.is_correct ? "good" : "bad"; }

std::string said(const Attempt& attempt) {
  std::string text = attempt.name + ": " + attempt.verdict;
  if (attempt.of_start > 0) text += ", " + fixed(attempt.of_start, 3) + "x of start";
  if (attempt.share > 0) text += ", " + fixed(attempt.share, 1) + " % of the measured bound";
  return text + (attempt.is_best ? ", the best" : "");
}

std::string number(double value) { return fixed(value, 1); }

/// One chart: attempts from left to right, gains from the bottom to the top on a scale of logarithms.
class Course {
 public:
  explicit Course(const std::vector<Attempt>& attempts) : attempts_(attempts) {
    for (const Attempt& attempt : attempts) {
      if (attempt.of_start <= 0) continue;
      least_ = std::min(least_, attempt.of_start);
      most_ = std::max(most_, attempt.of_start);
    }
    least_ /= 1.1;
    most_ *= 1.1;
  }

  std::string svg() {
    std::string text = "<svg role=\"img\" viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) + "\" width=\"" +
                       number(kWidth) + "\" height=\"" + number(kHeight) +
                       "\"><title>Gain over the start kernel, attempt by attempt</title>\n";
    for (const double mark : marks())
      text += "<line class=\"grid\" x1=\"" + number(kLeft) + "\" x2=\"" + number(kWidth - kRight) + "\" y1=\"" +
              number(y(mark)) + "\" y2=\"" + number(y(mark)) + "\"/><text class=\"dim\" text-anchor=\"end\" x=\"" +
              number(kLeft - 8) + "\" y=\"" + number(y(mark) + 4) + "\">" + fixed(mark, mark < 10 ? 1 : 0) +
              "x</text>\n";
    text += "<polyline class=\"step\" points=\"" + best_so_far() + "\"/>\n";
    for (std::size_t i = 0; i < attempts_.size(); ++i) text += mark_of(i);
    return text + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 900, kHeight = 280, kLeft = 60, kRight = 20, kTop = 15, kBottom = 45;

  double x(std::size_t i) const {
    const double steps = std::max<double>(1, static_cast<double>(attempts_.size()) - 1);
    return kLeft + 15 + (kWidth - kLeft - kRight - 30) * static_cast<double>(i) / steps;
  }
  double y(double of_start) const {
    return kTop + (kHeight - kTop - kBottom) * (1 - std::log(of_start / least_) / std::log(most_ / least_));
  }
  /// 1, 2, 5, 10, ... in the range, or its ends.
  std::vector<double> marks() const {
    std::vector<double> found;
    for (double ten = 0.01; ten < most_; ten *= 10)
      for (const double step : {1.0, 2.0, 5.0})
        if (step * ten >= least_ && step * ten <= most_) found.push_back(step * ten);
    if (found.size() < 2) found = {least_ * 1.1, most_ / 1.1};
    return found;
  }
  std::string best_so_far() const {
    double best = 1;
    std::string points;
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
      if (i > 0) points += number(x(i)) + "," + number(y(best)) + " ";
      if (attempts_[i].verdict == "ACCEPTED") best = std::max(best, attempts_[i].of_start);
      points += number(x(i)) + "," + number(y(best)) + " ";
    }
    return points;
  }
  std::string mark_of(std::size_t i) const {
    const Attempt& attempt = attempts_[i];
    const std::string title = "<title>" + escaped(said(attempt)) + "</title>", at = number(x(i));
    std::string text = attempt.of_start > 0
                           ? std::string("<circle class=\"") + class_of(attempt) + "\" r=\"5\" cx=\"" + at +
                                 "\" cy=\"" + number(y(attempt.of_start)) + "\">" + title + "</circle>"
                           : "<text class=\"bad\" text-anchor=\"middle\" x=\"" + at + "\" y=\"" +
                                 number(kHeight - kBottom + 14) + "\">\u00d7" + title + "</text>";
    const std::size_t every = attempts_.size() / 25 + 1;
    if (i % every == 0)
      text += "<text class=\"dim\" text-anchor=\"middle\" x=\"" + at + "\" y=\"" + number(kHeight - 8) + "\">" +
              escaped(attempt.name) + "</text>";
    return text + "\n";
  }

  const std::vector<Attempt>& attempts_;
  double least_ = 1, most_ = 1;
};

class HtmlPage final : public Page {
 public:
  void title(const std::string& text) override {
    out_ =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>" +
        escaped(text) + "</title><style>" + kStyle + "</style><h1>" + escaped(text) + "</h1>\n";
  }
  void tiles(const std::vector<Tile>& tiles) override {
    out_ += "<div class=\"tiles\">";
    for (const Tile& tile : tiles)
      out_ += "<div><strong>" + escaped(tile.figure) + "</strong><span>" + escaped(tile.what) + "</span></div>";
    out_ += "</div>\n";
  }
  void section(const std::string& text) override { out_ += "<h2>" + escaped(text) + "</h2>\n"; }
  void paragraph(const std::string& text) override { out_ += "<p>" + escaped(text) + "</p>\n"; }
  void table(const std::vector<std::vector<std::string>>& rows) override {
    out_ += "<div class=\"wide\"><table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const char* const tag = r == 0 ? "th" : "td";
      out_ += "<tr>";
      for (const std::string& cell : rows[r]) out_ += std::string("<") + tag + ">" + escaped(cell) + "</" + tag + ">";
      out_ += "</tr>\n";
    }
    out_ += "</table></div>\n";
  }
  void shares(const std::vector<std::pair<std::string, double>>& per_cent) override {
    constexpr double kText = 330, kBar = 480, kRow = 24;
    const double height = kRow * static_cast<double>(per_cent.size()) + 8;
    out_ += "<figure><svg role=\"img\" width=\"900\" height=\"" + number(height) + "\" viewBox=\"0 0 900 " +
            number(height) + "\"><title>Share of the measured bound</title>\n";
    for (std::size_t i = 0; i < per_cent.size(); ++i) {
      const double top = kRow * static_cast<double>(i) + 6, share = std::clamp(per_cent[i].second, 0.0, 100.0);
      const std::string y = number(top), middle = number(top + 13);
      out_ += "<text x=\"0\" y=\"" + middle + "\">" + escaped(per_cent[i].first.substr(0, 50)) +
              "</text><rect class=\"rest\" x=\"" + number(kText) + "\" y=\"" + y + "\" width=\"" + number(kBar) +
              "\" height=\"16\"/><rect class=\"bar\" x=\"" + number(kText) + "\" y=\"" + y + "\" width=\"" +
              number(kBar * share / 100) + "\" height=\"16\"/><text x=\"" + number(kText + kBar + 10) + "\" y=\"" +
              middle + "\">" + fixed(per_cent[i].second, 1) + " %</text>\n";
    }
    out_ +=
        "</svg><figcaption>Share of the measured bound, shape by shape; 100 % is what memory and arithmetic of this "
        "machine "
        "allow.</figcaption></figure>\n";
  }
  void course(const std::vector<Attempt>& attempts) override {
    if (attempts.size() < 2) return;
    out_ +=
        "<figure>" + Course(attempts).svg() +
        "<figcaption>Gain over the start kernel by attempt; the line is the best so far. \u00d7: refused before it was "
        "timed.</figcaption></figure>\n";
  }
  void tree(const std::vector<Attempt>& attempts) override {
    std::vector<std::vector<std::size_t>> children(attempts.size());
    for (std::size_t i = 1; i < attempts.size(); ++i) children[attempts[i].parent].push_back(i);
    out_ += "<div class=\"tree\"><ul>";
    if (!attempts.empty()) branch(attempts, children, 0);
    out_ += "</ul></div>\n";
  }
  void difference(const std::string& text) override {
    out_ += "<pre>";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      out_ += std::string("<span") +
              (line.starts_with('+')   ? " class=\"added\""
               : line.starts_with('-') ? " class=\"removed\""
                                       : "") +
              ">" + (line.empty() ? " " : escaped(line)) + "</span>";
    out_ += "</pre>\n";
  }
  std::string done() override { return out_ + "</html>\n"; }

 private:
  void branch(const std::vector<Attempt>& attempts, const std::vector<std::vector<std::size_t>>& children,
              std::size_t i) {
    out_ += std::string("<li><b class=\"") + class_of(attempts[i]) + "\">" + escaped(said(attempts[i])) +
            "</b> <small>" + escaped(attempts[i].reason.substr(0, 200)) + "</small>";
    if (!children[i].empty()) out_ += "<ul>";
    for (const std::size_t child : children[i]) branch(attempts, children, child);
    out_ += children[i].empty() ? "</li>\n" : "</ul></li>\n";
  }

  std::string out_;
};

}  // namespace

std::unique_ptr<Page> make_html_page() { return std::make_unique<HtmlPage>(); }

}  // namespace salient::workbench
