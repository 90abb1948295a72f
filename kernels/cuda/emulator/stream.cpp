#include "kernels/cuda/emulator/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "kernels/cuda/graph.h"

namespace deft::kernels::cuda {

namespace emulator {

namespace {

struct Stream {
    std::vector<Launch>* recorded = nullptr;
};

// "argument 3", or what else of two launches differs; empty where they are equal.
std::string difference(const Launch& left, const Launch& right) {
    if (left.name != right.name) return "instead of " + right.name;
    if (left.blocks != right.blocks || left.threads != right.threads || left.shared_bytes != right.shared_bytes)
        return fmt::format("{} x {} threads instead of {} x {}", left.blocks, left.threads, right.blocks,
                           right.threads);
    const auto [own, other] =
        std::mismatch(left.arguments.begin(), left.arguments.end(), right.arguments.begin(), right.arguments.end());
    if (own == left.arguments.end() && other == right.arguments.end()) return {};
    return fmt::format("argument {}", own - left.arguments.begin());
}

}  // namespace

void* new_stream() {
    return new Stream;
}

void delete_stream(void* stream) {
    delete static_cast<Stream*>(stream);
}

std::vector<Launch>* recorded(void* stream) {
    return stream == nullptr ? nullptr : static_cast<Stream*>(stream)->recorded;
}

void submit(void* stream, Launch launch) {
    if (std::vector<Launch>* const list = recorded(stream))
        list->push_back(std::move(launch));
    else
        launch.run();
}

void refuse_while_recording(void* stream, const char* what) {
    if (recorded(stream) != nullptr)
        throw Error(ErrorKind::device, fmt::format("{} cannot be recorded in a graph", what));
}

std::optional<std::string> first_difference(const std::vector<Launch>& left, const std::vector<Launch>& right) {
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        if (i >= left.size() || i >= right.size())
            return fmt::format("{} launches instead of {}", left.size(), right.size());
        if (const std::string what = difference(left[i], right[i]); !what.empty())
            return fmt::format("launch {}, {}: {}", i, left[i].name, what);
    }
    return {};
}

}  // namespace emulator

struct RecordedLaunches {
    static const std::vector<emulator::Launch>& of(const Graph& graph) {
        return *static_cast<const std::vector<emulator::Launch>*>(graph.graph_);
    }
};

namespace emulator {

const std::vector<Launch>& launches_of(const Graph& graph) {
    return RecordedLaunches::of(graph);
}

}  // namespace emulator

Graph::Graph(Exec& exec, const std::function<void()>& work) {
    auto* const stream = static_cast<emulator::Stream*>(exec.stream);
    auto launches = std::make_unique<std::vector<emulator::Launch>>();
    emulator::refuse_while_recording(stream, "a graph");
    stream->recorded = launches.get();
    try {
        work();
    } catch (...) {
        stream->recorded = nullptr;
        throw;
    }
    stream->recorded = nullptr;
    nodes_ = static_cast<std::int64_t>(launches->size());
    graph_ = launches.release();
}

Graph::~Graph() {
    delete static_cast<std::vector<emulator::Launch>*>(graph_);
}

void Graph::start(Exec& exec) const {
    for (const emulator::Launch& launch : emulator::launches_of(*this)) emulator::submit(exec.stream, launch);
}

}  // namespace deft::kernels::cuda
