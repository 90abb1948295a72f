#pragma once
// How far work is, on standard error: the block of a running sweep, and one line for anything else.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/stopwatch.h"

namespace deft::sweeps {

struct SlotView {
    bool busy = false;
    std::string label;
    std::int64_t step = 0;
    std::int64_t total_steps = 0;  // 0: not known yet
    double loss = 0;
    double tokens_per_second = 0;
    double seconds_left = std::numeric_limits<double>::quiet_NaN();
    bool is_queued = false;      // at a batch system
    std::string waits_for = {};  // there, in its words
};

struct ProgressView {
    std::string sweep;
    int done = 0, running = 0, queued = 0, failed = 0, left = 0;  // left: none of these
    double seconds_left = std::numeric_limits<double>::quiet_NaN();
    double elapsed_seconds = 0;
    std::optional<double> usd;  // spent by this run
    bool draining = false;
    std::vector<SlotView> slots;
};

struct LiveStyle {
    int width = 80;
    bool unicode = true;
    bool color = false;
};

// The block, a line each, none wider than the terminal.
std::vector<std::string> render_live(const ProgressView& view, const LiveStyle& style);
// One line for logs.
std::string render_summary(const ProgressView& view);

enum class ProgressMode { automatic, live, plain, none };
// Errors: usage.
ProgressMode parse_progress_mode(const std::string& text);

// Columns of a stream's terminal; 0 where it has none.
int terminal_width(std::FILE* stream);

class Progress {
 public:
    explicit Progress(ProgressMode mode, std::FILE* out = stderr);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // A change of state; not shown with --progress none.
    void event(const std::string& text);
    // Shown always.
    void warning(const std::string& text);
    // Repaints the block at most ten times a second; elsewhere writes a line each half minute.
    void update(const ProgressView& view);
    // Takes the block away.
    void finish();

 private:
    void write(const std::string& text);
    std::string erasing(int width) const;

    ProgressMode mode_;
    std::FILE* out_;
    std::vector<std::string> painted_;
    std::optional<Clock::time_point> last_;
};

// One line that says how far a command is: repainted on a terminal, absent elsewhere.
class ProgressLine {
 public:
    ProgressLine() : width_(terminal_width(stderr)) {}
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // fraction: of 1; negative where nobody knows.
    void show(const std::string& what, double fraction);
    void clear();

 private:
    int width_;  // 0: no terminal
    bool painted_ = false;
    std::optional<Clock::time_point> last_;
};
// Work reports its progress to one, as ProgressLine::show() takes it.
using ShowProgress = std::function<void(const std::string&, double)>;
ShowProgress shown_on(ProgressLine& line);

}  // namespace deft::sweeps
