#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

// Characters of the footnote size that fit side by side in a column of the article class, and those that a column's
// margins take.
constexpr int kPageWidth = 80, kPageGap = 2;
// Rows of the footnote size that a page holds beside a caption and a head of three lines.
constexpr std::size_t kPageRows = 45;

std::string escaped_ascii(char c) {
    switch (c) {
        case '\\':
            return "\\textbackslash{}";
        case '~':
            return "\\textasciitilde{}";
        case '^':
            return "\\textasciicircum{}";
        case '<':
            return "\\textless{}";
        case '>':
            return "\\textgreater{}";
        case '|':
            return "\\textbar{}";
        case '"':
            return "\\textquotedblright{}";
        case '&':
        case '%':
        case '$':
        case '#':
        case '_':
        case '{':
        case '}':
            return std::string("\\") + c;
        case '[':
        case ']':
            return std::string("{") + c + "}";  // after \\ a bracket would be an argument
        case '-':
            return "{-}";  // -- would be a dash of another length
        case '*':
            return "{*}";
        default:
            return std::string(1, c);
    }
}

// Characters that the tables themselves print; Latin letters are left to LaTeX, which reads UTF-8. Others depend on the
// font.
std::string escaped_unicode(std::uint32_t code, std::string_view bytes) {
    switch (code) {
        case 0xA7:
            return "\\S{}";
        case 0xB1:
            return "$\\pm$";
        case 0xB6:
            return "\\P{}";
        case 0xD7:
            return "$\\times$";
        case 0x2020:
            return "$\\dagger$";
        case 0x2021:
            return "$\\ddagger$";
        case 0x2191:
            return "$\\uparrow$";
        case 0x2193:
            return "$\\downarrow$";
        case 0x2212:
            return "$-$";
        default:
            break;
    }
    const bool latin_letter = code >= 0xC0 && code <= 0x17F && code != 0xF7;
    return latin_letter ? std::string(bytes) : fmt::format("{{[}}U+{:04X}{{]}}", code);
}

std::string escaped(std::string_view raw) {
    const std::string text = printable(raw);
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const Utf8Character character = decode_utf8(text, at);
        const std::string_view bytes = std::string_view(text).substr(at, character.bytes);
        out += character.code < 0x80 ? escaped_ascii(text[at]) : escaped_unicode(character.code, bytes);
        at += character.bytes;
    }
    return out;
}

std::string latex_text(const Cell& cell) {
    const std::string text = escaped(marked_text(cell));
    if (!cell.flag.empty()) return "\\textcolor{gray}{" + text + "}";
    return cell.is_best ? "\\textbf{" + text + "}" : text;
}

// Lines of a title are stacked.
std::string stacked(const Column& column) {
    const std::string title = marked_title(column);
    const std::vector<std::string_view> lines = lines_of(title);
    if (lines.size() == 1) return escaped(lines.front());
    std::string out = column.align == Align::right ? "\\shortstack[r]{" : "\\shortstack[l]{";
    for (std::size_t i = 0; i < lines.size(); ++i) out += (i > 0 ? "\\\\" : "") + escaped(lines[i]);
    return out + "}";
}

// The longest line of each column, in characters.
std::vector<int> widths_of(const Table& table) {
    std::vector<int> widths;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        int width = 0;
        const std::string title = marked_title(table.columns[column]);
        for (const std::string_view line : lines_of(title)) width = std::max(width, display_width(line));
        for (const std::vector<Cell>& row : table.rows)
            if (column < row.size()) width = std::max(width, display_width(marked_text(row[column])));
        widths.push_back(width);
    }
    return widths;
}

std::string row_text(const std::vector<std::string>& cells) {
    return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

// "lrr", and the titles between their rules.
struct Head {
    std::string aligns, text;
};
Head head_of(const Table& table, const Block& block) {
    Head head;
    std::vector<std::string> cells;
    for (const std::size_t column : block) {
        head.aligns += table.columns[column].align == Align::right ? 'r' : 'l';
        cells.push_back(stacked(table.columns[column]));
    }
    head.text = "\\toprule\n" + row_text(cells) + "\\midrule\n";
    return head;
}

std::string rows_text(const Table& table, const Block& block) {
    std::string out;
    for (const std::vector<Cell>& row : table.rows) {
        std::vector<std::string> cells;
        for (const std::size_t column : block) cells.push_back(column < row.size() ? latex_text(row[column]) : "");
        out += row_text(cells);
    }
    return out;
}

bool has_grey(const Table& table) {
    return std::any_of(table.rows.begin(), table.rows.end(), [](const std::vector<Cell>& row) {
        return std::any_of(row.begin(), row.end(), [](const Cell& cell) { return !cell.flag.empty(); });
    });
}

// On one page.
std::string float_text(const Table& table, const Block& block, const std::string& caption) {
    const Head head = head_of(table, block);
    std::string out = "\\begin{table}\n\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n";
    if (!caption.empty()) out += fmt::format("\\caption{{{}}}\n", caption);
    out += fmt::format("\\begin{{tabular}}{{{}}}\n", head.aligns) + head.text + rows_text(table, block);
    return out + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

// Over as many pages as its rows take, each with the head.
std::string long_text(const Table& table, const Block& block, const std::string& caption) {
    const Head head = head_of(table, block);
    std::string out = "{\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n";
    out += fmt::format("\\begin{{longtable}}{{{}}}\n", head.aligns);
    if (!caption.empty()) out += fmt::format("\\caption{{{}}}\\\\\n", caption);
    out += head.text + "\\endfirsthead\n" + head.text + "\\endhead\n\\bottomrule\n\\endfoot\n";
    return out + rows_text(table, block) + "\\end{longtable}\n}\n";
}

}  // namespace

// One of all blocks would be taller than a page.
std::string render_latex(const Table& table) {
    const bool is_long = table.rows.size() > kPageRows;
    std::string out = fmt::format("% needs \\usepackage{{booktabs{}{}}}\n", is_long ? ",longtable" : "",
                                  has_grey(table) ? ",xcolor" : "");
    if (table.columns.empty()) return out;
    std::string caption = escaped(table.caption);
    for (const Block& block : fitting_blocks(table, widths_of(table), kPageGap, kPageWidth)) {
        out += is_long ? long_text(table, block, caption) : float_text(table, block, caption);
        if (!table.caption.empty()) caption = escaped(table.caption) + " (continued)";
    }
    if (table.notes.empty()) return out;
    out += "{\\footnotesize\\raggedright\n";
    for (const std::string& note : table.notes) out += escaped(note) + "\\par\n";
    return out + "}\n";
}

}  // namespace deft::reporting
