// engine/report/html_page.h - one HTML file with style, script and data in it, which loads nothing from a network.
#pragma once

#include <string>
#include <string_view>

#include "engine/report/run_files.h"

namespace salient {

struct HtmlPage {
  std::string title{};      ///< plain text
  std::string header{};     ///< markup of the page's head, whose texts are escaped
  Json data{};              ///< for the script: JSON.parse of the element #data
  const char* sections{};   ///< script that fills <main>, with the charts of page/charts.js
  bool is_reloaded{false};  ///< every 20 seconds
};

std::string to_html(const HtmlPage& page);

/// The text with & < > " ' as entities.
std::string escape_html(std::string_view text);

}  // namespace salient
