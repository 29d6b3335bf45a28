// engine/report/html_page.cpp - see html_page.h. Scripts show data through textContent; text in the HTML itself is
// escaped, and "<" in the JSON is \u003c, so that no text of a run can end its script element.
#include "engine/report/html_page.h"

#include "engine/report/page/page_assets.h"

namespace salient {
namespace {

/// Text of a <script> element, whatever strings are in it.
std::string script_safe(const Json& data) {
  std::string text;
  for (const char c : data.dump(-1, ' ', false, Json::error_handler_t::replace))
    c == '<' ? text.append("\\u003c") : text.append(1, c);
  return text;
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&#39;"; break;
      default: escaped += c;
    }
  return escaped;
}

std::string to_html(const HtmlPage& page) {
  std::string text =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n";
  if (page.is_reloaded) text += "<meta http-equiv=\"refresh\" content=\"20\">\n";
  text.append("<link rel=\"icon\" href=\"data:,\">\n<title>").append(escape_html(page.title));
  text.append("</title>\n<style>\n").append(kPageStyle).append("</style>\n</head>\n<body>\n<header>\n");
  text.append(page.header).append("</header>\n<main><noscript>The charts need JavaScript.</noscript></main>\n");
  text.append("<script type=\"application/json\" id=\"data\">").append(script_safe(page.data));
  text.append("</script>\n<script>\n").append(kPageScript).append(page.sections);
  return text.append("</script>\n</body>\n</html>\n");
}

}  // namespace salient
