#include "tests/engine/models/fake_files.h"

#include <cstdlib>

namespace orrery::models::test {

void set_tensor(io::ModelFile& file, const std::string& name, std::vector<int64_t> shape, DType dtype) {
  const auto found = file.by_name.find(name);
  if (found != file.by_name.end()) {
    file.tensors[found->second].shape = std::move(shape);
    file.tensors[found->second].dtype = dtype;
    return;
  }
  file.by_name[name] = file.tensors.size();
  file.tensors.push_back({name, dtype, std::move(shape), {}});
}

void remove_tensor(io::ModelFile& file, const std::string& name) {
  std::erase_if(file.tensors, [&](const io::Tensor& tensor) { return tensor.name == name; });
  file.by_name.clear();
  for (size_t i = 0; i < file.tensors.size(); ++i) file.by_name[file.tensors[i].name] = i;
}

io::ModelFile fake_llama(int64_t layers) {
  io::ModelFile file;
  file.format = io::Format::gguf;
  file.path = "fake.gguf";
  file.architecture = "llama";
  const std::pair<const char*, int64_t> sizes[] = {
      {"block_count", layers},      {"context_length", 128},     {"embedding_length", 64},
      {"feed_forward_length", 128}, {"attention.head_count", 4}, {"attention.head_count_kv", 2}};
  for (const auto& [key, value] : sizes) file.metadata.set(std::string("llama.") + key, value);
  file.metadata.set("llama.attention.layer_norm_rms_epsilon", 1e-5);
  set_tensor(file, "token_embd.weight", {100, 64}, DType::q8_0);
  for (int64_t layer = 0; layer < layers; ++layer) {
    const std::string at = "blk." + std::to_string(layer) + ".";
    set_tensor(file, at + "attn_norm.weight", {64});
    set_tensor(file, at + "attn_q.weight", {64, 64}, DType::q4_0);
    set_tensor(file, at + "attn_k.weight", {32, 64}, DType::q4_0);
    set_tensor(file, at + "attn_v.weight", {32, 64}, DType::q8_0);
    set_tensor(file, at + "attn_output.weight", {64, 64}, DType::q4_0);
    set_tensor(file, at + "ffn_norm.weight", {64});
    set_tensor(file, at + "ffn_gate.weight", {128, 64}, DType::q4_0);
    set_tensor(file, at + "ffn_up.weight", {128, 64}, DType::q4_0);
    set_tensor(file, at + "ffn_down.weight", {64, 128}, DType::q8_0);
  }
  set_tensor(file, "output_norm.weight", {64});
  set_tensor(file, "output.weight", {100, 64}, DType::q8_0);
  return file;
}

io::ModelFile fake_hugging_face_llama() {
  io::ModelFile file;
  file.format = io::Format::hugging_face_folder;
  file.path = "fake";
  file.architecture = "llama";
  const std::pair<const char*, int64_t> sizes[] = {
      {"num_hidden_layers", 1},   {"max_position_embeddings", 128}, {"hidden_size", 64},
      {"intermediate_size", 128}, {"num_attention_heads", 4},       {"num_key_value_heads", 2}};
  for (const auto& [key, value] : sizes) file.metadata.set(key, value);
  file.metadata.set("rms_norm_eps", 1e-5);
  file.metadata.set("rope_theta", int64_t{500000});
  const std::string at = "model.layers.0.";
  set_tensor(file, "model.embed_tokens.weight", {100, 64}, DType::bf16);
  set_tensor(file, at + "input_layernorm.weight", {64}, DType::bf16);
  set_tensor(file, at + "self_attn.q_proj.weight", {64, 64}, DType::bf16);
  set_tensor(file, at + "self_attn.k_proj.weight", {32, 64}, DType::bf16);
  set_tensor(file, at + "self_attn.v_proj.weight", {32, 64}, DType::bf16);
  set_tensor(file, at + "self_attn.o_proj.weight", {64, 64}, DType::bf16);
  set_tensor(file, at + "post_attention_layernorm.weight", {64}, DType::bf16);
  set_tensor(file, at + "mlp.gate_proj.weight", {128, 64}, DType::bf16);
  set_tensor(file, at + "mlp.up_proj.weight", {128, 64}, DType::bf16);
  set_tensor(file, at + "mlp.down_proj.weight", {64, 128}, DType::bf16);
  set_tensor(file, "model.norm.weight", {64}, DType::bf16);
  return file;
}

io::ModelFile fake_bert() {
  io::ModelFile file;
  file.format = io::Format::hugging_face_folder;
  file.path = "fake";
  file.architecture = "bert";
  const std::pair<const char*, int64_t> sizes[] = {
      {"num_hidden_layers", 2},        {"hidden_size", 64},
      {"num_attention_heads", 4},      {"intermediate_size", 128},
      {"max_position_embeddings", 32}, {"vocab_size", 100},
      {"type_vocab_size", 2}};
  for (const auto& [key, value] : sizes) file.metadata.set(key, value);
  file.metadata.set("layer_norm_eps", 1e-12);
  file.metadata.set("hidden_act", std::string("gelu"));
  const auto dense = [&](const std::string& name, int64_t rows, int64_t cols) {
    set_tensor(file, name + ".weight", {rows, cols});
    set_tensor(file, name + ".bias", {rows});
  };
  const auto norm = [&](const std::string& name) {
    set_tensor(file, name + ".weight", {64});
    set_tensor(file, name + ".bias", {64});
  };
  set_tensor(file, "bert.embeddings.word_embeddings.weight", {100, 64});
  set_tensor(file, "bert.embeddings.position_embeddings.weight", {32, 64});
  set_tensor(file, "bert.embeddings.token_type_embeddings.weight", {2, 64});
  norm("bert.embeddings.LayerNorm");
  for (const std::string at : {"bert.encoder.layer.0.", "bert.encoder.layer.1."}) {
    for (const char* part : {"query", "key", "value"}) dense(at + "attention.self." + part, 64, 64);
    dense(at + "attention.output.dense", 64, 64);
    norm(at + "attention.output.LayerNorm");
    dense(at + "intermediate.dense", 128, 64);
    dense(at + "output.dense", 64, 128);
    norm(at + "output.LayerNorm");
  }
  return file;
}

std::filesystem::path models_folder() {
  if (const char* folder = std::getenv("ORRERY_MODELS")) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "orrery/models";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home ? home : "") / ".cache/orrery/models";
}

std::string refusal(const io::ModelFile& file, const io::Adapter* adapter) {
  const auto model = build(file, adapter);
  return model.ok() ? "" : model.error().to_string();
}

const graph::Node& node_at(const graph::Graph& graph, std::string_view path) {
  const NodeId id = graph.find_path(path);
  EXPECT_TRUE(id.valid()) << path;
  return graph.node(id.valid() ? id : graph.order().front());
}

std::string type_at(const graph::Graph& graph, std::string_view path) {
  const graph::ValueType& type = graph.value(node_at(graph, path).outputs.front()).type;
  return std::string(name_of(type.dtype)) + to_string(type.shape);
}

std::vector<std::string> inputs_at(const graph::Graph& graph, std::string_view path) {
  std::vector<std::string> paths;
  for (const ValueId input : node_at(graph, path).inputs)
    paths.push_back(input.valid() ? graph.node(graph.value(input).producer).path() : "");
  return paths;
}

}  // namespace orrery::models::test
