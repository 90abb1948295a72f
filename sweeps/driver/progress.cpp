#include "sweeps/driver/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/color.h"
#include "base/error.h"
#include "reporting/fit_lines.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::sweeps {

namespace {

constexpr double kRepaintSeconds = 0.1, kSummarySeconds = 30;
constexpr std::size_t kSlotCells = 20, kLineCells = 24;  // of bars

// Whether so much time has passed since it last was so.
bool is_due(std::optional<Clock::time_point>& last, double seconds) {
    if (last && seconds_since(*last) < seconds) return false;
    last = Clock::now();
    return true;
}

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

// ---- what is shown ----

std::string bar(double fraction, std::size_t cells, bool unicode) {
    static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
    const auto eighths = static_cast<std::size_t>(fraction * static_cast<double>(cells) * 8);
    std::string text;
    std::size_t columns = eighths / 8;
    for (std::size_t i = 0; i < columns; ++i) text += unicode ? "█" : "#";
    if (unicode && eighths % 8 != 0) {
        text += kEighths[eighths % 8];
        ++columns;
    }
    for (; columns < cells; ++columns) text += unicode ? "·" : ".";
    return text;
}

std::string padded(const std::string& text, int width) {
    const int columns = reporting::display_width(text);
    return columns >= width ? reporting::cut_to_width(text, width)
                            : text + std::string(static_cast<std::size_t>(width - columns), ' ');
}

std::string counts(const ProgressView& view) {
    std::string text = fmt::format("{} done, {} running, ", view.done, view.running);
    if (view.queued > 0) text += fmt::format("{} queued, ", view.queued);
    if (view.failed > 0) text += fmt::format("{} failed, ", view.failed);
    return text + fmt::format("{} left", view.left);
}

std::string slot_line(const SlotView& slot, int label_width, const LiveStyle& style) {
    if (!slot.busy) return "  " + padded("-", label_width) + "  idle";
    const double fraction =
        slot.total_steps > 0 ? static_cast<double>(slot.step) / static_cast<double>(slot.total_steps) : 0;
    std::string line = "  " + padded(slot.label, label_width) + "  ";
    // On a narrow terminal the numbers matter more than the bar.
    if (style.width >= label_width + 72) line += bar(fraction, kSlotCells, style.unicode) + " ";
    if (slot.is_queued) return line + "queued" + (slot.waits_for.empty() ? "" : ": " + slot.waits_for);
    if (slot.total_steps == 0) return line + "starting";
    line += fmt::format(" {}/{}", slot.step, slot.total_steps);
    if (slot.step > 0) line += fmt::format("  loss {:.4f}  {} tok/s", slot.loss, reporting::si(slot.tokens_per_second));
    if (slot.step >= slot.total_steps) return line + "  evaluating";
    if (std::isfinite(slot.seconds_left)) line += fmt::format("  {} left", reporting::rough_seconds(slot.seconds_left));
    return line;
}

}  // namespace

std::vector<std::string> render_live(const ProgressView& view, const LiveStyle& style) {
    const int width = std::max(style.width - 1, 1);  // the last column would wrap
    std::string header = fmt::format("{}: {}", view.sweep, counts(view));
    if (view.left + view.running + view.queued > 0)
        header += fmt::format(", ETA {}", reporting::rough_seconds(view.seconds_left));
    if (view.usd) header += ", " + reporting::dollars(*view.usd);
    if (view.draining) header += " (draining)";
    header = reporting::cut_to_width(reporting::visible(header), width);
    if (style.color) header = "\x1b[1m" + header + "\x1b[0m";

    std::vector<std::string> lines = {header};
    int label_width = 8;
    for (const SlotView& slot : view.slots) label_width = std::max(label_width, reporting::display_width(slot.label));
    label_width = std::min(label_width, std::max(8, width / 2));
    for (const SlotView& slot : view.slots) {
        SlotView safe = slot;
        safe.label = reporting::visible(slot.label);
        safe.waits_for = reporting::visible(slot.waits_for);
        lines.push_back(reporting::cut_to_width(slot_line(safe, label_width, style), width));
    }
    return lines;
}

std::string render_summary(const ProgressView& view) {
    std::string line = fmt::format("{}: {}", view.sweep, counts(view));
    if (view.left + view.running + view.queued > 0)
        line += fmt::format(", ETA {}", reporting::rough_seconds(view.seconds_left));
    line += fmt::format(", {} so far", reporting::rough_seconds(view.elapsed_seconds));
    if (view.usd) line += ", " + reporting::dollars(*view.usd);
    return reporting::visible(line);
}

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
    const int width = terminal_width(out_);
    write((painted_.empty() ? "" : erasing(width)) + reporting::fit_lines(text, width) + "\n" + block);
}

void Progress::update(const ProgressView& view) {
    if (mode_ == ProgressMode::live) {
        if (!is_due(last_, kRepaintSeconds)) return;
        LiveStyle style;
        const int width = terminal_width(out_);
        style.width = width > 0 ? width : 80;
        style.unicode = has_unicode();
        style.color = takes_color(out_);
        std::string text = painted_.empty() ? "" : erasing(width);
        painted_ = render_live(view, style);
        for (const std::string& line : painted_) text += line + "\n";
        write(text);
    } else if (mode_ == ProgressMode::plain) {
        const bool is_first = !last_.has_value();  // the next one says more
        if (is_due(last_, kSummarySeconds) && !is_first) write(render_summary(view) + "\n");
    }
}

void Progress::finish() {
    if (painted_.empty()) return;
    write(erasing(terminal_width(out_)));
    painted_.clear();
}

void ProgressLine::show(const std::string& what, double fraction) {
    if (width_ == 0 || !is_due(last_, kRepaintSeconds)) return;
    std::string line = reporting::visible(what);
    if (fraction >= 0)
        line = fmt::format("[{}] {:3.0f} %  {}", bar(fraction, kLineCells, false), std::min(1.0, fraction) * 100, line);
    std::fprintf(stderr, "\r%s\x1b[K", reporting::cut_to_width(line, width_ - 1).c_str());
    std::fflush(stderr);
    painted_ = true;
}

void ProgressLine::clear() {
    if (painted_) std::fputs("\r\x1b[K", stderr);
    painted_ = false;
}

ShowProgress shown_on(ProgressLine& line) {
    return [&line](const std::string& what, double fraction) { line.show(what, fraction); };
}

}  // namespace deft::sweeps
