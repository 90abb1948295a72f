#pragma once
// Breakdown of an attempt's time on its worker. The parts add up to the total time that it held the worker, so that
// every paid second appears in one part.

#include <optional>

namespace deft::results_db {

// In seconds for one attempt; for several in device-seconds, or in USD.
struct CostParts {
    double training = 0;  // optimizer steps and their data, as far as the result was built on them
    double scoring = 0;   // of tasks, and validations on the way, as far as they are kept
    double start_up = 0;  // all else that had to be: starting, reading data, building the model, checkpoints, ending
    double waiting = 0;   // for a lock that another process held, or at the start for other ranks
    double lost = 0;      // after the kept part of an attempt that died, or all of it where nothing was kept

    double whole() const { return training + scoring + start_up + waiting + lost; }
    void add(const CostParts& other, double times);
    bool operator==(const CostParts&) const = default;
};

// Resources spent by an attempt alone, when a checkpoint or a task's scores were on the disk.
struct Spent {
    double elapsed = 0;  // seconds since it started
    double training = 0, scoring = 0, waiting = 0;
};

// Known times of an attempt that has ended.
struct AttemptTime {
    bool is_scoring = false;        // it scored what others had trained
    bool is_ok = false;             // it ended well
    bool records_its_end = false;   // its journal's last line is that of a trial which ended by itself
    bool is_kept = false;           // the result was built on it; of a scoring: any of its scores is there
    bool is_continued = false;      // a later attempt went on from a checkpoint of it
    std::optional<double> held;     // of its slot; nothing: its end was not recorded
    double training = 0;            // all that it ran itself, as far as its journal records
    double scoring = 0;             // the same
    std::optional<double> waiting;  // nothing: a program of before did not measure it
    double behind_kept = 0;         // of the training: logged after the step that a later attempt resumed from
    std::optional<Spent> kept;      // at the checkpoint that a later attempt went on from, or the last one
};

// Seconds. Where the end was not observed, only the time that its journal records.
CostParts parts_of(const AttemptTime& time);

}  // namespace deft::results_db
