#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reporting/numbers.h"
#include "reporting/text.h"
#include "sweeps/driver/progress.h"

namespace deft::sweeps {

namespace {

constexpr std::size_t kBarWidth = 20;

std::string bar(double fraction, bool unicode) {
    static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
    const auto eighths = static_cast<std::size_t>(fraction * kBarWidth * 8);
    std::string text;
    std::size_t columns = eighths / 8;
    for (std::size_t i = 0; i < columns; ++i) text += unicode ? "█" : "#";
    if (unicode && eighths % 8 != 0) {
        text += kEighths[eighths % 8];
        ++columns;
    }
    for (; columns < kBarWidth; ++columns) text += unicode ? "·" : ".";
    return text;
}

std::string padded(const std::string& text, int width) {
    const int columns = reporting::display_width(text);
    return columns >= width ? reporting::cut_to_width(text, width)
                            : text + std::string(static_cast<std::size_t>(width - columns), ' ');
}

std::string counts(const ProgressView& view) {
    std::string text = fmt::format("{} done, {} running, ", view.done, view.running);
    if (view.failed > 0) text += fmt::format("{} failed, ", view.failed);
    return text + fmt::format("{} left", view.left);
}

std::string slot_line(const SlotView& slot, int label_width, const LiveStyle& style) {
    if (!slot.busy) return "  " + padded("-", label_width) + "  idle";
    const double fraction =
        slot.total_steps > 0 ? static_cast<double>(slot.step) / static_cast<double>(slot.total_steps) : 0;
    std::string line = "  " + padded(slot.label, label_width) + "  ";
    // On a narrow terminal the numbers matter more than the bar.
    if (style.width >= label_width + 72) line += bar(fraction, style.unicode) + " ";
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
    if (view.left + view.running > 0) header += fmt::format(", ETA {}", reporting::rough_seconds(view.seconds_left));
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
        lines.push_back(reporting::cut_to_width(slot_line(safe, label_width, style), width));
    }
    return lines;
}

std::string render_summary(const ProgressView& view) {
    std::string line = fmt::format("{}: {}", view.sweep, counts(view));
    if (view.left + view.running > 0) line += fmt::format(", ETA {}", reporting::rough_seconds(view.seconds_left));
    line += fmt::format(", {} so far", reporting::rough_seconds(view.elapsed_seconds));
    if (view.usd) line += ", " + reporting::dollars(*view.usd);
    return reporting::visible(line);
}

}  // namespace deft::sweeps
