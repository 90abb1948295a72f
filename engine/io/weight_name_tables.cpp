#include "engine/io/weight_name_tables.h"

#include <string_view>

namespace deft::engine {

namespace {

const NameTable& gpt2_table() {
    static const NameTable table = {
        "GPT-2 of Hugging Face",
        "transformer.",
        {
            {"wte.weight", {"transformer.wte.weight"}},
            {"wpe.weight", {"transformer.wpe.weight"}},
            {"h.#.ln_1.*", {"transformer.h.#.ln_1.*"}},
            {"h.#.attn.c_attn.weight", {"transformer.h.#.attn.c_attn.weight"}, StoredAs::transposed},
            {"h.#.attn.c_attn.bias", {"transformer.h.#.attn.c_attn.bias"}},
            {"h.#.attn.c_proj.weight", {"transformer.h.#.attn.c_proj.weight"}, StoredAs::transposed},
            {"h.#.attn.c_proj.bias", {"transformer.h.#.attn.c_proj.bias"}},
            {"h.#.ln_2.*", {"transformer.h.#.ln_2.*"}},
            {"h.#.mlp.c_fc.weight", {"transformer.h.#.mlp.c_fc.weight"}, StoredAs::transposed},
            {"h.#.mlp.c_fc.bias", {"transformer.h.#.mlp.c_fc.bias"}},
            {"h.#.mlp.c_proj.weight", {"transformer.h.#.mlp.c_proj.weight"}, StoredAs::transposed},
            {"h.#.mlp.c_proj.bias", {"transformer.h.#.mlp.c_proj.bias"}},
            {"ln_f.*", {"transformer.ln_f.*"}},
            {"lm_head.weight", {"lm_head.weight"}},
        },
        {"lm_head.weight"},
        {".attn.bias", ".attn.masked_bias"},
        {"lm_head.", "score.", "multiple_choice_head.", "classifier.", "qa_outputs."}};
    return table;
}

const NameTable& bert_table() {
    static const NameTable table = {
        "BERT of Hugging Face",
        "bert.",
        {
            {"wte.weight", {"bert.embeddings.word_embeddings.weight"}},
            {"wpe.weight", {"bert.embeddings.position_embeddings.weight"}},
            {"wse.weight", {"bert.embeddings.token_type_embeddings.weight"}},
            {"ln_e.*", {"bert.embeddings.LayerNorm.*"}},
            {"h.#.attn.c_attn.*",
             {"bert.encoder.layer.#.attention.self.query.*", "bert.encoder.layer.#.attention.self.key.*",
              "bert.encoder.layer.#.attention.self.value.*"}},
            {"h.#.attn.c_proj.*", {"bert.encoder.layer.#.attention.output.dense.*"}},
            {"h.#.ln_1.*", {"bert.encoder.layer.#.attention.output.LayerNorm.*"}},
            {"h.#.mlp.c_fc.*", {"bert.encoder.layer.#.intermediate.dense.*"}},
            {"h.#.mlp.c_proj.*", {"bert.encoder.layer.#.output.dense.*"}},
            {"h.#.ln_2.*", {"bert.encoder.layer.#.output.LayerNorm.*"}},
            {"lm_head.dense.*", {"cls.predictions.transform.dense.*"}},
            {"lm_head.ln.*", {"cls.predictions.transform.LayerNorm.*"}},
            {"lm_head.weight", {"cls.predictions.decoder.weight"}},
            {"lm_head.bias", {"cls.predictions.bias"}},
            {"pooler.*", {"bert.pooler.dense.*"}},
            {"class_head.*", {"cls.seq_relationship.*"}},
        },
        {"cls.predictions.decoder.weight"},
        {"embeddings.position_ids", "embeddings.token_type_ids"},
        {"cls.", "pooler.", "classifier.", "qa_outputs."}};
    return table;
}

const NameTable& vit_table() {
    static const NameTable table = {
        "ViT of Hugging Face",
        "vit.",
        {
            {"patch.weight", {"vit.embeddings.patch_embeddings.projection.weight"}, StoredAs::convolution},
            {"patch.bias", {"vit.embeddings.patch_embeddings.projection.bias"}},
            {"class_token.weight", {"vit.embeddings.cls_token"}, StoredAs::token},
            {"wpe.weight", {"vit.embeddings.position_embeddings"}, StoredAs::batched},
            {"h.#.ln_1.*", {"vit.encoder.layer.#.layernorm_before.*"}},
            {"h.#.attn.c_attn.*",
             {"vit.encoder.layer.#.attention.attention.query.*", "vit.encoder.layer.#.attention.attention.key.*",
              "vit.encoder.layer.#.attention.attention.value.*"}},
            {"h.#.attn.c_proj.*", {"vit.encoder.layer.#.attention.output.dense.*"}},
            {"h.#.ln_2.*", {"vit.encoder.layer.#.layernorm_after.*"}},
            {"h.#.mlp.c_fc.*", {"vit.encoder.layer.#.intermediate.dense.*"}},
            {"h.#.mlp.c_proj.*", {"vit.encoder.layer.#.output.dense.*"}},
            {"ln_f.*", {"vit.layernorm.*"}},
            {"class_head.*", {"classifier.*"}},
        },
        {},
        {"embeddings.mask_token"},
        {"classifier.", "pooler.", "decoder."}};
    return table;
}

const NameTable& llama_table() {
    static const NameTable table = {
        "Llama of Hugging Face",
        "model.",
        {
            {"wte.weight", {"model.embed_tokens.weight"}},
            {"h.#.ln_1.weight", {"model.layers.#.input_layernorm.weight"}},
            {"h.#.attn.c_attn.*",
             {"model.layers.#.self_attn.q_proj.*", "model.layers.#.self_attn.k_proj.*",
              "model.layers.#.self_attn.v_proj.*"}},
            {"h.#.attn.c_proj.*", {"model.layers.#.self_attn.o_proj.*"}},
            {"h.#.ln_2.weight", {"model.layers.#.post_attention_layernorm.weight"}},
            {"h.#.mlp.c_fc.*", {"model.layers.#.mlp.gate_proj.*", "model.layers.#.mlp.up_proj.*"}},
            {"h.#.mlp.c_proj.*", {"model.layers.#.mlp.down_proj.*"}},
            {"ln_f.weight", {"model.norm.weight"}},
            {"lm_head.weight", {"lm_head.weight"}},
        },
        {"lm_head.weight"},
        {"rotary_emb.inv_freq"},
        {"lm_head.", "score.", "qa_outputs."}};
    return table;
}

// A Llama whose feed-forward parts are experts.
const NameTable& mixtral_table() {
    static const NameTable table = [] {
        NameTable changed = llama_table();
        changed.family = "Mixtral of Hugging Face";
        std::erase_if(changed.rows,
                      [](const NameRow& row) { return std::string_view(row.ours).starts_with("h.#.mlp."); });
        changed.rows.push_back({"h.#.mlp.gate.weight", {"model.layers.#.block_sparse_moe.gate.weight"}});
        changed.rows.push_back({"h.#.mlp.experts.c_fc.weight",
                                {"model.layers.#.block_sparse_moe.experts.@.w1.weight",
                                 "model.layers.#.block_sparse_moe.experts.@.w3.weight"}});
        changed.rows.push_back(
            {"h.#.mlp.experts.c_proj.weight", {"model.layers.#.block_sparse_moe.experts.@.w2.weight"}});
        return changed;
    }();
    return table;
}

// Their names are made of ours by a rule.
const NameTable& own_table() {
    static const NameTable table = {"deft", "transformer.", {}, {}, {}, {"lm_head.", "pooler.", "class_head."}};
    return table;
}

const NameTable& plain_table() {
    static const NameTable table = {"llm.c", "", {}, {}, {}, {}};
    return table;
}

}  // namespace

const NameTable& name_table(WeightNames names) {
    switch (names) {
        case WeightNames::gpt2:
            return gpt2_table();
        case WeightNames::bert:
            return bert_table();
        case WeightNames::vit:
            return vit_table();
        case WeightNames::llama:
            return llama_table();
        case WeightNames::mixtral:
            return mixtral_table();
        case WeightNames::plain:
            return plain_table();
        case WeightNames::own:
            break;
    }
    return own_table();
}

}  // namespace deft::engine
