#pragma once
// A table is one value with many renderers.

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deft::reporting {

enum class Align { left, right };

struct Column {
    std::string title;  // may hold line breaks
    Align align = Align::right;
    bool begins_block = false;   // where one line does not hold all columns
    bool published = false;      // holds what a paper printed, not what was measured here
    std::string raw_unit = {};   // of the values where their texts carry a unit of their own, as in "33.1s"
    bool is_cost = false;        // a part of what a row cost, or their sum
    std::string variances = {};  // what a test says of equal variances over its rows: "p 0.012"
    std::string caveat = {};     // a few words below the title on what all its numbers lack: "at chance"
    std::string csv_title = {};  // the title in CSV files, where it differs; it never changes
    std::string id = {};         // in JSON: it does not change with the title. Empty: of tables that have no JSON
};

// The content of one place of a table; most cells are text alone.
struct Cell {
    std::string text;              // as people read it
    std::string aside;             // the end of the text that may move below the rest where room is scarce: "1.00x"
    std::optional<double> value;   // the number that the text rounds
    std::optional<double> spread;  // standard deviation over seeds
    std::string published;         // the paper's own digits, where the value is a paper's
    std::string trace;             // the value's trials, as `deft show` takes them
    std::string flag;              // why the value must not be taken at face value; empty: nothing against it
    bool stated = false;           // somebody says so, and nothing here measured it
    std::string doubt = {};        // why a paper's number is not verified; empty: its source was read
    bool is_best = false;          // it may be the best of its column, within the uncertainty of the seeds
    std::string stale =
        {};  // why it would be another today, as reporting/analysis/results/stale.h says; empty: nothing known

    Cell() = default;
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
    Cell(std::string words, double number) : text(std::move(words)), value(number) {}
    bool operator==(const Cell&) const = default;
};

// The text with the marks of a flagged, stale, stated or unverified value after it.
std::string marked_text(const Cell& cell);

// The same where a renderer has no grey: parentheses enclose a flagged number.
std::string plain_marked_text(const Cell& cell);

// The title with its caveat as a line below it.
std::string marked_title(const Column& column);

// A number with all its digits.
Cell exact_cell(double value);

struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;    // as many cells as columns
    std::vector<std::string> notes;         // printed below
    std::size_t key_columns = 1;            // the first ones, which identify rows: they lead every block
    std::vector<std::string> row_ids = {};  // of each row in JSON, beside its cells; empty: the rows have none
};

// Fits the width by dropping nothing: columns that do not fit continue in further blocks. width 0: as wide as needed.
std::string render_terminal(const Table&, int width);
// A GitHub table, padded so that its source can be read as well.
std::string render_markdown(const Table&);
// RFC 4180 with raw numbers instead of printed ones, their units in the titles, and plain words there: no arrows. What
// marks say of a row has columns of its own: flag, best and stated with the titles of such numbers, unverified with
// their titles and reasons, stale with the reasons and what they are of. No cell of it is a formula to a spreadsheet.
std::string render_csv(const Table&);
// A table environment for the booktabs package, or a longtable where a page is too short; several where it is too
// narrow for all columns. Notes follow.
std::string render_latex(const Table&);
// {"schema": "deft-report/1", "caption", "columns", "rows", "row_ids", "notes"}; NaN and infinity as strings.
std::string render_json(const Table&);
// A <table> in a box of its own that scrolls where the page is too narrow. The caller brings the style sheet.
std::string render_html(const Table&);

// A wide table's columns in groups, each led by the columns that identify rows.

using Block = std::vector<std::size_t>;  // columns

// One block up to each column that begins one, however wide.
std::vector<Block> page_blocks(const Table& table);

// As many columns a block as fit `width`; all in one where it is 0 or they fit. Columns: `widths`, `gap` between them.
// A published column follows the measured one on its left, never in the next block.
std::vector<Block> fitting_blocks(const Table& table, const std::vector<int>& widths, int gap, int width);

}  // namespace deft::reporting
