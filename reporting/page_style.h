#pragma once
// The style sheet of report pages.

namespace deft::reporting {

extern const char* const kPageStyle;

}  // namespace deft::reporting
