// PEFT LoRA adapters: adapter_config.json and adapter_model.safetensors, as PEFT's save_pretrained writes
// them.
//
//   base_model.model.<MODULE>.lora_A.weight  (r, cols)      base_model.model.<MODULE>.lora_B.weight  (rows,
//   r) base_model.model.<MODULE>.weight, .bias: whole tensors of modules_to_save older files put the
//   adapter's name between: lora_A.default.weight, <MODULE>.modules_to_save.default.weight scale = lora_alpha
//   / r, or lora_alpha / sqrt(r) with use_rslora; r is the tensors' own
// Names are kept without "base_model.model." and without an encoder's prefix (without_encoder_prefix). DoRA,
// transposed weights (fan_in_fan_out), embeddings' adapters and alphas by pattern are refused: merging would
// be wrong.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "engine/io/hf_config.h"
#include "engine/io/reader.h"
#include "engine/io/safetensors.h"

namespace orrery::io {
namespace {

constexpr std::array<std::string_view, 8> kEncoderPrefixes = {
    "bert.", "distilbert.", "roberta.", "xlm_roberta.", "electra.", "albert.", "mpnet.", "camembert."};

struct Settings {
  double alpha = 0;
  bool rank_stabilised = false;
};

Result<Settings> read_settings(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const Metadata config, read_json_file(path));
  const auto refuse = [&](std::string_view what) {
    return unsupported(fmt::format("The adapter {}", what), path.string(),
                       "merge it into its model with PEFT first");
  };
  const std::string* type = config.text("peft_type");
  if (!type || *type != "LORA") return refuse("is not of the type LORA");
  if (config.flag("use_dora").value_or(false)) return refuse("uses DoRA");
  if (config.flag("fan_in_fan_out").value_or(false))
    return refuse("is for transposed weights (fan_in_fan_out)");
  for (const auto& [key, value] : config.all())
    if (key.starts_with("alpha_pattern.")) return refuse("has alphas by pattern");
  const std::optional<double> alpha = config.number("lora_alpha");
  if (!alpha || !std::isfinite(*alpha) || std::abs(*alpha) > 1e6)
    return corrupt("lora_alpha is missing or no usable number", path.string());
  const std::optional<int64_t> rank = config.integer("r");
  if (!rank || *rank < 1 || *rank > 65536) return corrupt("r is missing or no usable rank", path.string());
  return Settings{*alpha, config.flag("use_rslora").value_or(false)};
}

/// "x.lora_A.default.weight" -> "x.lora_A.weight": what stands between two markers is the adapter's name.
std::string without_adapter_name(std::string name, std::string_view marker) {
  const size_t begin = name.find(marker);
  if (begin == std::string::npos) return name;
  const size_t after = begin + marker.size();
  if (name.compare(after, std::string::npos, "weight") == 0 ||
      name.compare(after, std::string::npos, "bias") == 0)
    return name;
  const size_t dot = name.find('.', after);
  return dot == std::string::npos ? name : name.erase(after, dot + 1 - after);
}

std::string base_name(std::string_view stored) {
  constexpr std::string_view kWrapper = "base_model.model.";
  std::string name(stored.starts_with(kWrapper) ? stored.substr(kWrapper.size()) : stored);
  name = without_adapter_name(std::move(name), ".lora_A.");
  name = without_adapter_name(std::move(name), ".lora_B.");
  constexpr std::string_view kSaved = ".modules_to_save.";
  if (const size_t at = name.find(kSaved); at != std::string::npos) {
    name = without_adapter_name(std::move(name), kSaved);
    name.replace(at, kSaved.size(), ".");
  }
  return std::string(without_encoder_prefix(name));
}

struct Halves {
  const Tensor *a = nullptr, *b = nullptr;
};

Result<Adapter::LowRank> make_low_rank(const std::string& target, const Halves& halves,
                                       const Settings& settings, const std::string& where) {
  if (!halves.a || !halves.b)
    return corrupt(fmt::format("The adapter has only one of lora_A and lora_B for {}", shown(target)), where);
  const Tensor& a = *halves.a;
  const Tensor& b = *halves.b;
  for (const Tensor* half : {&a, &b})
    if (half->shape.size() != 2 || half->shape[0] < 1 || half->shape[1] < 1 ||
        (half->dtype != DType::f32 && half->dtype != DType::f16 && half->dtype != DType::bf16))
      return corrupt(
          fmt::format("The adapter's tensor {} is not a matrix of F32, F16 or BF16", shown(half->name)),
          where);
  const int64_t rank = a.shape[0];
  if (b.shape[1] != rank)
    return corrupt(
        fmt::format("lora_A and lora_B of {} have the ranks {} and {}", shown(target), rank, b.shape[1]),
        where);
  const double scale = settings.alpha / (settings.rank_stabilised ? std::sqrt(static_cast<double>(rank))
                                                                  : static_cast<double>(rank));
  return Adapter::LowRank{target, a, b, scale};
}

Result<void> sort_tensors(const ModelFile& file, const Settings& settings, Adapter& adapter) {
  const std::string where = file.path.string();
  std::map<std::string, Halves> halves;
  for (const Tensor& tensor : file.tensors) {
    std::string name = base_name(tensor.name);
    if (name.find("lora_embedding") != std::string::npos || name.find("lora_magnitude") != std::string::npos)
      return unsupported(
          fmt::format("The adapter's tensor {} is of a kind that is not merged", shown(tensor.name)), where,
          "merge it into its model with PEFT first");
    const bool is_a = name.ends_with(".lora_A.weight");
    if (is_a || name.ends_with(".lora_B.weight")) {
      name.replace(name.size() - std::string_view("lora_A.weight").size(), std::string::npos, "weight");
      const Tensor*& half = is_a ? halves[name].a : halves[name].b;
      if (half) return corrupt(fmt::format("The adapter adapts {} twice", shown(name)), where);
      half = &tensor;
      continue;
    }
    if (name.ends_with(".original_module.weight") || name.ends_with(".original_module.bias")) continue;
    Tensor whole = tensor;
    whole.name = std::move(name);
    adapter.whole.push_back(std::move(whole));
  }
  for (const auto& [target, pair] : halves) {
    ORRERY_ASSIGN(auto low_rank, make_low_rank(target, pair, settings, where));
    adapter.low_rank.push_back(std::move(low_rank));
  }
  std::map<std::string_view, int> names;
  for (const Tensor& whole : adapter.whole)
    if (++names[whole.name] > 1 || halves.contains(whole.name))
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

Result<std::shared_ptr<const Adapter>> open_adapter(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path config = folder / "adapter_config.json",
                              weights = folder / "adapter_model.safetensors";
  if (!std::filesystem::exists(config, error) || !std::filesystem::exists(weights, error))
    return Error{ErrorCode::not_found, "The folder lacks adapter_config.json or adapter_model.safetensors",
                 folder.string(), "choose the folder of a PEFT LoRA adapter"};
  auto adapter = std::make_shared<Adapter>();
  adapter->path = folder;
  ORRERY_ASSIGN(const Settings settings, read_settings(config));
  if (std::filesystem::exists(folder / "config.json", error)) {
    ORRERY_ASSIGN(adapter->config, read_json_file(folder / "config.json"));
  }
  auto file = std::make_shared<ModelFile>();
  file->format = Format::safetensors;
  file->path = weights;
  file->name = folder.filename().string();
  ORRERY_ASSIGN(const auto mapped, MappedFile::open(weights));
  ORRERY_TRY(read_safetensors(mapped, *file, {}));
  ORRERY_TRY(sort_tensors(*file, settings, *adapter));
  adapter->file = std::move(file);
  return std::shared_ptr<const Adapter>(std::move(adapter));
}

}  // namespace orrery::io
