#pragma once
// The script of pages: tables that sort and filter, charts with other axes. A page shows everything without it.

#include <string>

#include "reporting/ordered_json.h"

namespace deft::reporting {

// The script as an element, for the end of a page's body.
std::string page_script();

// The sources that a page may run: that script alone, by its hash, as a part of a Content-Security-Policy.
std::string script_policy();

// Data for the script, as an element of that class, which no browser executes.
std::string data_block_html(const std::string& name, const OrderedJson& data);

}  // namespace deft::reporting
