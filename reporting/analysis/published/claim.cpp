#include "reporting/analysis/published/claim.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/suggestion.h"
#include "base/table_reader.h"
#include "reporting/analysis/published/published.h"
#include "reporting/analysis/scores/quantity_value.h"
#include "results_db/row_name.h"

namespace deft::reporting {

namespace {

// The keys that a kind needs beside the rows.
struct KindRule {
    ClaimKind kind;
    const char* name;
    bool has_margin;
    const char* amount;  // its key; null: none
    double above, most;  // what the amount lies between
};

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

constexpr KindRule kRules[] = {
    {ClaimKind::no_worse, "no_worse", true, nullptr, 0, 0},
    {ClaimKind::better, "better", false, nullptr, 0, 0},
    {ClaimKind::best_in_column, "best_in_column", true, nullptr, 0, 0},
    {ClaimKind::equal_within, "equal_within", true, nullptr, 0, 0},
    {ClaimKind::at_most_fraction, "at_most_fraction", false, "fraction", 0, 1},
    {ClaimKind::times_as_fast, "times_as_fast", false, "times", 1, kNoLimit},
    {ClaimKind::closes_gap, "closes_gap", false, "share", 0, 1},
};

const KindRule& rule_of(ClaimKind kind) {
    return *std::find_if(std::begin(kRules), std::end(kRules), [&](const KindRule& rule) { return rule.kind == kind; });
}

const KindRule& read_kind(TableReader& reader) {
    const std::string name = reader.required<std::string>("kind");
    std::vector<std::string> names;
    for (const KindRule& rule : kRules) names.emplace_back(rule.name);
    reader.require_one_of("kind", name, names);
    return *std::find_if(std::begin(kRules), std::end(kRules), [&](const KindRule& rule) { return rule.name == name; });
}

// A table in the claim that must be there, with its name for messages.
TableReader child(TableReader& reader, const char* key) {
    const ConfigNode* node = reader.optional_node(key);
    if (node == nullptr) reader.refuse(key, "is missing", fmt::format("write {} = {{ ... }}", key));
    return {*node, reader.name(key)};
}

void require_absent(TableReader& claim, const char* key, const std::string& why) {
    if (claim.optional_node(key) != nullptr) claim.refuse(key, why, "leave it out");
}

ClaimedRow read_row_name(TableReader& claim, const char* key, const PublishedTable& table) {
    TableReader reader = child(claim, key);
    ClaimedRow row{reader.required_text("case"), reader.required<double>("budget_fraction")};
    reader.finish();
    if (table.find(row.recipe, row.budget_fraction) != nullptr) return row;
    std::vector<std::string> recipes, rows;
    for (const PublishedRow& of : table.rows) {
        recipes.push_back(of.recipe);
        if (of.recipe == row.recipe) rows.push_back(fmt::format("{:g}", of.budget_fraction));
    }
    if (!rows.empty())
        reader.refuse("budget_fraction",
                      fmt::format("is {:g}, and the table has no such row of {}", row.budget_fraction, row.recipe),
                      fmt::format("it has {}", fmt::join(rows, ", ")));
    std::sort(recipes.begin(), recipes.end());
    recipes.erase(std::unique(recipes.begin(), recipes.end()), recipes.end());
    reader.refuse("case", fmt::format("is '{}', which the table has no row of", row.recipe),
                  suggestion(row.recipe, recipes));
}

bool is_same(const ClaimedRow& a, const ClaimedRow& b) {
    return a.recipe == b.recipe && results_db::same_budget(a.budget_fraction, b.budget_fraction);
}

void read_rows(TableReader& reader, const PublishedTable& table, Claim& claim) {
    claim.of = read_row_name(reader, "of", table);
    if (claim.kind == ClaimKind::best_in_column)
        require_absent(reader, "against", "is not asked for: the row is compared with all others of the column");
    else
        claim.against = read_row_name(reader, "against", table);
    if (claim.against && is_same(claim.of, *claim.against))
        reader.refuse("against", "is the row that the claim is of", "name another row");
    if (claim.kind != ClaimKind::closes_gap) {
        require_absent(reader, "from",
                       fmt::format("is of the kind closes_gap, and this claim is {}", to_text(claim.kind)));
        return;
    }
    claim.from = read_row_name(reader, "from", table);
    if (is_same(claim.of, *claim.from)) reader.refuse("from", "is the row that the claim is of", "name another row");
    const bool less = claim.from->budget_fraction < claim.against->budget_fraction;
    if (claim.from->recipe != claim.against->recipe || !less)
        reader.refuse("from", fmt::format("must be {} with less data", claim.against->recipe),
                      "the gap lies between the two");
}

void read_amount(TableReader& reader, const KindRule& rule, Claim& claim) {
    for (const KindRule& other : kRules) {
        if (other.amount == nullptr) continue;
        if (rule.amount == nullptr || std::string(rule.amount) != other.amount)
            require_absent(reader, other.amount,
                           fmt::format("is of the kind {}, and this claim is {}", other.name, rule.name));
    }
    if (rule.amount == nullptr) return;
    claim.amount = reader.required<double>(rule.amount);
    if (claim.amount > rule.above && claim.amount <= rule.most) return;
    const std::string range = rule.most == kNoLimit ? fmt::format("must be above {:g}", rule.above)
                                                    : fmt::format("must lie in ({:g}, {:g}]", rule.above, rule.most);
    reader.refuse(rule.amount, fmt::format("is {:g} and {}", claim.amount, range));
}

// The quantities that a kind can be judged by.
void require_fit(const TableReader& reader, const char* key, ClaimKind kind, const Quantity& quantity) {
    const bool is_resource = quantity.kind == Quantity::Kind::resource;
    if (kind == ClaimKind::at_most_fraction && !(is_resource && better_of(quantity) == "lower"))
        reader.refuse(key, fmt::format("'{}' is nothing that training takes", to_text(quantity)),
                      "at_most_fraction needs a resource, as in \"train hours\"");
    if (kind == ClaimKind::times_as_fast && (!is_from_seconds(quantity) || quantity.name == "cost usd"))
        reader.refuse(key, fmt::format("'{}' is not a speed", to_text(quantity)),
                      "times_as_fast needs \"train hours\", a throughput, or a score read off a clock");
}

const PublishedColumn& claimed_column(const TableReader& reader, const std::string& key, const PublishedTable& table) {
    if (const PublishedColumn* column = table.column(key)) return *column;
    std::vector<std::string> known;
    for (const PublishedColumn& column : table.columns) known.push_back(column.key);
    reader.refuse("column", fmt::format("is '{}', which the table does not have", key), suggestion(key, known));
}

void require_printed(const TableReader& reader, const PublishedColumn& column, const Claim& claim,
                     const PublishedTable& table) {
    for (const std::optional<ClaimedRow>& named : {std::optional(claim.of), claim.against, claim.from}) {
        if (!named) continue;
        const PublishedRow& row = *table.find(named->recipe, named->budget_fraction);
        if (row.find(column.key) == nullptr)
            reader.refuse("column", fmt::format("is {}, of which {} prints no number", column.key, row.name()),
                          "claim a column that the paper prints");
    }
}

// A column of the table, or a quantity that the table has no column for.
ClaimScale read_scale(TableReader& claim_reader, const char* key, const KindRule& rule, const Claim& claim,
                      const PublishedTable& table) {
    TableReader reader = child(claim_reader, key);
    ClaimScale scale;
    if (reader.optional_node("not_judged") != nullptr) {
        scale.not_judged = reader.required_text("not_judged");
        reader.finish();
        return scale;
    }
    const bool by_column = reader.optional_node("column") != nullptr;
    if (by_column == (reader.optional_node("measures") != nullptr))
        claim_reader.refuse(key, "must name either a column or what it measures",
                            "write column = \"...\" or measures = \"...\"");
    if (by_column) {
        const PublishedColumn& column = claimed_column(reader, reader.required<std::string>("column"), table);
        if (!column.measures)
            reader.refuse("column", fmt::format("is {}, which nothing measures: {}", column.key, column.not_measured),
                          "name what judges it in measures");
        require_printed(reader, column, claim, table);
        scale.column = column.key;
        scale.quantity = *column.measures;
        scale.unit = column.unit;
    } else {
        scale.quantity = parse_quantity(reader.required<std::string>("measures"), reader.place("measures"));
        scale.unit = reader.required_text("unit");
    }
    scale.better = better_of(scale.quantity);
    require_fit(reader, by_column ? "column" : "measures", claim.kind, scale.quantity);
    if (rule.has_margin) {
        scale.margin = reader.required<double>("margin");
        if (!(scale.margin > 0)) reader.refuse("margin", fmt::format("is {:g} and must be above 0", scale.margin));
    } else {
        require_absent(reader, "margin", fmt::format("is not of the kind {}", rule.name));
    }
    reader.finish();
    return scale;
}

std::string read_id(TableReader& reader, const PublishedTable& table) {
    const std::string id = reader.required_text("id");
    if (id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
        reader.refuse("id", fmt::format("is '{}'", id), "use small letters, digits and underscores");
    for (const Claim& other : table.claims)
        if (other.id == id) reader.refuse("id", fmt::format("is '{}', and another claim has it", id), "ids are unique");
    return id;
}

}  // namespace

std::string to_text(ClaimKind kind) {
    return rule_of(kind).name;
}

Claim read_claim(const ConfigNode& node, const PublishedTable& table) {
    TableReader reader(node, "claim");
    Claim claim;
    claim.id = read_id(reader, table);
    claim.statement = reader.required_text("statement");
    claim.source = reader.required_text("source");
    const KindRule& rule = read_kind(reader);
    claim.kind = rule.kind;
    read_rows(reader, table, claim);
    read_amount(reader, rule, claim);
    std::string method = "pooled";
    reader.optional("method", method);
    reader.require_one_of("method", method, {"pooled", "paired"});
    claim.method = method == "paired" ? ContrastMethod::paired : ContrastMethod::pooled;
    claim.paper = read_scale(reader, "paper", rule, claim, table);
    claim.proxy = read_scale(reader, "proxy", rule, claim, table);
    if (!claim.paper.not_judged.empty() && !claim.proxy.not_judged.empty())
        reader.refuse("proxy", "is not judged, and neither is paper", "name what judges the claim at one of them");
    reader.finish();
    return claim;
}

}  // namespace deft::reporting
