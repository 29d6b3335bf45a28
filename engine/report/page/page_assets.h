// engine/report/page/page_assets.h - report.css, and charts.js with report.js behind it, as text in the program.
#pragma once

namespace salient {

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace salient
