// The work of ops: what a shape says is what the buffers of its case hold.

#include "kernels/work.h"

#include <fstream>
#include <sstream>
#include <string>

#include "kernels/cases/all.h"
#include "kernels/cases/run.h"
#include "tests/catch.h"

namespace deft::kernels::cases {
namespace {

// Every buffer once for reading and once for writing.
template <class Real>
double bytes_of_buffers(const OpCase& op) {
    double bytes = 0;
    for (const Buffer& buffer : op.buffers)
        bytes += static_cast<double>(stored_bytes<Real>(buffer)) * (buffer.role == Role::update ? 2 : 1);
    return bytes;
}

// It reads or writes a part of a buffer: some rows, or heads with gaps between them.
bool takes_rows(const OpCase& op) {
    const auto has = [&](const char* text) { return op.name.find(text) != std::string::npos; };
    return has("indexed") || has("rope ") || has("cache_rows") || has(" first") || has("embedding") || has(" keys ") ||
           has(" apart") || has(" spare") || has("sum_ranks") || (has("head_loss") && !has("all targets"));
}

TEST_CASE("the bytes of an op are those of its buffers, each read once and written once") {
    int counted = 0;
    for (const OpCase& op : all_cases(1)) {
        if (takes_rows(op)) continue;
        INFO(op.name);
        CHECK(op.bytes == bytes_of_buffers<float>(op));
        CHECK(op.bf16_bytes == bytes_of_buffers<bf16>(op));
        ++counted;
    }
    CHECK(counted > 100);
}

TEST_CASE("the work of a product and of rows taken through an index, by hand") {
    const Work linear = linear_forward_work(3, 4, 5, true, true);
    CHECK(linear.flops == 2 * 3 * 4 * 5);
    CHECK(linear.bytes(2, 4) == 2 * (3 * 4 + 4 * 5 + 5 + 2 * 3 * 5));
    const Work gradient = linear_backward_weight_work(3, 4, 5, true, Accumulate::yes);
    CHECK(gradient.bytes(2, 4) == 2 * (3 * 4 + 3 * 5) + 4 * 2 * (4 * 5 + 5));
    // 6 of a stream's rows: read, written as they are and normalised; two statistics, an index; weight and bias.
    const Work norm = norm_forward_work(6, 7, true, NormKind::layer);
    CHECK(norm.flops == 8 * 6 * 7);
    CHECK(norm.bytes(2, 4) == 2 * (3 * 6 * 7 + 2 * 7) + 4 * 2 * 6 + 4 * 6);
    const Work rms = norm_forward_work(6, 7, false, NormKind::rms);  // a square, a sum and two products a value
    CHECK(rms.flops == 4 * 6 * 7);
    CHECK(rms.bytes(2, 4) == 2 * (2 * 6 * 7 + 7) + 4 * 6);
    // Rows put back alone are read and written, and nothing is added.
    const Work put_back = residual_forward_work(6, 7, true, false), added = residual_forward_work(6, 7, false, true);
    CHECK(put_back.flops == 0);
    CHECK(put_back.bytes(2, 4) == 2 * 2 * 6 * 7 + 4 * 6);
    CHECK(added.flops == 6 * 7);
    CHECK(added.bytes(2, 4) == 2 * 3 * 6 * 7);
    CHECK(linear_flops(1 << 20, 1 << 20, 1 << 24) == std::ldexp(1.0, 65));
    // Two sums a value; two other ranks' values, and this one's, which is read and written.
    CHECK(sum_ranks_work(5, 3, 8).flops == 2 * 5);
    CHECK(sum_ranks_work(5, 3, 8).bytes(2, 4) == 8 * 4 * 5);
}

TEST_CASE("the work of attention, by hand") {
    AttentionSpec spec{.B = 3, .Tq = 5, .Tk = 7, .H = 6, .Hkv = 2, .d = 9};
    // A product: 3 samples of 6 heads of 9 columns, 5 queries with 7 keys, a product and a sum each.
    CHECK(attention_forward_work(spec, false, 0).flops == 2 * (2 * 3 * 6 * 9 * 35));
    CHECK(attention_backward_work(spec, false, 0).flops == 5 * (2 * 3 * 6 * 9 * 35));
    // Queries and output 3 x 5 x 54, keys and values 3 x 7 x 18, a statistic for each of 3 x 6 x 5.
    const Work forward = attention_forward_work(spec, false, 0);
    CHECK(forward.bytes(2, 4) == 2 * (2 * 810 + 2 * 378) + 4 * 90);
    CHECK(forward.bytes(8, 8) == 8 * (2 * 810 + 2 * 378 + 90));
    // Their gradients too.
    CHECK(attention_backward_work(spec, false, 0).bytes(2, 4) == 2 * (4 * 810 + 4 * 378) + 4 * 90);

    // The first of the queries is at key 2: they see 3, 4, 5, 6 and 7 keys.
    spec.causal = true;
    CHECK(attention_forward_work(spec, false, 0).flops == 2 * (2 * 3 * 6 * 9 * (3 + 4 + 5 + 6 + 7)));
    CHECK(attention_backward_work(spec, false, 0).flops == 5 * (2 * 3 * 6 * 9 * (3 + 4 + 5 + 6 + 7)));
    CHECK(attention_forward_work(spec, false, 0).bytes(2, 4) == forward.bytes(2, 4));

    // Three lengths, three numbers of draws; a place for each of 3 x 7 tokens.
    CHECK(attention_forward_work(spec, true, 0).other == 4 * 3);
    spec.dropout.p = 0.1;
    CHECK(attention_forward_work(spec, false, 0).other == 8 * 3);
    spec.Tq = 7;
    CHECK(attention_backward_work(spec, true, 11).other == 4 * 3 + 4 * (3 + 1) + 8 * 3);
}

TEST_CASE("the work of an embedding, by hand") {
    // 3 x 5 positions of 7 columns: by ids from 11 rows, of which no more than all are read, and from 29, of which they
    // may name 15; by position 5 of 9 rows.
    EmbeddingTableShapes tables{{{11}, {29}, {9, false}}, 3};
    const Work forward = embedding_forward_work(tables, 3, 5, 7);
    CHECK(forward.flops == 2 * 105);
    CHECK(forward.bytes(2, 4) == 2 * (105 + (11 + 15 + 5) * 7) + 4 * 2 * 15);
    // Gradients that are written have zeros in rows that no position takes.
    const Work written_over = embedding_backward_work(tables, 3, 5, 7);
    CHECK(written_over.flops == 3 * 105);
    CHECK(written_over.bytes(2, 4) == 2 * 105 + 4 * (11 + 29 + 9) * 7 + 4 * 2 * 15);
    for (EmbeddingTableShape& table : tables.table) table.accumulate = Accumulate::yes;
    CHECK(embedding_backward_work(tables, 3, 5, 7).bytes(2, 4) == 2 * 105 + 4 * 2 * (11 + 15 + 5) * 7 + 4 * 2 * 15);
    // One table is copied from.
    const EmbeddingTableShapes one{{{11}}, 1};
    CHECK(embedding_forward_work(one, 3, 5, 7).flops == 0);
    CHECK(embedding_backward_work(one, 3, 5, 7).flops == 105);
}

TEST_CASE("the work of an optimizer, by hand") {
    // AdamW reads a gradient, and reads and writes a weight and two moments; SGD has one moment less.
    CHECK(adamw_update_work(11, false, 4).bytes(2, 4) == 4 * 7 * 11 + 2 * 8);
    CHECK(adamw_update_work(11, false, 2).bytes(2, 4) == 4 * 3 * 11 + 2 * 4 * 11 + 2 * 8);
    CHECK(sgd_update_work(11, false, 4).bytes(2, 4) == 4 * 5 * 11 + 2 * 8);
    CHECK(sgd_update_work(11, true, 4).bytes(2, 4) == 4 * 5 * 11 + 2 * 11 + 2 * 8);
    CHECK(sgd_update_work(11, true, 2).bytes(2, 4) == 4 * 3 * 11 + 2 * 2 * 11 + 2 * 11 + 2 * 8);
    CHECK(sgd_update_work(11, true, 4).flops == 7 * 11);  // clip, decay, momentum and step: 4 products, 3 sums
}

TEST_CASE("the work of the head, by hand") {
    // 13 rows of 5 columns, of which 3 have a target among 7 tokens: 3 x 5 values read, 13 x 5 gradients and 13 losses
    // written, 13 targets read.
    const Work train = head_loss_train_work(13, 3, 5, 7, false, Accumulate::no);
    CHECK(train.flops == 3 * (2 * 3 * 5 * 7));
    CHECK(train.bytes(2, 4) == 2 * (15 + 65 + 35) + 4 * (13 + 35) + 4 * 13);
    const Work added = head_loss_train_work(13, 3, 5, 7, true, Accumulate::yes);
    CHECK(added.flops == train.flops);
    CHECK(added.bytes(2, 4) == 2 * (15 + 65 + 35 + 7) + 4 * (13 + 2 * (35 + 7)) + 4 * 13);
    const Work evaluate = head_loss_work(13, 3, 5, 7, false, false);
    CHECK(evaluate.flops == 2 * 3 * 5 * 7);
    CHECK(evaluate.bytes(2, 4) == 2 * (15 + 35) + 4 * 13 + 4 * 13);
    CHECK(head_loss_work(13, 3, 5, 7, true, true).bytes(2, 4) == 2 * (15 + 35 + 7) + 4 * 13 + 2 * 4 * 13);
}

std::string text_of_source(const std::string& path) {
    std::ifstream file(DEFT_SOURCE_DIR "/" + path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST_CASE("every op of kernels/ops.h states its work") {
    const std::string ops = text_of_source("kernels/ops.h"), work = text_of_source("kernels/work.h");
    const std::string start = "\nvoid ";
    int counted = 0;
    for (std::size_t at = ops.find(start); at != std::string::npos; at = ops.find(start, at + 1)) {
        const std::size_t name = at + start.size();
        const std::string op = ops.substr(name, ops.find('(', name) - name);
        INFO(op);
        const std::string counted_as = op == "select_kept_tokens" ? "select_random_tokens" : op;  // by its keys
        CHECK(work.find("inline Work " + counted_as + "_work(") != std::string::npos);
        ++counted;
    }
    CHECK(counted > 50);
}

}  // namespace
}  // namespace deft::kernels::cases
