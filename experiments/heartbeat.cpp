#include "experiments/heartbeat.h"

#include <algorithm>

namespace deft::experiments {

namespace {

constexpr double kLeastPromise = 60;  // seconds: a machine may be busy, a disk asleep
constexpr double kTimesLonger = 10;   // than any piece of work so far
constexpr double kEvery = 10;         // seconds between two lines at most as long as pieces are shorter

}  // namespace

Heartbeat::Heartbeat(journal::Writer& journal, std::function<bool()> stop)
    : journal_(journal), stop_(std::move(stop)) {}

void Heartbeat::begin(const std::string& doing, double seconds) {
    doing_ = doing;
    promised_seconds_ = std::max(kLeastPromise, seconds);
    beaten_ = Clock::now();
    write();
}

void Heartbeat::beat() {
    promised_seconds_ = std::max(promised_seconds_, kTimesLonger * seconds_since(beaten_));
    beaten_ = Clock::now();
    if (seconds_since(written_) >= kEvery) write();
}

void Heartbeat::beat_or_stop() {
    beat();
    if (stopping()) throw StopAsked{};
}

bool Heartbeat::stopping() {
    if (!stop_()) return false;
    if (!answered_) write();
    answered_ = true;
    return true;
}

void Heartbeat::write() {
    const std::int64_t now = now_ms();
    journal_.write(journal::Lease{now, now + static_cast<std::int64_t>(promised_seconds_ * 1000), doing_});
    written_ = Clock::now();
}

}  // namespace deft::experiments
