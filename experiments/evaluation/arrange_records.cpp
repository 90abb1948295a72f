// Changes to a file's records before prompts are made of them.

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "experiments/evaluation/prepared_fields.h"
#include "experiments/evaluation/records.h"
#include "experiments/evaluation/text_template.h"

namespace deft::experiments {

namespace {

Records unnested(Records&& records, const std::string& path, const Place& place) {
    Records result{records.file, {}};
    for (Record& record : records.items) {
        // The record is ours to change; field_at() has the errors.
        Json& slot = const_cast<Json&>(field_at(records, record, path, place));
        if (!slot.is_array())
            throw Error(ErrorKind::config, place,
                        fmt::format("field '{}' of the record at {}:{} is {}, not a list whose items become records",
                                    path, records.file, record.line, slot.type_name()),
                        "name a list, or leave unnest out");
        Json list = std::move(slot);
        for (Json& item : list) {
            slot = std::move(item);
            result.items.push_back(record);
        }
    }
    return result;
}

// Keeps only the records in which a field has one of the wanted values.
void keep_where(const RecordSource& source, Records& records) {
    std::erase_if(records.items, [&](const Record& record) {
        const std::string value = value_text(field_at(records, record, source.where, source.where_place));
        return std::find(source.equals.begin(), source.equals.end(), value) == source.equals.end();
    });
}

void sort_records(const RecordSource& source, Records& records) {
    std::vector<std::pair<std::string, std::size_t>> order;
    for (std::size_t i = 0; i < records.items.size(); ++i)
        order.emplace_back(value_text(field_at(records, records.items[i], source.sort_by, source.sort_place)), i);
    std::sort(order.begin(), order.end());
    std::vector<Record> sorted;
    for (const auto& [key, index] : order) sorted.push_back(std::move(records.items[index]));
    records.items = std::move(sorted);
}

}  // namespace

void arrange_records(const RecordSource& source, Records& records) {
    for (const std::string& path : source.unnest) records = unnested(std::move(records), path, source.unnest_place);
    if (const Preparation* preparation = find_preparation(source.prepare))
        for (Record& record : records.items) preparation->apply(records, record, source.prepare_place);
    if (!source.where.empty()) keep_where(source, records);
    if (!source.sort_by.empty()) sort_records(source, records);
}

}  // namespace deft::experiments
