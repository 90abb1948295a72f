// Where tokens went among experts, as numbers, as text and as a page's heat maps.

#include "reporting/views/page/expert_routing.h"

#include <cmath>
#include <limits>

#include "reporting/views/page/page.h"
#include "reporting/views/text/status.h"
#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft;
using namespace deft::reporting;
using journal::ExpertLoad;

namespace {

const double kUnknown = std::numeric_limits<double>::quiet_NaN();

ExpertLoad at(std::int64_t step, std::int64_t layer, std::vector<double> load, double dropped = 0, double entropy = 0) {
    return {step, layer, std::move(load), dropped, entropy, 0, 0};
}

// Layer 1 of two experts and layer 3 of four, at three logged steps.
std::vector<ExpertLoad> three_steps() {
    return {at(10, 1, {0.5, 0.5}),
            at(10, 3, {1, 0, 0, 0}),
            at(20, 1, {0.25, 0.75}),
            at(20, 3, {0.5, 0.25, 0.25, 0}),
            at(30, 1, {0.9, 0.1}, 0.125, 0.5),
            at(30, 3, {0.25, 0.25, 0.125, 0.375}, 0, 1.25)};
}

std::size_t parts_in(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t found = text.find(part); found != std::string::npos; found = text.find(part, found + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("a layer's load is the busiest expert's, in runs of logged steps, and each expert's at the last of them") {
    const Routing routing = routing_of(three_steps(), 40);
    CHECK(routing.first_step == 10);
    CHECK(routing.last_step == 30);
    CHECK(routing.ends == std::vector<std::int64_t>{10, 20, 30});
    CHECK(routing.steps_of_run == 1);
    REQUIRE(routing.layers.size() == 2);
    CHECK(routing.layers[0].layer == 1);
    CHECK(routing.layers[0].busiest == std::vector<double>{1, 1.5, 1.8});
    CHECK(routing.layers[0].last_load == std::vector<double>{1.8, 0.2});
    CHECK(routing.layers[0].dropped == 0.125);
    CHECK(routing.layers[0].dropped_of_run == std::vector<double>{0, 0, 0.125});
    CHECK(routing.layers[1].layer == 3);
    CHECK(routing.layers[1].busiest == std::vector<double>{4, 2, 1.5});
    CHECK(routing.layers[1].last_load == std::vector<double>{1, 1, 0.5, 1.5});
    CHECK(routing_text(routing.layers[0]) == "12.5% dropped, gate entropy 0.50 of 0.69 nats");
    CHECK(routing_text(routing.layers[1]) == "0.0% dropped, gate entropy 1.25 of 1.39 nats");
    CHECK(routing_of({}, 40).layers.empty());
}

TEST_CASE("more logged steps than runs are averaged, and what is not finite is left out") {
    const Routing routing = routing_of(three_steps(), 2);  // steps 10; 20 and 30
    CHECK(routing.ends == std::vector<std::int64_t>{10, 30});
    CHECK(routing.steps_of_run == 2);
    CHECK(routing.layers[1].busiest == std::vector<double>{4, 1.75});
    CHECK(routing.layers[0].dropped_of_run == std::vector<double>{0, 0.0625});
    std::vector<ExpertLoad> broken = three_steps();
    broken[1].load = {kUnknown, kUnknown, kUnknown, kUnknown};
    broken[3].load = {kUnknown, 0.25, 0.25, 0.5};
    const Routing known = routing_of(broken, 40);
    CHECK(std::isnan(known.layers[1].busiest[0]));
    CHECK(known.layers[1].busiest[1] == 2);
    CHECK(routing_of(broken, 1).layers[1].busiest == std::vector<double>{1.75});
}

TEST_CASE("a heat map's colours go from an equal share, or from none, to the greatest load") {
    const std::vector<HeatMap> maps = routing_maps("moe/1", three_steps());
    REQUIRE(maps.size() == 3);
    CHECK(maps[0].title == "Load of the busiest expert: moe/1");
    CHECK(maps[0].from == 1);
    CHECK(maps[0].to == 4);
    CHECK(darkness(maps[0], 1) == 0);
    CHECK(darkness(maps[0], 2.5) == 0.5);
    CHECK(darkness(maps[0], 9) == 1);
    CHECK(darkness(maps[0], 0.5) == 0);
    CHECK(description(maps[0]) ==
          "The busiest expert's load, as a multiple of an equal share, goes from 1.00x (layer 1) to 4.00x (layer 3), "
          "over "
          "2 layers.");
    CHECK(maps[1].title == "Choices dropped: moe/1");
    CHECK(maps[1].rows[0].cells == std::vector<double>{0, 0, 0.125});
    CHECK(maps[1].rows[1].cells == std::vector<double>{0, 0, 0});
    CHECK(maps[1].from == 0);
    CHECK(maps[1].to == 0.125);
    CHECK(description(maps[1]) ==
          "The share dropped, of all choices, goes from 0.0% (layer 1) to 12.5% (layer 1), over 2 layers.");
    CHECK_THAT(render_svg(maps[1]), ContainsSubstring(">12.5% "));
    CHECK(maps[2].title == "Load of each expert at step 30: moe/1");
    CHECK(maps[2].from == 0);
    CHECK(maps[2].to == 2);  // 1.8 at most: noise about an even load stays pale
    CHECK(maps[2].columns == std::vector<std::string>{"0", "1", "2", "3"});
    const std::string svg = render_svg(maps[2]);
    CHECK(parts_in(svg, "v23h-") == 2 + 4);                       // cells
    CHECK(parts_in(svg, "<rect") == 8);                           // the legend's
    CHECK_THAT(svg, ContainsSubstring("fill-opacity=\"0.91\""));  // 0.07 + 0.93 x 1.8 / 2
    CHECK_THAT(
        svg, ContainsSubstring(">layer</text>") && ContainsSubstring(">expert</text>") && ContainsSubstring(">2.00x "));
    HeatMap gap = maps[0];
    gap.rows[0].cells[1] = kUnknown;
    CHECK(parts_in(render_svg(gap), "v23h-") == 5);
    HeatMap wide = maps[2];
    wide.rows[0].cells.assign(128, 1.0);
    wide.columns.assign(128, "1234567");
    const std::string drawn = render_svg(wide);
    const std::size_t name = drawn.rfind("\" y=", drawn.rfind(">1234567</text>"));
    const std::size_t middle = drawn.rfind("x=\"", name) + 3;
    CHECK(std::stod(drawn.substr(middle)) < 980 - 20);  // half of the name has room beside it
    CHECK(routing_maps("moe/1", {}).empty());
    const std::vector<HeatMap> little = routing_maps("moe/1", {at(1, 0, {0.5, 0.5}, 0.03), at(2, 0, {0.5, 0.5}, 0.01)});
    REQUIRE(little.size() == 3);
    CHECK(little[1].to == 0.1);                                        // a few percent stay pale
    CHECK(routing_maps("moe/1", {at(1, 0, {0.5, 0.5})}).size() == 2);  // none was dropped
}

TEST_CASE("a trial's text draws the loads of its experts in blocks, and has no such section without") {
    const Trial trial = a_finished_trial("moe", "{}", 1, 3);
    const std::string text = render_trial(trial, three_steps());
    CHECK_THAT(text, ContainsSubstring("\nExperts\n"));
    CHECK_THAT(text,
               ContainsSubstring("steps 10 to 30, ▁ 1.00x to █ 4.00x of an equal share; after it the load at step 30"));
    // The shares 1, 1.5 and 1.8 as sevenths of the way to 4: 0, 1.2, 1.9.
    CHECK_THAT(text, ContainsSubstring("layer 1                 ▁▂▃  12.5% dropped, gate entropy 0.50 of 0.69 nats\n"));
    CHECK_THAT(text, ContainsSubstring("layer 3                 █▃▂  0.0% dropped"));
    CHECK_THAT(text, ContainsSubstring("expert by expert, ▁ 0.0x to █ 2.00x of an equal share\n"
                                       "  layer 1                 ▇▂\n  layer 3                 ▅▅▃▆\n"));
    CHECK_THAT(render_trial(trial), !ContainsSubstring("Experts"));
    std::vector<double> even(100, 0.01);
    const auto lines = routing_lines({at(5, 0, even)});
    REQUIRE(lines.size() == 5);
    CHECK(lines[4].first == "layer 0, from expert 64");
    CHECK(lines[4].second.size() == 36 * std::string("▁").size());
}

TEST_CASE("a page has the maps of each row's first finished trial with experts") {
    ReportData data;
    data.sweep = a_sweep_of({a_finished_trial("dense", "{}", 1, 3), a_finished_trial("moe", "{}", 1, 3),
                             a_finished_trial("moe", "{}", 2, 3)});
    CHECK_THAT(render_page(data), !ContainsSubstring("id=\"experts\""));
    for (const std::size_t i : {1u, 2u}) data.experts[data.sweep.trials[i].config_hash] = three_steps();
    const std::string page = render_page(data);
    CHECK(parts_in(page, "id=\"experts\"") == 1);
    CHECK(parts_in(page, "<h3>Load of the busiest expert: moe/1</h3>") == 1);
    CHECK(parts_in(page, "<h3>Load of each expert at step 30: moe/1</h3>") == 1);
    CHECK_THAT(page, !ContainsSubstring("busiest expert: moe/2"));
    CHECK_THAT(page, !ContainsSubstring("busiest expert: dense"));
    CHECK_THAT(page, ContainsSubstring("12.5% dropped, gate entropy 0.50 of 0.69 nats"));
}
