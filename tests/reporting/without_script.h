#pragma once
// A page without its script and data, which are markup to nobody.

#include <string>

#include "reporting/views/render/script.h"
#include "tests/catch.h"

namespace deft::reporting {

// Checks that data blocks hold no markup.
inline std::string without_script(std::string page) {
    const std::string script = page_script();
    if (const std::size_t at = page.find(script); at != std::string::npos) page.erase(at, script.size());
    const std::string block = "<script type=\"application/json\" class=\"figure-data\">", end = "</script>";
    for (std::size_t at = 0; (at = page.find(block, at)) != std::string::npos;) {
        const std::size_t close = page.find(end, at);
        REQUIRE(close != std::string::npos);
        CHECK(page.substr(at + block.size(), close - at - block.size()).find('<') == std::string::npos);
        page.erase(at, close + end.size() - at);
    }
    return page;
}

}  // namespace deft::reporting
