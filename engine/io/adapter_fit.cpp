// An adapter under the names and in the row order of the model that it is put on.
//
// GGUF names tensors otherwise than Hugging Face does, and for the architectures of kNeighbours its converter
// reorders the rows of the query and key projections: within each head, row j of the first half and row j of
// the second become neighbours, which is how these architectures' rope turns them there:
//   GGUF row  h * dim + 2 j + half  is  row  h * dim + half * dim/2 + j  of Hugging Face.
// For W + s B A that is the order of B's rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "engine/io/model_file.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr std::array<std::string_view, 6> kNeighbours = {"llama",   "mistral", "mistral3",
                                                         "mixtral", "granite", "smollm3"};

struct Names {
  std::string_view hugging_face, gguf;
};
constexpr std::array kOutside = {Names{"model.embed_tokens", "token_embd"},
                                 Names{"model.norm", "output_norm"}, Names{"lm_head", "output"}};
constexpr std::array kInLayer = {
    Names{"self_attn.q_proj", "attn_q"},      Names{"self_attn.k_proj", "attn_k"},
    Names{"self_attn.v_proj", "attn_v"},      Names{"self_attn.o_proj", "attn_output"},
    Names{"self_attn.qkv_proj", "attn_qkv"},  Names{"self_attn.q_norm", "attn_q_norm"},
    Names{"self_attn.k_norm", "attn_k_norm"}, Names{"mlp.gate_proj", "ffn_gate"},
    Names{"mlp.up_proj", "ffn_up"},           Names{"mlp.down_proj", "ffn_down"},
    Names{"mlp.gate_up_proj", "ffn_up"},      Names{"input_layernorm", "attn_norm"}};
constexpr std::string_view kLayer = "model.layers.", kBlock = "blk.";

/// One name in the other naming; as it is when it has no counterpart.
std::string translated(std::string name, bool to_gguf) {
  if (to_gguf && name.starts_with("layers.")) name.insert(0, "model.");  // of a model without its head
  const auto from = [&](const Names& names) { return to_gguf ? names.hugging_face : names.gguf; };
  const auto to = [&](const Names& names) { return to_gguf ? names.gguf : names.hugging_face; };
  const size_t ending = name.rfind('.');  // ".weight", ".bias"
  if (ending == std::string::npos) return name;
  const std::string_view module = std::string_view(name).substr(0, ending);
  for (const Names& names : kOutside)
    if (module == from(names)) return std::string(to(names)) + name.substr(ending);
  const std::string_view layer = to_gguf ? kLayer : kBlock;
  if (!module.starts_with(layer)) return name;
  const size_t dot = module.find('.', layer.size());
  if (dot == std::string_view::npos) return name;
  const std::string_view number = module.substr(layer.size(), dot - layer.size());
  for (const Names& names : kInLayer)
    if (module.substr(dot + 1) == from(names))
      return fmt::format("{}{}.{}{}", to_gguf ? kBlock : kLayer, number, to(names), name.substr(ending));
  return name;
}

/// Heads whose rows the tensor of this GGUF name holds in neighbours' order; 0 when it does not.
Result<int64_t> reordered_heads(const ModelFile& model, const std::string& gguf_name) {
  const bool query = gguf_name.ends_with(".attn_q.weight"), key = gguf_name.ends_with(".attn_k.weight");
  if (!query && !key) return 0;
  if (std::find(kNeighbours.begin(), kNeighbours.end(), model.architecture) == kNeighbours.end()) return 0;
  const bool gguf = model.format == Format::gguf;
  const std::string prefix = gguf ? model.architecture + ".attention." : "";
  const std::string all = prefix + (gguf ? "head_count" : "num_attention_heads");
  const std::string shared = prefix + (gguf ? "head_count_kv" : "num_key_value_heads");
  const auto heads = model.metadata.integer(key && model.metadata.find(shared) ? shared : all);
  if (!heads || *heads < 1)
    return unsupported("The model does not say how many heads it has, so the adapter cannot be put on it",
                       model.path.string(), "merge the adapter into its model with PEFT first");
  return *heads;
}

/// The bytes of a matrix with the rows of each head in the other order.
Result<std::vector<std::byte>> reordered(const Tensor& matrix, int64_t heads, bool to_gguf,
                                         const std::string& where) {
  const int64_t rows = matrix.shape[0], dim = rows / heads, half = dim / 2;
  if (heads > rows || rows % (2 * heads) != 0)
    return Error{ErrorCode::shape_mismatch,
                 fmt::format("The adapter's tensor {} has {} rows, which are not {} heads",
                             shown(matrix.name), rows, heads),
                 where, "choose an adapter that was made for this model"};
  const size_t row_bytes = matrix.data.size() / static_cast<size_t>(rows);
  std::vector<std::byte> bytes(matrix.data.size());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t head = row / dim, in_head = row % dim;
    const int64_t neighbour = head * dim + 2 * (in_head % half) + in_head / half;  // where GGUF has this row
    const auto from = static_cast<size_t>(to_gguf ? row : neighbour),
               to = static_cast<size_t>(to_gguf ? neighbour : row);
    std::memcpy(bytes.data() + to * row_bytes, matrix.data.data() + from * row_bytes, row_bytes);
  }
  return bytes;
}

Result<std::shared_ptr<const Adapter>> translate(const ModelFile& model, const Adapter& adapter) {
  const bool to_gguf = model.format == Format::gguf;
  auto fitted = std::make_shared<Adapter>(adapter);
  fitted->gguf_names = to_gguf;
  for (Tensor& whole : fitted->whole) whole.name = translated(whole.name, to_gguf);
  for (Adapter::LowRank& low_rank : fitted->low_rank) {
    const std::string gguf_name = to_gguf ? translated(low_rank.target, true) : low_rank.target;
    low_rank.target = translated(low_rank.target, to_gguf);
    ORRERY_ASSIGN(const int64_t heads, reordered_heads(model, gguf_name));
    if (heads == 0) continue;
    ORRERY_ASSIGN(auto bytes, reordered(low_rank.b, heads, to_gguf, adapter.path.string()));
    fitted->reordered.push_back(std::move(bytes));
    low_rank.b.data = fitted->reordered.back();
  }
  return std::shared_ptr<const Adapter>(std::move(fitted));
}

/// An adapter of a model without its head names "layers.0..." what the file calls "model.layers.0...".
std::shared_ptr<const Adapter> with_model_prefix(const ModelFile& model,
                                                 std::shared_ptr<const Adapter> adapter) {
  constexpr std::string_view kModel = "model.";
  const auto lacks_it = [&](const std::string& name) {
    return !model.find(name) && model.find(std::string(kModel) + name);
  };
  const bool any = std::any_of(adapter->low_rank.begin(), adapter->low_rank.end(),
                               [&](const Adapter::LowRank& low_rank) { return lacks_it(low_rank.target); });
  if (!any) return adapter;
  auto fitted = std::make_shared<Adapter>(*adapter);
  for (Adapter::LowRank& low_rank : fitted->low_rank)
    if (lacks_it(low_rank.target)) low_rank.target.insert(0, kModel);
  for (Tensor& whole : fitted->whole)
    if (lacks_it(whole.name)) whole.name.insert(0, kModel);
  return fitted;
}

}  // namespace

Result<std::shared_ptr<const Adapter>> fit_adapter(const ModelFile& model,
                                                   std::shared_ptr<const Adapter> adapter) {
  if (adapter->gguf_names != (model.format == Format::gguf)) return translate(model, *adapter);
  return with_model_prefix(model, std::move(adapter));
}

}  // namespace orrery::io
