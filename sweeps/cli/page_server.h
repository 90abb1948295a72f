#pragma once
// Answers of `deft serve`: the sweeps of a root as pages that follow their runs. Nothing here knows sockets, writes a
// file or keeps a database open.

#include <filesystem>
#include <string>

namespace deft::cli {

struct PageRequest {
    std::string path;    // decoded, without the query
    std::string host;    // the Host header
    std::string origin;  // the Origin header; empty: none
};

struct PageResponse {
    int status = 200;
    std::string type = "text/html; charset=utf-8";
    std::string body;
};

// Who may read which root.
struct ServedRoot {
    std::filesystem::path root;
    std::string token;  // the first part of every path
    int port = 0;
};

// "/TOKEN/" lists the sweeps, or shows the only one; "/TOKEN/page/SWEEP" is a page; "/TOKEN/state/SWEEP" is {"version":
// ...} alone, which changes with the database. 403 for another host's name, 404 for another path or token, 503 with the
// message where the database cannot be read.
PageResponse answer(const ServedRoot& served, const PageRequest& request);

}  // namespace deft::cli
