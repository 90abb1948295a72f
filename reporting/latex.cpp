#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "reporting/blocks.h"
#include "reporting/table.h"
#include "reporting/text.h"

namespace deft::reporting {

namespace {

// Characters of the footnote size that stand side by side in a column of the article class, and those that a column's
// margins take.
constexpr int kWidth = 80, kGap = 2;

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

// What the tables themselves print; Latin letters are left to LaTeX, which reads UTF-8. Others depend on the font.
std::string escaped_unicode(std::uint32_t code, std::string_view bytes) {
    switch (code) {
        case 0xB1:
            return "$\\pm$";
        case 0xD7:
            return "$\\times$";
        case 0x2020:
            return "$\\dagger$";
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

// Lines of a title stand one above the other.
std::string stacked(const Column& column) {
    const std::vector<std::string_view> lines = lines_of(column.title);
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
        for (const std::string_view line : lines_of(table.columns[column].title))
            width = std::max(width, display_width(line));
        for (const std::vector<Cell>& row : table.rows)
            if (column < row.size()) width = std::max(width, display_width(marked_text(row[column])));
        widths.push_back(width);
    }
    return widths;
}

std::string row_text(const std::vector<std::string>& cells) {
    return fmt::format("{} \\\\\n", fmt::join(cells, " & "));
}

std::string block_text(const Table& table, const std::vector<std::size_t>& block) {
    std::string aligns;
    std::vector<std::string> cells;
    for (const std::size_t column : block) {
        aligns += table.columns[column].align == Align::right ? 'r' : 'l';
        cells.push_back(stacked(table.columns[column]));
    }
    std::string out = fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n", aligns) + row_text(cells) + "\\midrule\n";
    for (const std::vector<Cell>& row : table.rows) {
        cells.clear();
        for (const std::size_t column : block)
            cells.push_back(column < row.size() ? escaped(marked_text(row[column])) : "");
        out += row_text(cells);
    }
    return out + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace

// A float each: one of all blocks would be taller than a page.
std::string render_latex(const Table& table) {
    std::string out = "% needs \\usepackage{booktabs}\n";
    if (table.columns.empty()) return out;
    bool first = true;
    for (const Block& block : fitting_blocks(table, widths_of(table), kGap, kWidth)) {
        out += "\\begin{table}\n\\centering\n\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n";
        if (!table.caption.empty())
            out += fmt::format("\\caption{{{}{}}}\n", escaped(table.caption), first ? "" : " (continued)");
        out += block_text(table, block) + "\\end{table}\n";
        first = false;
    }
    if (table.notes.empty()) return out;
    out += "{\\footnotesize\\raggedright\n";
    for (const std::string& note : table.notes) out += escaped(note) + "\\par\n";
    return out + "}\n";
}

}  // namespace deft::reporting
