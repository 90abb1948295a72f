#include "sweeps/cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "reporting/text.h"
#include "sweeps/driver/progress.h"

namespace deft::cli {

namespace {

constexpr int kBarWidth = 24;
constexpr long long kRepaintMs = 100;

long long now_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

ProgressLine::ProgressLine() : width_(sweeps::terminal_width(stderr)) {}

void ProgressLine::show(const std::string& what, double fraction) {
    const long long now = now_ms();
    if (width_ == 0 || (last_ms_ >= 0 && now - last_ms_ < kRepaintMs)) return;
    last_ms_ = now;
    std::string line = reporting::visible(what);
    if (fraction >= 0) {
        const int full = static_cast<int>(std::min(1.0, fraction) * kBarWidth);
        line = fmt::format("[{:#>{}}{:.>{}}] {:3.0f} %  {}", "", full, "", kBarWidth - full,
                           std::min(1.0, fraction) * 100, line);
    }
    const std::string cut = reporting::cut_to_width(line, width_ - 1);
    std::fprintf(stderr, "\r%s\x1b[K", cut.c_str());
    std::fflush(stderr);
    painted_ = true;
}

void ProgressLine::clear() {
    if (painted_) std::fputs("\r\x1b[K", stderr);
    painted_ = false;
}

}  // namespace deft::cli
