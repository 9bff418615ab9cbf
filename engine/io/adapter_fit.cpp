// An adapter under the names and in the order of the model that it is put on.
//
// GGUF names tensors otherwise than Hugging Face does (adapter_names.h), and for the architectures of
// kNeighbours its converter reorders the rows of the query and key projections: within each head, row j of
// the first half and row j of the second become neighbours, which is how these architectures' rope turns them
// there:
//   GGUF row  h * dim + 2 j + half  is  row  h * dim + half * dim/2 + j  of Hugging Face.
// For W + s B A that is the order of B's rows. Folders of GPT-2 keep W transposed: there W' + s A' B' is due,
// whatever fan_in_fan_out says (PEFT, too, goes by the layer's kind).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/io/adapter_names.h"
#include "engine/io/model_file.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr std::array<std::string_view, 6> kNeighbours = {"llama",   "mistral", "mistral3",
                                                         "mixtral", "granite", "smollm3"};

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
  const auto translated = [&](const std::string& name) {
    return to_gguf ? gguf_name_of(name) : folder_name_of(name, model.architecture);
  };
  for (Tensor& whole : fitted->whole) whole.name = translated(whole.name);
  for (Adapter::LowRank& low_rank : fitted->low_rank) {
    const std::string gguf_name = to_gguf ? gguf_name_of(low_rank.target) : low_rank.target;
    low_rank.target = translated(low_rank.target);
    ORRERY_ASSIGN(const int64_t heads, reordered_heads(model, gguf_name));
    if (heads == 0) continue;
    ORRERY_ASSIGN(auto bytes, reordered(low_rank.b, heads, to_gguf, adapter.path.string()));
    fitted->reordered.push_back(std::move(bytes));
    low_rank.b.data = fitted->reordered.back();
  }
  return std::shared_ptr<const Adapter>(std::move(fitted));
}

/// The name as the model has it: saved with or without its head, it leaves a prefix out.
std::string as_the_model_has_it(const ModelFile& model, const std::string& name) {
  if (model.find(name)) return name;
  for (const std::string_view prefix : {"model.", "transformer."}) {
    if (const std::string longer = std::string(prefix) + name; model.find(longer)) return longer;
    if (name.starts_with(prefix) && model.find(name.substr(prefix.size()))) return name.substr(prefix.size());
  }
  return name;
}

std::shared_ptr<const Adapter> with_the_models_prefix(const ModelFile& model,
                                                      std::shared_ptr<const Adapter> adapter) {
  const auto is_right = [&](const std::string& name) { return as_the_model_has_it(model, name) == name; };
  if (std::all_of(adapter->low_rank.begin(), adapter->low_rank.end(),
                  [&](const Adapter::LowRank& low_rank) { return is_right(low_rank.target); }) &&
      std::all_of(adapter->whole.begin(), adapter->whole.end(),
                  [&](const Tensor& whole) { return is_right(whole.name); }))
    return adapter;
  auto fitted = std::make_shared<Adapter>(*adapter);
  for (Adapter::LowRank& low_rank : fitted->low_rank)
    low_rank.target = as_the_model_has_it(model, low_rank.target);
  for (Tensor& whole : fitted->whole) whole.name = as_the_model_has_it(model, whole.name);
  return fitted;
}

/// The matrix's transpose; its bytes are kept in `kept`.
Tensor transposed(const Tensor& matrix, std::vector<std::vector<std::byte>>& kept) {
  const auto rows = static_cast<size_t>(matrix.shape[0]), cols = static_cast<size_t>(matrix.shape[1]);
  const size_t element = matrix.data.size() / std::max<size_t>(rows * cols, 1);
  std::vector<std::byte>& bytes = kept.emplace_back(matrix.data.size());
  for (size_t row = 0; row < rows; ++row)
    for (size_t col = 0; col < cols; ++col)
      std::memcpy(bytes.data() + (col * rows + row) * element,
                  matrix.data.data() + (row * cols + col) * element, element);
  Tensor result = matrix;
  result.shape = {matrix.shape[1], matrix.shape[0]};
  result.data = bytes;
  return result;
}

/// Whether a folder keeps this tensor as (inputs, outputs).
bool is_stored_transposed(const ModelFile& model, std::string_view tensor) {
  return model.format != Format::gguf && model.architecture == "gpt2" &&
         (tensor.ends_with(".c_attn.weight") || tensor.ends_with(".c_proj.weight") ||
          tensor.ends_with(".c_fc.weight"));
}

std::shared_ptr<const Adapter> with_the_models_sides(const ModelFile& model,
                                                     std::shared_ptr<const Adapter> adapter) {
  const auto turned = [&](const Adapter::LowRank& low_rank) {
    return is_stored_transposed(model, low_rank.target);
  };
  if (std::none_of(adapter->low_rank.begin(), adapter->low_rank.end(), turned)) return adapter;
  auto fitted = std::make_shared<Adapter>(*adapter);
  for (Adapter::LowRank& low_rank : fitted->low_rank)
    if (turned(low_rank)) {
      const Tensor a = transposed(low_rank.b, fitted->reordered);
      low_rank.b = transposed(low_rank.a, fitted->reordered);
      low_rank.a = a;
    }
  return fitted;
}

}  // namespace

Result<std::shared_ptr<const Adapter>> fit_adapter(const ModelFile& model,
                                                   std::shared_ptr<const Adapter> adapter) {
  if (adapter->gguf_names != (model.format == Format::gguf)) {
    ORRERY_ASSIGN(adapter, translate(model, *adapter));
  }
  return with_the_models_sides(model, with_the_models_prefix(model, std::move(adapter)));
}

}  // namespace orrery::io
