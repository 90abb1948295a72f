// deft serve: pages that follow their runs, on this machine alone.

#include <fmt/format.h>
#include <httplib.h>
#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "results_db/open.h"
#include "sweeps/cli/commands.h"
#include "sweeps/cli/options.h"
#include "sweeps/cli/output.h"
#include "sweeps/cli/page_server.h"
#include "sweeps/cli/results.h"

namespace deft::cli {

namespace {

constexpr const char* kLoopback = "127.0.0.1";

int bind_or_explain(httplib::Server& server, int port) {
    // The library's own option, SO_REUSEPORT, would share a port that another server listens at.
    server.set_socket_options([](socket_t socket) {
        const int yes = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (port == 0) {
        const int bound = server.bind_to_any_port(kLoopback);
        if (bound > 0) return bound;
        throw Error(ErrorKind::io, "no port of the loopback address is free", "end a program that listens");
    }
    if (server.bind_to_port(kLoopback, port)) return port;
    throw Error(ErrorKind::io, fmt::format("port {} is in use, or this user may not listen there", port),
                "choose another --port, or leave it out for a free one");
}

// Gives back what the threads that wrote pages have freed. The library keeps it for each of them otherwise: for a sweep
// of 10,000 trials, 440 MB each.
void return_freed_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void serve(const std::string& root, int port) {
    (void)open_results(root).sweep_names();  // refuses what cannot be read, before anything listens
    ServedRoot served{root, results_db::random_uid(), 0};
    httplib::Server server;
    server.Get(".*", [&](const httplib::Request& request, httplib::Response& response) {
        PageResponse answered =
            answer(served, {request.path, request.get_header_value("Host"), request.get_header_value("Origin")});
        response.status = answered.status;
        response.set_header("Cache-Control", "no-store");
        response.set_header("X-Content-Type-Options", "nosniff");
        response.set_header("Referrer-Policy", "no-referrer");
        response.set_header("Cross-Origin-Resource-Policy", "same-origin");
        // The library compresses bodies, but not what a provider writes: compressing takes longer than sending here.
        const auto body = std::make_shared<const std::string>(std::move(answered.body));
        response.set_content_provider(body->size(), answered.type,
                                      [body](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                          return sink.write(body->data() + offset, length);
                                      });
        return_freed_memory();
    });
    served.port = bind_or_explain(server, port);
    print(fmt::format(
        "The page is at http://{}:{}/{}/\nIt follows the run; Ctrl-C ends the server. Nobody reads it without "
        "this address.\n",
        kLoopback, served.port, served.token));
    if (!server.listen_after_bind()) throw Error(ErrorKind::io, "the server stopped listening");
}

}  // namespace

void add_serve(CLI::App& app, Context&) {
    struct Arguments {
        std::string root = sweeps::kDefaultRoot;
        int port = 0;
    };
    auto arguments = std::make_shared<Arguments>();
    CLI::App* command = app.add_subcommand("serve", "Show sweeps in a browser of this machine, while they run");
    add_root(*command, arguments->root);
    add_number(*command, "--port", arguments->port, "Port of the loopback address; 0: a free one", 0, 65535);
    command->callback([arguments] { serve(arguments->root, arguments->port); });
}

}  // namespace deft::cli
