#pragma once
// An invented sweep, planned as any other and then stored as finished: its speed shows what a large sweep costs.

#include <filesystem>
#include <string>

namespace deft::sweeps {

// Two rows per recipe, and a trial per row and seed.
struct SweepSize {
    int recipes = 100, seeds = 5;
    int points = 200;  // of each training curve

    int trials() const { return 2 * recipes * seeds; }
};

inline constexpr const char* kFinishedSweep = "finished";

// Writes FOLDER/finished.toml, and FOLDER/results.db with each of its trials trained and scored. Returns the file.
// Errors: those of spec_of_text(), expand() and results_db::Writer.
std::filesystem::path write_finished_sweep(const std::filesystem::path& folder, const SweepSize& size);

}  // namespace deft::sweeps
