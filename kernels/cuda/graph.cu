// Graphs of a real device, implementing graph.h.

#include "kernels/cuda/graph.h"

#include <cuda_runtime.h>

#include "kernels/cuda/launch.h"

namespace deft::kernels::cuda {

namespace {

cudaStream_t stream_of(const Exec& exec) {
    return static_cast<cudaStream_t>(exec.stream);
}

// Ends the recording that it begins, whatever the work throws.
class Recording {
 public:
    explicit Recording(cudaStream_t stream) : stream_(stream) {
        check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a graph");
    }
    ~Recording() {
        if (!is_open_) return;
        cudaGraph_t discarded = nullptr;
        cudaStreamEndCapture(stream_, &discarded);
        if (discarded != nullptr) cudaGraphDestroy(discarded);
        cudaGetLastError();
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    cudaGraph_t finish() {
        is_open_ = false;
        cudaGraph_t graph = nullptr;
        check(cudaStreamEndCapture(stream_, &graph), "recording a graph");
        return graph;
    }

 private:
    cudaStream_t stream_;
    bool is_open_ = true;
};

}  // namespace

Graph::Graph(Exec& exec, const std::function<void()>& work) {
    Recording recording(stream_of(exec));
    work();
    cudaGraph_t graph = recording.finish();
    std::size_t nodes = 0;
    cudaError_t status = cudaGraphGetNodes(graph, nullptr, &nodes);
    cudaGraphExec_t ready = nullptr;
    if (status == cudaSuccess) status = cudaGraphInstantiateWithFlags(&ready, graph, 0);
    cudaGraphDestroy(graph);
    if (status == cudaSuccess) status = cudaGraphUpload(ready, stream_of(exec));  // its memory, taken before a start
    if (status != cudaSuccess && ready != nullptr) cudaGraphExecDestroy(ready);
    check(status, "preparing a graph");
    graph_ = ready;
    nodes_ = static_cast<std::int64_t>(nodes);
}

Graph::~Graph() {
    cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}

void Graph::start(Exec& exec) const {
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), stream_of(exec)), "starting a graph");
}

}  // namespace deft::kernels::cuda
