#pragma once
// The views of results.db that users read: docs/sql-views.md describes their columns, which keep name and meaning.

#include <span>

#include "results_db/connection.h"

namespace deft::results_db {

struct View {
    const char* name;
    const char* sql;  // CREATE VIEW, as the database keeps it
};

// A later one may read from those before it.
std::span<const View> views();

// Whether the database has each of them, word for word.
bool has_current_views(Connection& connection);

// Both within a transaction, because results are read through views too. Errors: database, for a table or somebody's
// view of that name; nothing of theirs is dropped.
// Drops those of any deft. A migration needs it: SQLite checks every view when a table changes.
void drop_views(Connection& connection);
void replace_views(Connection& connection);

}  // namespace deft::results_db
