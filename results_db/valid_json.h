#pragma once
// A check that the schema cannot do itself: SQLite 3.40 refuses json_valid in a CHECK under trusted_schema = OFF.

#include <string>

#include "base/error.h"
#include "base/json.h"

namespace deft::results_db {

// The text. Errors: database, naming `what`.
inline const std::string& valid_json(const std::string& text, const char* what) {
    if (!Json::accept(text)) throw Error(ErrorKind::database, std::string(what) + " is not valid JSON: " + text);
    return text;
}

}  // namespace deft::results_db
