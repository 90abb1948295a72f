#include "reporting/views/render/table_json.h"

#include <utility>

#include "base/json.h"

namespace deft::reporting {

namespace {

OrderedJson cell_json(const Cell& cell) {
    OrderedJson json = {{"text", cell.text}};
    if (cell.value) json["value"] = json_number(*cell.value);
    if (cell.spread) json["spread"] = json_number(*cell.spread);
    if (!cell.published.empty()) json["published"] = cell.published;
    if (!cell.trace.empty()) json["trace"] = cell.trace;
    if (!cell.flag.empty()) json["flag"] = cell.flag;
    if (cell.is_best) json["best"] = true;
    if (!cell.stale.empty()) json["stale"] = cell.stale;
    if (cell.stated) json["stated"] = true;
    if (!cell.doubt.empty()) {
        json["verified"] = false;
        json["reason"] = cell.doubt;
    }
    return json;
}

}  // namespace

OrderedJson table_json(const Table& table) {
    OrderedJson columns = OrderedJson::array(), rows = OrderedJson::array();
    for (const Column& column : table.columns) {
        columns.push_back({{"title", column.title}, {"published", column.published}});
        if (!column.id.empty()) columns.back()["id"] = column.id;
        if (!column.caveat.empty()) columns.back()["caveat"] = column.caveat;
    }
    for (const std::vector<Cell>& row : table.rows) {
        OrderedJson cells = OrderedJson::array();
        for (const Cell& cell : row) cells.push_back(cell_json(cell));
        rows.push_back(std::move(cells));
    }
    OrderedJson json = {{"schema", "deft-report/1"},        {"caption", table.caption},
                        {"columns", std::move(columns)},    {"rows", std::move(rows)},
                        {"key_columns", table.key_columns}, {"notes", table.notes}};
    if (!table.row_ids.empty()) json["row_ids"] = table.row_ids;
    return json;
}

std::string render_json(const Table& table) {
    return json_text(table_json(table));
}

}  // namespace deft::reporting
