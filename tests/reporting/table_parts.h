#pragma once
// Parts of a table, by what it says.

#include <string>

#include "reporting/table.h"
#include "tests/catch.h"

namespace deft::reporting {

inline std::size_t column(const Table& table, const std::string& title) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
        if (table.columns[i].title == title) return i;
    FAIL("no column " << title);
    return 0;
}

inline std::string cell(const Table& table, std::size_t row, const std::string& title) {
    return table.rows.at(row)[column(table, title)].text;
}

inline std::string all_notes(const Table& table) {
    std::string text;
    for (const std::string& note : table.notes) text += note + "\n";
    return text;
}

}  // namespace deft::reporting
