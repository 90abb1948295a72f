#include "engine/core/step_graphs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "kernels/cuda/graph.h"
#include "kernels/cuda/products.h"

namespace deft::engine {

// A profile times each op by events, which a graph would record once.
bool StepGraphs::takes(const Exec& exec) const {
    return kernels::cuda::kBuilt && records && exec.device == Device::cuda && exec.profile == nullptr &&
           exec.planned == nullptr;
}

void StepGraphs::start(Exec& exec, const GraphShape& shape, const std::function<void()>& work) {
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.shape == shape; });
    if (found == known_.end()) {
        known_.push_front({shape, nullptr});
        if (std::ssize(known_) > kMostShapes) known_.pop_back();
        ++counts_.direct;
        return work();
    }
    known_.splice(known_.begin(), known_, found);
    Known& known = known_.front();
    if (known.graph)
        exec.cuda.products->log.add(known.products);
    else if (!known.is_refused && shapes_return())
        record(exec, known, work);
    if (!known.graph) {
        ++counts_.direct;
        return work();
    }
    if constexpr (kernels::cuda::kBuilt) {
        known.graph->start(exec.cuda);
        ++counts_.replayed;
        counts_.nodes += known.graph->nodes();
    }
}

// A recording costs several steps of launches: shapes that rarely return are not worth one.
bool StepGraphs::shapes_return() const {
    return counts_.dropped < kMostGraphs || counts_.dropped < counts_.replayed / 4;
}

void StepGraphs::record(Exec& exec, Known& known, const std::function<void()>& work) {
    if constexpr (kernels::cuda::kBuilt) {
        const std::vector<kernels::cuda::ProductRecord> before = exec.cuda.products->log.records();
        try {
            known.graph = std::make_shared<const kernels::cuda::Graph>(exec.cuda, work);
            known.products = exec.cuda.products->log.records_since(before);
        } catch (const Error& error) {
            known.is_refused = true;
            refusal_ = first_line(error.what());
            return;
        }
        ++counts_.recorded;
        drop_oldest();
        if (inspect) inspect(known.shape, *known.graph);
    }
}

std::string StepGraphs::note() const {
    if (!refusal_.empty())
        return fmt::format("CUDA graphs: {} of {} parts of steps ran launch by launch: {}", counts_.direct,
                           counts_.direct + counts_.replayed, refusal_);
    if (!shapes_return())
        return fmt::format(
            "CUDA graphs: {} of {} parts of steps ran launch by launch, since their shapes rarely return",
            counts_.direct, counts_.direct + counts_.replayed);
    return {};
}

void StepGraphs::drop_oldest() {
    std::int64_t graphs = 0;
    for (Known& known : known_) {
        if (!known.graph || ++graphs <= kMostGraphs) continue;
        known.graph.reset();
        ++counts_.dropped;
    }
}

}  // namespace deft::engine
