#pragma once
// The lines of an evidence file: how they are sealed with hashes, and taken apart again where they may be anybody's.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace deft::results_db {

// A record that is malformed or refused. The line number is added where the exception is caught.
struct BadRecord {
    std::string why;
    std::string fix = {};
};

struct EvidenceLine {
    int number = 0;  // from 1
    std::string kind;
    Json record;  // without its kind and check
};

// Values that several records share, by their content.
class SharedValues {
 public:
    // The id of the value.
    std::string add(Json value);
    // Errors: BadRecord, for an id that is not the value's.
    void take(const Json& record);
    // Errors: BadRecord, where there is none of that id.
    const Json& at(const Json& id) const;
    const std::map<std::string, Json>& all() const { return values_; }

 private:
    std::map<std::string, Json> values_;
};

// {"record": kind, ...} as its line, without the newline.
std::string evidence_line(const std::string& kind, Json record);
// The last line, of the lines before it.
std::string end_line(std::string_view lines);

// Raises what is wrong at that line, without what a terminal would obey; without a fix, how to come by a good file.
[[noreturn]] void fail_in_evidence(const std::string& name, int line, const std::string& what,
                                   const std::string& fix = {});

// Line ends of another system and a byte order mark do not count as a difference. Errors: database, with file and line:
// text that is cut short, does not match its hashes, or is of another schema.
std::vector<EvidenceLine> read_evidence_lines(std::string_view text, const std::string& name);

}  // namespace deft::results_db
