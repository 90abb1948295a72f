#pragma once
// A record of a journal, read from fields of evidence: those that both have are the journal's, and so is the check of
// what they hold.

#include "base/error.h"
#include "base/journal.h"
#include "base/json.h"
#include "base/text.h"
#include "results_db/evidence/text_lines.h"

namespace deft::results_db {

// Errors: BadRecord.
template <class Record>
Record journal_record(Json fields) {
    fields["type"] = journal::type_of(journal::to_json(Record{}));
    Record record;
    try {
        journal::from_json(fields, record);
    } catch (const Error& error) {
        throw BadRecord{first_line(error.what())};
    }
    return record;
}

}  // namespace deft::results_db
