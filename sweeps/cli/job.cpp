// deft job: the attempts of a batch system's job, in its folder. Started by the job's script, not by people.

#include "sweeps/driver/batch_job.h"

#include <memory>

#include "sweeps/cli/commands.h"
#include "sweeps/driver/cluster_probe.h"
#include "sweeps/driver/job_runner.h"

namespace deft::cli {

void add_job(CLI::App& app, Context& context) {
    auto folder = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand("job", "Run the attempts of a job folder")->group("");
    command->add_option("folder", *folder, "The job folder")->required();
    command->callback([folder, &context] {
        if (sweeps::is_probe(*folder)) {
            sweeps::answer_probe(*folder);
        } else {
            const sweeps::SignalWatch signals;
            sweeps::run_batch_job(sweeps::job_of_task(*folder, slurm::own_variable), signals);
        }
        context.exit_code = 0;
    });
}

}  // namespace deft::cli
