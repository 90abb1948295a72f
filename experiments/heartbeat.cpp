#include "experiments/heartbeat.h"

#include <algorithm>

namespace deft::experiments {

namespace {

constexpr double kLeastPromise = 60;  // seconds: a machine may be busy, a disk asleep
constexpr double kLeastOfRanks = 30;  // of computing alone: other ranks wait for one that hangs, at the price of all
constexpr double kTimesLonger = 10;   // than any piece of work so far
constexpr double kEvery = 10;         // seconds between two lines at most as long as pieces are shorter

}  // namespace

Heartbeat::Heartbeat(journal::Writer& journal, std::function<bool()> stop, int ranks)
    : journal_(journal), stop_(std::move(stop)), several_ranks_(ranks > 1) {}

void Heartbeat::begin(const std::string& doing, double seconds) {
    growth_.reset();
    start(doing, std::max(kLeastPromise, seconds));
}

void Heartbeat::begin_pieces(const std::string& doing, double seconds, double growth) {
    if (!several_ranks_) return begin(doing, seconds);
    growth_ = growth;
    at_most_ = seconds;
    start(doing, std::max(kLeastOfRanks, seconds));
}

void Heartbeat::beat() {
    const double promised_before = promised_seconds_;
    longest_ = std::max(longest_, seconds_since(beaten_));
    beaten_ = Clock::now();
    const double measured = kTimesLonger * longest_;
    if (growth_)
        promised_seconds_ = std::max({kLeastOfRanks, measured, std::min(at_most_, *growth_ * measured)});
    else
        promised_seconds_ = std::max(promised_seconds_, measured);
    if (promised_seconds_ < promised_before || seconds_since(written_) >= kEvery) write();
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

void Heartbeat::start(const std::string& doing, double promised_seconds) {
    doing_ = doing;
    promised_seconds_ = promised_seconds;
    longest_ = 0;
    beaten_ = Clock::now();
    write();
}

void Heartbeat::write() {
    const std::int64_t now = now_ms();
    journal_.write(journal::Lease{now, now + static_cast<std::int64_t>(promised_seconds_ * 1000), doing_});
    written_ = Clock::now();
}

}  // namespace deft::experiments
