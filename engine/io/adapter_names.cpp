#include "engine/io/adapter_names.h"

#include "engine/io/model_file.h"

#include <array>
#include <optional>
#include <span>

namespace orrery::io {
namespace {

struct Names {
  std::string_view folder, gguf;
};
constexpr Names kDecoderOutside[] = {
    {"model.embed_tokens", "token_embd"}, {"model.norm", "output_norm"}, {"lm_head", "output"}};
constexpr Names kDecoderLayer[] = {{"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
                                   {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
                                   {"self_attn.qkv_proj", "attn_qkv"},  {"self_attn.q_norm", "attn_q_norm"},
                                   {"self_attn.k_norm", "attn_k_norm"}, {"mlp.gate_proj", "ffn_gate"},
                                   {"mlp.up_proj", "ffn_up"},           {"mlp.down_proj", "ffn_down"},
                                   {"mlp.gate_up_proj", "ffn_up"},      {"input_layernorm", "attn_norm"}};
constexpr Names kGpt2Outside[] = {{"transformer.wte", "token_embd"},
                                  {"transformer.wpe", "position_embd"},
                                  {"transformer.ln_f", "output_norm"},
                                  {"lm_head", "output"}};
constexpr Names kGpt2Layer[] = {{"attn.c_attn", "attn_qkv"},
                                {"attn.c_proj", "attn_output"},
                                {"mlp.c_fc", "ffn_up"},
                                {"mlp.c_proj", "ffn_down"}};
constexpr Names kBertOutside[] = {
    {"embeddings.word_embeddings", "token_embd"}, {"pooler.dense", "cls"}, {"classifier", "cls.output"}};
constexpr Names kRobertaOutside[] = {{"embeddings.word_embeddings", "token_embd"},
                                     {"classifier.dense", "cls"},
                                     {"classifier.out_proj", "cls.output"}};
constexpr Names kBertLayer[] = {{"attention.self.query", "attn_q"},
                                {"attention.self.key", "attn_k"},
                                {"attention.self.value", "attn_v"},
                                {"attention.output.dense", "attn_output"},
                                {"attention.output.LayerNorm", "attn_output_norm"},
                                {"intermediate.dense", "ffn_up"},
                                {"output.dense", "ffn_down"},
                                {"output.LayerNorm", "layer_output_norm"}};
constexpr Names kDistilBertOutside[] = {
    {"embeddings.word_embeddings", "token_embd"}, {"pre_classifier", "cls"}, {"classifier", "cls.output"}};
constexpr Names kDistilBertLayer[] = {{"attention.q_lin", "attn_q"}, {"attention.k_lin", "attn_k"},
                                      {"attention.v_lin", "attn_v"}, {"attention.out_lin", "attn_output"},
                                      {"ffn.lin1", "ffn_up"},        {"ffn.lin2", "ffn_down"}};
constexpr Names kModernBertOutside[] = {{"embeddings.tok_embeddings", "token_embd"},
                                        {"head.dense", "cls"},
                                        {"head.norm", "cls.norm"},
                                        {"classifier", "cls.output"}};
constexpr Names kModernBertLayer[] = {
    {"attn.Wqkv", "attn_qkv"}, {"attn.Wo", "attn_output"}, {"mlp.Wi", "ffn_up"}, {"mlp.Wo", "ffn_down"}};

/// Architectures of the same names; `headless`: the layers of a model that was saved without its head.
struct Family {
  std::string_view layers, headless;
  std::span<const Names> outside, in_layer;
};
constexpr Family kDecoder{"model.layers.", "layers.", kDecoderOutside, kDecoderLayer};
constexpr Family kGpt2{"transformer.h.", "h.", kGpt2Outside, kGpt2Layer};
constexpr Family kBert{"encoder.layer.", "", kBertOutside, kBertLayer};
constexpr Family kRoberta{"encoder.layer.", "", kRobertaOutside, kBertLayer};
constexpr Family kDistilBert{"transformer.layer.", "", kDistilBertOutside, kDistilBertLayer};
constexpr Family kModernBert{"layers.", "", kModernBertOutside, kModernBertLayer};
constexpr std::array kFamilies = {kDecoder, kGpt2, kBert, kRoberta, kDistilBert, kModernBert};
constexpr std::string_view kBlock = "blk.";

const Family& family_of(std::string_view architecture) {
  if (architecture == "gpt2") return kGpt2;
  if (architecture == "distilbert") return kDistilBert;
  if (architecture == "modernbert") return kModernBert;
  for (const std::string_view encoder : {"bert", "electra"})
    if (architecture == encoder) return kBert;
  for (const std::string_view encoder : {"roberta", "xlm-roberta", "camembert"})
    if (architecture == encoder) return kRoberta;
  return kDecoder;
}

/// "12.attn.c_attn" -> "12" and "attn.c_attn".
struct InLayer {
  std::string_view number, part;
};
std::optional<InLayer> in_layer(std::string_view module, std::string_view layers) {
  if (layers.empty() || !module.starts_with(layers)) return std::nullopt;
  module.remove_prefix(layers.size());
  const size_t dot = module.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return InLayer{module.substr(0, dot), module.substr(dot + 1)};
}

std::string joined(std::string_view layers, const InLayer& at, std::string_view part) {
  return std::string(layers).append(at.number).append(".").append(part);
}

std::optional<std::string> to_gguf(std::string_view module, const Family& family) {
  for (const Names& names : family.outside)
    if (module == names.folder) return std::string(names.gguf);
  for (const std::string_view layers : {family.layers, family.headless})
    if (const auto at = in_layer(module, layers))
      for (const Names& names : family.in_layer)
        if (at->part == names.folder) return joined(kBlock, *at, names.gguf);
  return std::nullopt;
}

std::optional<std::string> to_folder(std::string_view module, const Family& family) {
  for (const Names& names : family.outside)
    if (module == names.gguf) return std::string(names.folder);
  if (const auto at = in_layer(module, kBlock))
    for (const Names& names : family.in_layer)
      if (at->part == names.gguf) return joined(family.layers, *at, names.folder);
  return std::nullopt;
}

/// The module without ".weight" or ".bias", which both namings share.
std::string_view module_of(std::string_view name) { return name.substr(0, name.rfind('.')); }
std::string_view ending_of(std::string_view name) { return name.substr(module_of(name).size()); }

}  // namespace

std::string gguf_name_of(const std::string& name) {
  for (const Family& family : kFamilies)
    if (auto module = to_gguf(module_of(name), family)) return module->append(ending_of(name));
  return name;
}

std::string folder_name_of(const std::string& gguf_name, std::string_view architecture) {
  auto module = to_folder(module_of(gguf_name), family_of(architecture));
  return module ? module->append(ending_of(gguf_name)) : gguf_name;
}

bool may_be_same_tensor(std::string_view a, std::string_view b) {
  const auto known = [](std::string_view name) {
    name = without_encoder_prefix(name);
    for (const std::string_view prefix : {"model.", "transformer."})
      if (name.starts_with(prefix) && gguf_name_of(std::string(name)) == name)
        name.remove_prefix(prefix.size());
    return gguf_name_of(std::string(name));
  };
  return a == b || known(a) == known(b);
}

}  // namespace orrery::io
