#include "sweeps/driver/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/stopwatch.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

constexpr std::int64_t kRepaintMs = 100;
constexpr std::int64_t kSummaryMs = 30'000;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool has_unicode() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const std::string value = variable(name);
        if (value.empty()) continue;
        return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos ||
               value.find("UTF8") != std::string::npos || value.find("utf-8") != std::string::npos;
    }
    return false;
}

bool can_repaint(std::FILE* stream) {
    const std::string terminal = variable("TERM");
    return ::isatty(::fileno(stream)) == 1 && !terminal.empty() && terminal != "dumb" && variable("CI").empty();
}

}  // namespace

ProgressMode parse_progress_mode(const std::string& text) {
    if (text == "auto") return ProgressMode::automatic;
    if (text == "live") return ProgressMode::live;
    if (text == "plain") return ProgressMode::plain;
    if (text == "none") return ProgressMode::none;
    throw Error(ErrorKind::usage, "--progress " + text + ": no such way", "choose auto, live, plain or none");
}

int terminal_width(std::FILE* stream) {
    const int number = ::fileno(stream);
    if (::isatty(number) != 1) return 0;
    struct winsize size {};
    if (::ioctl(number, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

Progress::Progress(ProgressMode mode, std::FILE* out) : mode_(mode), out_(out) {
    if (mode_ == ProgressMode::automatic) mode_ = can_repaint(out) ? ProgressMode::live : ProgressMode::plain;
}

Progress::~Progress() {
    finish();
}

void Progress::write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
}

// Where the terminal has become narrower, what was one line may now fill several.
std::string Progress::erasing(int width) const {
    int rows = 0;
    for (const std::string& line : painted_) {
        const int columns = reporting::display_width(line);
        rows += width > 0 ? std::max(1, (columns + width - 1) / width) : 1;
    }
    return rows == 0 ? "" : "\x1b[" + std::to_string(rows) + "A\r\x1b[J";
}

void Progress::event(const std::string& text) {
    if (mode_ != ProgressMode::none) warning(text);
}

void Progress::warning(const std::string& text) {
    std::string block;
    for (const std::string& line : painted_) block += line + "\n";
    write((painted_.empty() ? "" : erasing(terminal_width(out_))) + text + "\n" + block);
}

void Progress::update(const ProgressView& view) {
    const std::int64_t now = now_ms();
    if (mode_ == ProgressMode::live) {
        if (last_ms_ >= 0 && now - last_ms_ < kRepaintMs) return;
        last_ms_ = now;
        LiveStyle style;
        const int width = terminal_width(out_);
        style.width = width > 0 ? width : 80;
        style.unicode = has_unicode();
        style.color = variable("NO_COLOR").empty();
        std::string text = painted_.empty() ? "" : erasing(width);
        painted_ = render_live(view, style);
        for (const std::string& line : painted_) text += line + "\n";
        write(text);
    } else if (mode_ == ProgressMode::plain) {
        if (last_ms_ < 0) last_ms_ = now;
        if (now - last_ms_ < kSummaryMs) return;
        last_ms_ = now;
        write(render_summary(view) + "\n");
    }
}

void Progress::finish() {
    if (painted_.empty()) return;
    write(erasing(terminal_width(out_)));
    painted_.clear();
}

}  // namespace deft::sweeps
