#include "sweeps/cli/product_paths.h"

#include <algorithm>

#include "base/json.h"
#include "reporting/numbers.h"

namespace deft::cli {

using kernels::cuda::ProductRecord;

reporting::Table product_paths_table(const std::vector<engine::ProfiledOp>& ops) {
    using reporting::Align;
    struct Row {
        std::string op;
        ProductRecord product;
    };
    std::vector<Row> rows;
    for (const engine::ProfiledOp& op : ops)
        for (const ProductRecord& product : op.products) rows.push_back({op.op, product});
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.product.flops > b.product.flops; });
    reporting::Table table;
    table.caption = "Matrix products of this step: layout m x n x k, types, and the path that each takes";
    table.columns = {{"op", Align::left}, {"product", Align::left}, {"calls"}, {"FLOPs"}, {"path", Align::left}};
    for (const Row& row : rows)
        table.rows.push_back({row.op, row.product.shape.text(), std::to_string(row.product.calls),
                              reporting::si(row.product.flops), row.product.path_text()});
    return table;
}

Json plan_counts_json(const kernels::cuda::PlanCounts& plans) {
    return {{"lookups", plans.lookups}, {"hits", plans.hits},     {"searches", plans.searches},
            {"tuned", plans.tuned},     {"checks", plans.checks}, {"refused", plans.refused}};
}

Json product_paths_json(const std::vector<ProductRecord>& products) {
    Json json = {{"products", Json::array()}, {"fallbacks", to_json(large_fallbacks(products))}};
    for (const ProductRecord& product : products) json["products"].push_back(to_json(product));
    return json;
}

}  // namespace deft::cli
