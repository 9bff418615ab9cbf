// PEFT LoRA adapters: adapter_config.json and adapter_model.safetensors, as PEFT's save_pretrained writes
// them.
//
//   base_model.model.<MODULE>.lora_A.weight (r, cols), <MODULE>.lora_B.weight (rows, r)
//   base_model.model.<MODULE>.weight, .bias: whole tensors of modules_to_save
//   Older files put the adapter's name between: lora_A.default.weight, modules_to_save.default.weight.
//   scale = lora_alpha / r, or lora_alpha / sqrt(r) with use_rslora; r is the tensors' own
// Names are kept without "base_model.model." and without an encoder's prefix (without_encoder_prefix). DoRA,
// embeddings' adapters and alphas by pattern are refused: merging would be wrong.
#include <fmt/format.h>

#include <array>
#include <map>

#include "engine/io/adapter_parts.h"
#include "engine/io/hf_config.h"
#include "engine/io/reader.h"
#include "engine/io/tensor_file.h"

namespace orrery::io {
namespace {

constexpr std::array<std::string_view, 8> kEncoderPrefixes = {
    "bert.", "distilbert.", "roberta.", "xlm_roberta.", "electra.", "albert.", "mpnet.", "camembert."};

Result<LoraScale> read_settings(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const Metadata config, read_json_file(path));
  const auto refuse = [&](std::string_view what) {
    return unsupported(fmt::format("The adapter {}", what), path.string(),
                       "merge it into its model with PEFT first");
  };
  const std::string* type = config.text("peft_type");
  if (!type || *type != "LORA") return refuse("is not of the type LORA");
  if (config.flag("use_dora").value_or(false)) return refuse("uses DoRA");
  for (const auto& [key, value] : config.all())
    if (key.starts_with("alpha_pattern.")) return refuse("has alphas by pattern");
  const std::optional<double> alpha = config.number("lora_alpha");
  if (!alpha || !is_usable_alpha(*alpha))
    return corrupt("lora_alpha is missing or no usable number", path.string());
  const std::optional<int64_t> rank = config.integer("r");
  if (!rank || *rank < 1 || *rank > 65536) return corrupt("r is missing or no usable rank", path.string());
  return LoraScale{*alpha, config.flag("use_rslora").value_or(false)};
}

/// "x.lora_A.default.weight" -> "x.lora_A.weight": what stands between two markers is the adapter's name.
std::string without_adapter_name(const std::string& name, std::string_view marker) {
  const size_t begin = name.find(marker);
  if (begin == std::string::npos) return name;
  const size_t after = begin + marker.size();
  if (name.compare(after, std::string::npos, "weight") == 0 ||
      name.compare(after, std::string::npos, "bias") == 0)
    return name;
  const size_t dot = name.find('.', after);
  return dot == std::string::npos ? name : name.substr(0, after) + name.substr(dot + 1);
}

std::string base_name(std::string_view stored) {
  constexpr std::string_view kWrapper = "base_model.model.";
  std::string name(stored.starts_with(kWrapper) ? stored.substr(kWrapper.size()) : stored);
  name = without_adapter_name(name, ".lora_A.");
  name = without_adapter_name(name, ".lora_B.");
  constexpr std::string_view kSaved = ".modules_to_save.";
  if (const size_t at = name.find(kSaved); at != std::string::npos) {
    name = without_adapter_name(name, kSaved);
    name.replace(at, kSaved.size(), ".");
  }
  return std::string(without_encoder_prefix(name));
}

Result<void> sort_tensors(const ModelFile& file, const LoraScale& scale, Adapter& adapter) {
  const std::string where = file.path.string();
  LoraPairs pairs(where);
  for (const Tensor& tensor : file.tensors) {
    std::string name = base_name(tensor.name);
    if (name.find("lora_embedding") != std::string::npos || name.find("lora_magnitude") != std::string::npos)
      return unsupported(
          fmt::format("The adapter's tensor {} is of a kind that is not merged", shown(tensor.name)), where,
          "merge it into its model with PEFT first");
    const bool is_a = name.ends_with(".lora_A.weight");
    if (is_a || name.ends_with(".lora_B.weight")) {
      name.replace(name.size() - std::string_view("lora_A.weight").size(), std::string::npos, "weight");
      ORRERY_TRY(pairs.add(name, is_a, tensor));
      continue;
    }
    if (name.ends_with(".original_module.weight") || name.ends_with(".original_module.bias")) continue;
    Tensor whole = tensor;
    whole.name = std::move(name);
    adapter.whole.push_back(std::move(whole));
  }
  ORRERY_ASSIGN(adapter.low_rank, pairs.join(scale));
  std::map<std::string_view, int> names;
  for (const Tensor& whole : adapter.whole)
    if (++names[whole.name] > 1 || pairs.contains(whole.name))
      return corrupt(fmt::format("The adapter gives {} twice", shown(whole.name)), where);
  if (adapter.low_rank.empty() && adapter.whole.empty())
    return corrupt("The adapter holds no tensors", where);
  return {};
}

}  // namespace

std::string_view without_encoder_prefix(std::string_view tensor) {
  for (const std::string_view prefix : kEncoderPrefixes)
    if (tensor.starts_with(prefix)) return tensor.substr(prefix.size());
  return tensor;
}

Result<void> check_adapter(const ModelFile& model, const Adapter& adapter) {
  std::map<std::string_view, const Tensor*> base;
  for (const Tensor& tensor : model.tensors) base.emplace(without_encoder_prefix(tensor.name), &tensor);
  const auto find = [&](const std::string& name) -> const Tensor* {
    if (const Tensor* exact = model.find(name)) return exact;
    const auto it = base.find(name);
    return it == base.end() ? nullptr : it->second;
  };
  const auto refuse = [&](std::string what, ErrorCode code) {
    return Error{code, std::move(what), adapter.path.string(),
                 "choose an adapter that was made for this model"};
  };
  for (const Adapter::LowRank& low_rank : adapter.low_rank) {
    const Tensor* target = find(low_rank.target);
    if (!target)
      return refuse(
          fmt::format("The adapter changes {}, which the model does not have", shown(low_rank.target)),
          ErrorCode::not_found);
    if (target->shape != std::vector{low_rank.b.shape[0], low_rank.a.shape[1]})
      return refuse(
          fmt::format("The adapter changes {} as [{}, {}], and the model's is [{}]", shown(low_rank.target),
                      low_rank.b.shape[0], low_rank.a.shape[1], fmt::join(target->shape, ", ")),
          ErrorCode::shape_mismatch);
  }
  for (const Tensor& whole : adapter.whole)
    if (const Tensor* target = find(whole.name); target && target->shape != whole.shape)
      return refuse(
          fmt::format("The adapter replaces {} of shape [{}] by one of shape [{}]", shown(whole.name),
                      fmt::join(target->shape, ", "), fmt::join(whole.shape, ", ")),
          ErrorCode::shape_mismatch);
  return {};
}

namespace {

Result<std::shared_ptr<const Adapter>> open_peft_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path config = folder / "adapter_config.json";
  std::filesystem::path weights = folder / "adapter_model.safetensors";
  if (!std::filesystem::exists(weights, error)) weights = folder / "adapter_model.bin";
  if (!std::filesystem::exists(config, error) || !std::filesystem::exists(weights, error))
    return Error{ErrorCode::not_found, "The folder lacks adapter_config.json or adapter_model.safetensors",
                 folder.string(), "choose the folder of a PEFT LoRA adapter"};
  auto adapter = std::make_shared<Adapter>();
  adapter->path = folder;
  ORRERY_ASSIGN(const LoraScale scale, read_settings(config));
  if (std::filesystem::exists(folder / "config.json", error)) {
    ORRERY_ASSIGN(adapter->config, read_json_file(folder / "config.json"));
  }
  auto file = std::make_shared<ModelFile>();
  file->path = weights;
  file->name = folder.filename().string();
  ORRERY_ASSIGN(const auto mapped, MappedFile::open(weights));
  file->format = tensor_file_format(mapped->bytes()).value_or(Format::safetensors);
  ORRERY_TRY(read_tensor_file(mapped, *file, {}));
  ORRERY_TRY(sort_tensors(*file, scale, *adapter));
  adapter->file = std::move(file);
  return std::shared_ptr<const Adapter>(std::move(adapter));
}

}  // namespace

Result<std::shared_ptr<const Adapter>> open_adapter(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) ? open_gguf_adapter(path) : open_peft_folder(path);
}

}  // namespace orrery::io
