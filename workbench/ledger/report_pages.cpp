// workbench/ledger/report_pages.cpp - Markdown, and what both formats share; see report_pages.h.
#include "workbench/ledger/report_pages.h"

#include <algorithm>

#include "core/number_text.h"

namespace salient::workbench {

namespace {

/// Each behind its parent and before that one's next child.
std::vector<std::size_t> in_depth_order(const std::vector<Attempt>& attempts) {
  std::vector<std::vector<std::size_t>> children(attempts.size());
  for (std::size_t i = 1; i < attempts.size(); ++i) children[attempts[i].parent].push_back(i);
  std::vector<std::size_t> order, open;
  if (!attempts.empty()) open.push_back(0);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    order.push_back(at);
    open.insert(open.end(), children[at].rbegin(), children[at].rend());
  }
  return order;
}

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
  void tiles(const std::vector<Tile>& tiles) override {
    for (const Tile& tile : tiles) out_ += "- " + without_tags(tile.what) + ": " + without_tags(tile.figure) + "\n";
    out_ += "\n";
  }
  void shares(const std::vector<std::pair<std::string, double>>&) override {}  // the table has them
  void course(const std::vector<Attempt>&) override {}                         // likewise
  void tree(const std::vector<Attempt>& attempts) override {
    std::vector<std::size_t> depth(attempts.size(), 0);
    for (std::size_t i = 1; i < attempts.size(); ++i) depth[i] = depth[attempts[i].parent] + 1;
    for (const std::size_t i : in_depth_order(attempts))
      out_ += std::string(2 * depth[i], ' ') + "- " + attempts[i].name + ": " + attempts[i].verdict +
              (attempts[i].of_start > 0 ? ", " + fixed(attempts[i].of_start, 3) + "x of start" : "") +
              (attempts[i].is_best ? ", the best" : "") + "\n";
    out_ += "\n";
  }
  void difference(const std::string& text) override {
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

}  // namespace

std::unique_ptr<Page> make_markdown_page() { return std::make_unique<MarkdownPage>(); }

}  // namespace salient::workbench
