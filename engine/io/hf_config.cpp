#include "engine/io/hf_config.h"

#include <fmt/format.h>

#include "engine/io/json.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr size_t kLargestText = size_t{64} * 1024 * 1024;

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

Result<std::shared_ptr<const MappedFile>> open_text(const std::filesystem::path& path) {
  ORRERY_ASSIGN(auto mapped, MappedFile::open(path));
  if (mapped->bytes().size() > kLargestText)
    return corrupt(fmt::format("A text file of {} bytes (64 MB is the most)", mapped->bytes().size()),
                   path.string());
  return mapped;
}

/// The template that is named "default" when there are several, else the only one.
void take_chat_template(const Metadata& config, ModelFile& file) {
  if (const std::string* text = config.text("chat_template")) {
    file.chat_template = *text;
    return;
  }
  for (int i = 0; i < 32; ++i) {
    const std::string prefix = fmt::format("chat_template.{}.", i);
    const std::string* name = config.text(prefix + "name");
    const std::string* text = config.text(prefix + "template");
    if (name && text && *name == "default") file.chat_template = *text;
  }
}

Result<void> read_tokenizer_files(const std::filesystem::path& folder, ModelFile& file) {
  if (is_file(folder / "tokenizer.json")) file.tokenizer_json = folder / "tokenizer.json";
  for (const char* name : {"chat_template.json", "tokenizer_config.json"}) {
    if (!is_file(folder / name)) continue;
    ORRERY_ASSIGN(const Metadata config, read_json_file(folder / name));
    take_chat_template(config, file);
    for (const auto& [key, value] : config.all())
      if (!key.starts_with("added_tokens_decoder") && !key.starts_with("chat_template"))
        file.metadata.set("tokenizer_config." + key, value);
  }
  if (is_file(folder / "chat_template.jinja")) {
    ORRERY_ASSIGN(const auto text, open_text(folder / "chat_template.jinja"));
    file.chat_template = text_of(*text);
  }
  return {};
}

/// A module's folder as modules.json names it; nothing when it would leave the model's folder.
std::optional<std::filesystem::path> module_folder(const std::filesystem::path& folder,
                                                   const std::string& name) {
  if (name.find('/') != std::string::npos || name.find('\\') != std::string::npos || name == "..")
    return std::nullopt;
  return folder / name;
}

Result<void> read_pooling(const std::filesystem::path& config_path, ModelFile& file) {
  ORRERY_ASSIGN(const Metadata config, read_json_file(config_path));
  if (config.flag("pooling_mode_mean_tokens").value_or(false))
    file.metadata.set("sentence_transformers.pooling", std::string("mean"));
  else if (config.flag("pooling_mode_cls_token").value_or(false))
    file.metadata.set("sentence_transformers.pooling", std::string("cls"));
  else if (config.flag("pooling_mode_lasttoken").value_or(false))
    file.metadata.set("sentence_transformers.pooling", std::string("last"));
  else
    return unsupported("The sentence model pools in a way that is not known", config_path.string(),
                       "models with mean, cls or last-token pooling are read");
  return {};
}

Result<void> read_sentence_transformers(const std::filesystem::path& folder, ModelFile& file) {
  // modules.json has an array as its root, which flatten_json leaves to objects: wrap it.
  ORRERY_ASSIGN(const auto text, open_text(folder / "modules.json"));
  ORRERY_ASSIGN(const Metadata modules,
                flatten_json(fmt::format("{{\"m\":{}}}", text_of(*text)), "modules.json"));
  bool normalise = false;
  for (int i = 0; i < 32; ++i) {
    const std::string* type = modules.text(fmt::format("m.{}.type", i));
    const std::string* path = modules.text(fmt::format("m.{}.path", i));
    if (!type) break;
    if (type->ends_with(".Normalize")) normalise = true;
    if (!type->ends_with(".Transformer") && !type->ends_with(".Pooling") && !type->ends_with(".Normalize"))
      return unsupported(fmt::format("The sentence model has a module {} that is not known", shown(*type)),
                         (folder / "modules.json").string(),
                         "models of Transformer, Pooling and Normalize modules are read");
    if (!type->ends_with(".Pooling") || !path) continue;
    const auto module = module_folder(folder, *path);
    if (!module)
      return corrupt(fmt::format("The module path {} leaves the model's folder", shown(*path)),
                     (folder / "modules.json").string());
    ORRERY_TRY(read_pooling(*module / "config.json", file));
  }
  file.metadata.set("sentence_transformers.normalize", normalise);
  if (is_file(folder / "sentence_bert_config.json")) {
    ORRERY_ASSIGN(const Metadata config, read_json_file(folder / "sentence_bert_config.json"));
    if (const auto length = config.integer("max_seq_length"))
      file.metadata.set("sentence_transformers.max_seq_length", *length);
  }
  return {};
}

/// Lists of numbers as a tensor; nothing where the key is absent or holds something else.
void add_list(std::string_view key, const char* tensor, ModelFile& file) {
  auto values = std::make_shared<std::vector<float>>();
  if (const auto* reals = file.metadata.numbers(key))
    values->assign(reals->begin(), reals->end());
  else if (const auto* wholes = file.metadata.integers(key))
    values->assign(wholes->begin(), wholes->end());
  if (values->empty() || file.by_name.contains(tensor)) return;
  file.by_name[tensor] = file.tensors.size();
  file.tensors.push_back({tensor,
                          DType::f32,
                          {static_cast<int64_t>(values->size())},
                          std::as_bytes(std::span<const float>(*values))});
  file.lists.push_back(std::move(values));
}

}  // namespace

bool has_tokenizer_files(const std::filesystem::path& folder) {
  return is_file(folder / "tokenizer.model") || is_file(folder / "vocab.txt") ||
         (is_file(folder / "vocab.json") && is_file(folder / "merges.txt"));
}

void add_rope_factors(ModelFile& file) {
  for (const char* section : {"rope_parameters", "rope_scaling"}) {
    add_list(fmt::format("{}.short_factor", section), "rope_factors_short.weight", file);
    add_list(fmt::format("{}.long_factor", section), "rope_factors_long.weight", file);
  }
}

Result<Metadata> read_json_file(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const auto text, open_text(path));
  return flatten_json(text_of(*text), path.filename().string());
}

Result<void> read_hugging_face_files(const std::filesystem::path& folder, ModelFile& file) {
  if (is_file(folder / "config.json")) {
    ORRERY_ASSIGN(file.metadata, read_json_file(folder / "config.json"));
    if (const std::string* type = file.metadata.text("model_type")) file.architecture = *type;
  }
  if (is_file(folder / "generation_config.json")) {
    ORRERY_ASSIGN(const Metadata config, read_json_file(folder / "generation_config.json"));
    for (const auto& [key, value] : config.all()) file.metadata.set("generation_config." + key, value);
  }
  ORRERY_TRY(read_tokenizer_files(folder, file));
  if (is_file(folder / "modules.json")) ORRERY_TRY(read_sentence_transformers(folder, file));
  return {};
}

}  // namespace orrery::io
