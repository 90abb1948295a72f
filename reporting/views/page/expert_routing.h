#pragma once
// Where the gates of a model with experts sent its tokens while it trained: how uneven each layer's load was, and what
// it dropped.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reporting/analysis/results/rows.h"
#include "reporting/views/render/heat_map.h"
#include "reporting/views/report_data.h"
#include "results_db/rows.h"

namespace deft::reporting {

struct LayerRouting {
    std::int64_t layer = 0;  // of the model, from 0
    std::vector<double>
        busiest;  // of each run of logged steps the mean of the busiest expert's load; NaN: none is known
    std::vector<double> dropped_of_run;  // likewise the mean of what was dropped
    std::vector<double> last_load;       // of each expert at the last logged step
    double dropped = 0;                  // share of the choices at that step that was beyond the capacity
    double entropy = 0;                  // of the gate's probabilities at that step, nats
};

// A load is a multiple of an equal share of the choices: 1 where all experts are chosen as often.
struct Routing {
    std::int64_t first_step = 0, last_step = 0;
    std::vector<std::int64_t> ends;    // the last step of each run
    std::size_t steps_of_run = 0;      // at most: logged steps
    std::vector<LayerRouting> layers;  // ascending; empty where there are no experts
};

// In at most `runs` (at least 1) runs of as many logged steps each, as nearly as it goes.
Routing routing_of(const std::vector<journal::ExpertLoad>& loads, std::size_t runs);

// "2.1% dropped, gate entropy 1.95 of 2.08 nats", which an even gate has.
std::string routing_text(const LayerRouting& layer);

// The busiest expert's load by layer and training step; what was dropped likewise, where any choice was; and each
// expert's load at the last step. `name`: of the trial. None where there are no experts.
std::vector<HeatMap> routing_maps(const std::string& name, const std::vector<journal::ExpertLoad>& loads);

// The same as lines of text: names and values. The least block is the palest colour, the full one the darkest.
std::vector<std::pair<std::string, std::string>> routing_lines(const std::vector<journal::ExpertLoad>& loads);

// A section of the page: the maps of each row's first finished trial with experts. Empty where none has any.
std::string routing_html(const std::vector<Row>& rows, const ExpertLoads& loads, const std::string& id,
                         const std::string& suffix);

}  // namespace deft::reporting
