#include "reporting/analysis/cost/slot_shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/text.h"
#include "reporting/numbers.h"
#include "reporting/text.h"

namespace deft::reporting {

std::string batch_text(const results_db::AttemptRow& attempt) {
    std::string text;
    if (!attempt.job.empty()) text += ", Slurm job " + attempt.job;
    if (attempt.queue_seconds) text += fmt::format(", {} in the queue", rough_seconds(*attempt.queue_seconds));
    return text;
}

std::string shape_text(const results_db::Shape& shape) {
    if (shape.ranks > 1)
        return fmt::format("{} on {}", counted(shape.ranks, "rank"),
                           shape_text({shape.device, shape.devices, shape.trials_per_device}));
    if (shape.device == "cpu") return counted(shape.devices, "thread");
    const std::string devices = counted(shape.devices, "GPU");
    return shape.trials_per_device == 1 ? devices : fmt::format("1/{} of {}", shape.trials_per_device, devices);
}

namespace {

std::string slot_text(const results_db::AttemptRow& attempt) {
    const std::string shape = shape_text(attempt.shape);
    if (attempt.host.cpu_model.empty()) return attempt.gpu_name.empty() ? shape : shape + ", " + attempt.gpu_name;
    const std::string processor = fmt::format("{} ({} cores)", attempt.host.cpu_model, attempt.host.cores);
    if (attempt.shape.device == "cpu") return shape + " of " + processor;
    return fmt::format("{}, {}, beside {}", shape, attempt.gpu_name.empty() ? "of unknown kind" : attempt.gpu_name,
                       processor);
}

}  // namespace

std::set<std::string> slot_shapes(const Trial& trial) {
    std::set<std::string> shapes;
    for (const results_db::AttemptRow& attempt : trial.attempt_rows)
        if (attempt.counts && attempt.seconds && attempt.seconds->training > 0) shapes.insert(slot_text(attempt));
    return shapes;
}

std::set<std::string> slot_shapes(const Row& row) {
    std::set<std::string> shapes;
    for (const Trial* trial : row.ok) shapes.merge(slot_shapes(*trial));
    return shapes;
}

std::set<std::string> scoring_shapes(const Row& row, const std::function<const Score*(const Trial&)>& find) {
    std::set<std::string> shapes;
    for (const Trial* trial : row.ok)
        if (const Score* score = find(*trial))
            for (const results_db::AttemptRow& attempt : trial->scoring_rows)
                if (attempt.uid == score->attempt_uid) shapes.insert(slot_text(attempt));
    return shapes;
}

bool have_one_slot_shape(const Row& a, const Row& b) {
    std::set<std::string> shapes = slot_shapes(a);
    shapes.merge(slot_shapes(b));
    return shapes.size() <= 1;
}

std::string to_text(const std::set<std::string>& shapes) {
    return fmt::format("{}", fmt::join(shapes, "; "));
}

std::vector<std::string> slot_notes(const std::vector<Row>& rows) {
    std::vector<std::pair<std::set<std::string>, std::vector<std::string>>> rows_by_shapes;
    for (const Row& row : rows) {
        std::set<std::string> shapes = slot_shapes(row);
        if (shapes.empty()) continue;
        auto found = rows_by_shapes.begin();
        while (found != rows_by_shapes.end() && found->first != shapes) ++found;
        if (found == rows_by_shapes.end()) found = rows_by_shapes.insert(found, {std::move(shapes), {}});
        found->second.push_back(row.name);
    }
    if (rows_by_shapes.empty() || (rows_by_shapes.size() == 1 && rows_by_shapes.front().first.size() == 1)) return {};
    std::vector<std::string> texts;
    for (const auto& [shapes, names] : rows_by_shapes)
        texts.push_back(fmt::format("{} on {}", fmt::join(names, ", "), fmt::join(shapes, " and on ")));
    return {fmt::format(
        "Workers: trained {}. Times and speeds compare only within one worker shape: those of a row that has "
        "several are mixed, and a row has no ratio of times or dollars to one of another worker.",
        fmt::join(texts, "; "))};
}

}  // namespace deft::reporting
