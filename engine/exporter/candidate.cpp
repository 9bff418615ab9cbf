#include "engine/exporter/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/io/json.h"
#include "engine/io/reader.h"
#include "engine/ops/infer_support.h"
#include "engine/weights/weight_file.h"

namespace orrery::exporter {
namespace {

using Json = nlohmann::ordered_json;

/// Where config.json keeps the number of layers, and lists with an entry for each.
constexpr std::string_view kCounts[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
constexpr std::string_view kPerLayer[] = {"layer_types", "no_rope_layers", "mlp_layer_types"};
/// What an adapter with a head says of it.
constexpr std::string_view kOfHeads[] = {"architectures", "id2label", "label2id", "problem_type"};
/// Of GGUF, lists that are as long as a model may have layers by chance.
constexpr std::string_view kNotPerLayer[] = {"rope.dimension_sections"};
/// Architectures whose linears may have a bias in GGUF though most models have none: llama.cpp loads it where
/// it is.
constexpr std::string_view kOptionalBias[] = {"llama"};

/// The list with the entries of the layers that are there now.
template <class T>
std::optional<std::vector<T>> per_layer(const std::vector<T>& list, int64_t before, const Layers& layers) {
  if (static_cast<int64_t>(list.size()) != before) return std::nullopt;
  std::vector<T> now;
  for (const int64_t original : layers.originals) now.push_back(list.at(static_cast<size_t>(original)));
  return now;
}

/// As a person would write it, for MetadataEdit.
std::string as_text(const std::vector<int64_t>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }
std::string as_text(const std::vector<double>& list) { return fmt::format("[{}]", fmt::join(list, ", ")); }

class Making {
 public:
  Making(const io::ModelFile& model, const io::Adapter* adapter, const Layers& layers, const Folded& folded,
         std::vector<Difference>& differences)
      : model_(model), adapter_(adapter), layers_(layers), folded_(folded), differences_(differences) {
    made_.file = std::make_shared<io::ModelFile>(model);
    made_.file->tensors.clear();
    made_.file->by_name.clear();
    for (const io::Tensor& tensor : model.tensors)
      if (const auto name = layer_tensor(tensor.name)) before_ = std::max(before_, name->layer + 1);
  }

  Result<Candidate> run() {
    add_tensors();
    add_made();
    add_whole();
    if (model_.format == io::Format::gguf) {
      ORRERY_TRY(edit_gguf());
    } else {
      ORRERY_TRY(edit_config());
    }
    return std::move(made_);
  }

 private:
  void add(io::Tensor tensor, const io::Tensor* original) {
    if (io::add_tensor(*made_.file, std::move(tensor))) made_.originals.push_back(original);
  }

  /// In the order of the file; layers that are not what they were all where the first one stands.
  void add_tensors() {
    bool layered = false;
    for (const io::Tensor& tensor : model_.tensors) {
      if (as_before() || !layer_tensor(tensor.name)) {
        add(tensor, &tensor);
      } else if (!layered) {
        layered = true;
        for (int64_t i = 0; i < layers_.count(); ++i) add_layer(i);
      }
    }
  }

  void add_layer(int64_t number) {
    for (const io::Tensor& tensor : model_.tensors) {
      const auto name = layer_tensor(tensor.name);
      if (!name || name->layer != layers_.originals[static_cast<size_t>(number)]) continue;
      io::Tensor renamed = tensor;
      renamed.name = name->of(number);
      add(std::move(renamed), &tensor);
    }
  }

  /// Biases that the edits ask for, in the place of those that the model does not have.
  void add_made() {
    for (const NodeId id : folded_.graph.order()) {
      if (!folded_.made.contains(id)) continue;
      const graph::Node& node = folded_.graph.node(id);
      const std::string tensor(ops::text(node.attributes, "tensor"));
      const auto name = layer_tensor(tensor);
      const auto number = layers_.number_of(node.path());
      if (model_.format != io::Format::gguf || !name || !number ||
          std::ranges::find(kOptionalBias, model_.architecture) == std::end(kOptionalBias)) {
        differences_.push_back(
            {node.path(), fmt::format("A vector is added there, and a {} of the architecture {} keeps no {}",
                                      io::name_of(model_.format), model_.architecture, tensor)});
        continue;
      }
      io::Tensor bias;
      bias.name = name->of(*number);
      bias.shape = ops::list(node.attributes, "shape");
      add(std::move(bias), nullptr);
    }
  }

  /// Of an adapter that the model was opened with. A base that was saved without its head has no prefix,
  /// which the head's model wants before all that is not of the head.
  void add_whole() {
    if (!adapter_) return;
    std::vector<io::Tensor> missing;
    for (const io::Tensor& whole : adapter_->whole)
      if (std::ranges::none_of(model_.tensors, [&](const io::Tensor& tensor) {
            return weights::same_tensor(whole.name, tensor.name);
          }))
        missing.push_back(whole);
    if (missing.empty()) return;
    if (model_.format == io::Format::gguf) {
      differences_.push_back({missing.front().name,
                              "The adapter that the model was opened with brings it, and the file "
                              "has no place for it"});
      return;
    }
    const std::string prefix = model_.architecture + ".";
    const bool prefixed = std::ranges::any_of(
        model_.tensors, [&](const io::Tensor& tensor) { return tensor.name.starts_with(prefix); });
    if (!prefixed && !io::without_encoder_prefix(prefix + "x").starts_with(prefix)) {
      made_.file->by_name.clear();
      for (size_t i = 0; i < made_.file->tensors.size(); ++i) {
        io::Tensor& tensor = made_.file->tensors[i];
        tensor.name.insert(0, prefix);
        made_.file->by_name[tensor.name] = i;
      }
    }
    for (io::Tensor& tensor : missing) {
      const bool of_head = !tensor.name.starts_with("pooler.");
      if (!of_head && !prefixed) tensor.name.insert(0, prefix);
      add(tensor, nullptr);
    }
  }

  Result<void> edit_gguf() {
    const auto set = [&](const std::string& key, std::string text) {
      made_.edits.push_back({MetadataEdit::Action::set, key, std::move(text)});
    };
    const std::string prefix = model_.architecture + ".", count = prefix + "block_count";
    if (as_before()) return {};
    if (!model_.metadata.integer(count))
      return Error{ErrorCode::corrupt_file, fmt::format("The metadata {} is missing", count),
                   model_.path.string(), "get the file again"};
    set(count, std::to_string(layers_.count()));
    made_.file->metadata.set(count, layers_.count());
    for (const auto& [key, value] : model_.metadata.all()) {
      if (!key.starts_with(prefix) ||
          std::ranges::any_of(kNotPerLayer, [&](std::string_view other) { return key.ends_with(other); }))
        continue;
      const auto follow = [&](const auto& list) {
        if (const auto now = per_layer(list, before_, layers_)) {
          set(key, as_text(*now));
          made_.file->metadata.set(key, *now);
        }
      };
      if (const auto* whole = std::get_if<std::vector<int64_t>>(&value)) follow(*whole);
      if (const auto* real = std::get_if<std::vector<double>>(&value)) follow(*real);
    }
    return {};
  }

  /// Whether the layers are the model's, in their order.
  bool as_before() const {
    if (layers_.count() != before_) return false;
    for (int64_t i = 0; i < layers_.count(); ++i)
      if (layers_.originals[static_cast<size_t>(i)] != i) return false;
    return true;
  }

  Result<void> edit_config() {
    const std::filesystem::path path = folder_of(model_) / "config.json";
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    Json config = Json::parse(text, nullptr, false);
    if (!stream.is_open() || !config.is_object())
      return Error{ErrorCode::corrupt_file, "config.json cannot be read", path.string(),
                   "get the folder again"};
    Json& decoder =
        config.contains("text_config") && config["text_config"].is_object() ? config["text_config"] : config;
    bool changed = follow_layers(decoder);
    if (adapter_) changed = take_head(config) || changed;
    made_.config = changed ? config.dump(2) + "\n" : text;
    ORRERY_ASSIGN(const Metadata flat, io::flatten_json(made_.config, path.string()));
    for (const auto& [key, value] : flat.all()) made_.file->metadata.set(key, value);
    return {};
  }

  bool follow_layers(Json& config) const {
    if (as_before()) return false;
    for (const std::string_view count : kCounts)
      if (const auto found = config.find(count); found != config.end()) *found = layers_.count();
    for (const std::string_view key : kPerLayer) {
      const auto list = config.find(key);
      if (list == config.end() || !list->is_array() || static_cast<int64_t>(list->size()) != before_)
        continue;
      Json now = Json::array();
      for (const int64_t original : layers_.originals) now.push_back((*list)[static_cast<size_t>(original)]);
      *list = std::move(now);
    }
    return true;
  }

  bool take_head(Json& config) const {
    std::ifstream stream(adapter_->path / "config.json", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const Json head = Json::parse(text, nullptr, false);
    if (!head.is_object()) return false;
    bool changed = false;
    for (const std::string_view key : kOfHeads)
      if (const auto found = head.find(key); found != head.end()) config[key] = *found, changed = true;
    return changed;
  }

  const io::ModelFile& model_;
  const io::Adapter* adapter_;
  const Layers& layers_;
  const Folded& folded_;
  std::vector<Difference>& differences_;
  int64_t before_ = 0;  // layers of the model
  Candidate made_;
};

}  // namespace

Result<Candidate> candidate_of(const io::ModelFile& model, const io::Adapter* adapter, const Layers& layers,
                               const Folded& folded, std::vector<Difference>& differences) {
  return Making(model, adapter, layers, folded, differences).run();
}

std::filesystem::path folder_of(const io::ModelFile& model) {
  if (model.format == io::Format::hugging_face_folder) return model.path;
  return model.path.has_parent_path() ? model.path.parent_path() : std::filesystem::path(".");
}

}  // namespace orrery::exporter
