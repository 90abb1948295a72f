// A sweep's trials and logged steps, row by row.

#include "reporting/analysis/comparison/per_seed.h"

#include "tests/catch.h"
#include "tests/reporting/a_sweep.h"

using namespace deft::reporting;

namespace {

deft::reporting::Results two_seeds() {
    auto sweep =
        a_sweep_of({a_finished_trial("base", kFullBudget, 1, 3), a_finished_trial("base", kFullBudget, 2, 3.5, 2500),
                    a_finished_trial("cl", kHalfBudget, 1, 2.75)});
    sweep.trials[2].state = "failed";
    sweep.trials[0].usd = 0.25;
    sweep.trials[0].device_seconds = 12.5;
    return sweep;
}

}  // namespace

TEST_CASE("one row a seed, with units in the titles and no arrows") {
    const std::string csv = render_csv(per_seed_table(two_seeds()));
    CHECK(csv ==
          "recipe,budget (fraction),seed,state,steps,input tokens,unique tokens,layer-avg tokens,FLOPs,train time (s),"
          "tokens per s,cost (USD),device time (s),peak memory (B),validation loss (nats/token)\r\n"
          "base,1,1,ok,1000,1000,1000,1000,1000000000,1,1000,0.25,12.5,,3\r\n"
          "base,1,2,ok,1000,1000,1000,1000,1000000000,2.5,400,,,,3.5\r\n"
          "cl,0.5,1,failed,1000,1000,1000,1000,1000000000,1,1000,,,,\r\n");
}

TEST_CASE("one row a logged step, with what was scored and drawn there") {
    const auto sweep = two_seeds();
    Curves curves;
    deft::results_db::TrialCurve& curve = curves[sweep.trials[1].config_hash];
    for (const std::int64_t step : {10, 20}) {
        deft::journal::TrainPoint point;
        point.step = step;
        point.input_tokens = point.unique_tokens = point.layer_tokens = step * 5;
        point.flops = 1e6;
        point.wall_ms = step * 100;
        point.loss = 2.5;
        point.lr = 0.001;
        point.grad_norm = 0.5;
        point.tokens_per_second = 50;
        point.seqlen = 64;
        point.kept_tokens = 48;
        curve.points.push_back(point);
    }
    curve.validation_losses = {{20, 2.25}};
    curve.sampling = {{10, 100, 80, 3, 4, 5}};
    const std::string csv = render_csv(curves_table(sweep, curves));
    CHECK(csv ==
          "recipe,budget (fraction),seed,step,input tokens,unique tokens,layer-avg tokens,FLOPs,train time (s),"
          "training loss (nats/token),validation loss (nats/token),learning rate,gradient norm,tokens per s,"
          "length (tokens),kept tokens,samples admitted,samples drawn,samples drawn before,tokens cut,tokens padded\r\n"
          "base,1,2,10,50,50,50,1000000,1,2.5,,0.001,0.5,50,64,48,100,80,3,4,5\r\n"
          "base,1,2,20,100,100,100,1000000,2,2.5,2.25,0.001,0.5,50,64,48,,,,,\r\n");
}
