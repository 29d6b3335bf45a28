// workbench/ledger/report_pages.h - the parts of a report's page, so that Markdown and HTML come from one walk over a
// ledger.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace salient::workbench {

/// A candidate as a report shows it. The first one is the start kernel; parents come before their children.
struct Attempt {
  std::string name{};      ///< "start", "1", "2"
  std::size_t parent = 0;  ///< index in the list
  std::string verdict{}, reason{};
  double of_start = 0;  ///< 0: not timed
  double share = 0;     ///< of the measured bound, per cent; 0: not timed
  bool is_correct = false, is_best = false;
};

/// A figure with a word below it.
struct Tile {
  std::string figure{}, what{};
};

class Page {
 public:
  virtual ~Page() = default;
  virtual void title(const std::string& text) = 0;
  virtual void tiles(const std::vector<Tile>& tiles) = 0;
  virtual void section(const std::string& text) = 0;
  virtual void paragraph(const std::string& text) = 0;
  virtual void table(const std::vector<std::vector<std::string>>& rows) = 0;
  /// A share of the bound for each of some words, as bars.
  virtual void shares(const std::vector<std::pair<std::string, double>>& per_cent) = 0;
  /// Attempts one after the other, by their gain over the start kernel, with the best so far.
  virtual void course(const std::vector<Attempt>& attempts) = 0;
  virtual void tree(const std::vector<Attempt>& attempts) = 0;
  /// Lines that begin with "-", "+" or a blank.
  virtual void difference(const std::string& text) = 0;
  virtual std::string done() = 0;
};

/// Texts are shown as they are: nothing of them becomes markup.
std::unique_ptr<Page> make_markdown_page();
/// One page without any outside file and without script.
std::unique_ptr<Page> make_html_page();

}  // namespace salient::workbench
