// engine/report/page/page_assets.h - the style and the scripts of the pages, as text in the program.
#pragma once

namespace salient {

extern const char* const kPageStyle;
extern const char* const kPageScript;          // charts.js and parts.js, which every page has
extern const char* const kRunSections;         // report.js
extern const char* const kComparisonSections;  // comparison.js

}  // namespace salient
