#pragma once
// The records that a task's documents and shots are made of.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/json.h"

namespace deft::experiments {

// json: one array of records.
enum class RecordFormat { jsonl, json, tsv, lines, wikitext };
enum class RecordGenerator { none, embedded_questions, embedded_last_words };

struct RecordSource {
    std::string file;  // as find_data_file takes it; empty: generated
    RecordFormat format = RecordFormat::jsonl;
    std::vector<std::string> columns;                   // tsv: a name for each column
    bool header = false;                                // tsv: the first line names the columns and is not a record
    RecordGenerator generator = RecordGenerator::none;  // none: of a file
    std::int64_t count = 0;                             // generator: how many, where the run sets no limit

    // Changes to the records of a file, in this order: see arrange_records().
    std::vector<std::string> unnest;
    std::string prepare;
    std::string where;
    std::vector<std::string> equals;
    std::string sort_by;

    Place place;  // of the table
    Place unnest_place, prepare_place, where_place, sort_place;
};

struct Record {
    Json fields;   // an object; of lines: {"line": the line}, of wikitext: {"page": the article}
    int line = 0;  // in the file, from 1; of a json array and of a generator: the record's number
};

struct Records {
    std::string file;  // for messages
    std::vector<Record> items;
};

// Where to look for files, beside the data mirror, and what a generator needs to know of the run.
struct RecordContext {
    std::filesystem::path task_folder;  // of the task's file
    std::filesystem::path base_folder;
    std::int64_t embedded_seed = 1;
    std::int64_t limit = 0;  // number of records from generators; 0: the source's count
};

// Errors: config, with place, for a missing file and for a record that is not an object, not UTF-8 or malformed.
Records load_records(const RecordSource& source, const RecordContext& context);

// The file of a source that has one. Errors: config, naming the places that were looked at.
std::filesystem::path find_records_file(const RecordSource& source, const std::filesystem::path& task_folder,
                                        const std::filesystem::path& base_folder);

// Whether there is such a file.
bool records_are_here(const RecordSource& source, const RecordContext& context);

// Text in one of the formats above, arranged.
Records parse_records(const RecordSource& source, const std::string& text, const std::string& file);

// unnest: the dotted names of lists, outer ones first. Each item of the list becomes a record of its own, in which the
// item replaces the list, with all other fields around it. prepare: fields added by prepared_fields.h.
// where: only records in which that field is one of `equals`. sort_by: by the text of that field.
// Errors: config, for a field that is missing, or to be unnested and not a list.
void arrange_records(const RecordSource& source, Records& records);

}  // namespace deft::experiments

namespace deft {

template <>
struct EnumNames<experiments::RecordFormat> {
    using enum experiments::RecordFormat;
    static constexpr EnumName<experiments::RecordFormat> all[] = {
        {jsonl, "jsonl"}, {json, "json"}, {tsv, "tsv"}, {lines, "lines"}, {wikitext, "wikitext"}};
};

template <>
struct EnumNames<experiments::RecordGenerator> {
    using enum experiments::RecordGenerator;
    static constexpr EnumName<experiments::RecordGenerator> all[] = {{embedded_questions, "embedded_questions"},
                                                                     {embedded_last_words, "embedded_last_words"}};
};

}  // namespace deft
