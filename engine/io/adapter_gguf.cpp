// GGUF adapters, as llama.cpp's convert_lora_to_gguf writes them: a GGUF file with
//   general.type = "adapter"   adapter.type = "lora"   adapter.lora.alpha = f32   general.architecture
//   TENSOR.lora_a  (rank, cols)       TENSOR.lora_b  (rows, rank)       by the names of the base model's GGUF
//   file
// scale = alpha / rank, or 1 when alpha is 0 or absent. The rows of B stand as the base model's do.
#include <fmt/format.h>

#include "engine/io/adapter_parts.h"
#include "engine/io/gguf.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr std::string_view kA = ".lora_a", kB = ".lora_b";

Result<LoraScale> read_scale(const ModelFile& file, const std::string& where) {
  const std::string* type = file.metadata.text("adapter.type");
  if (!type || *type != "lora")
    return unsupported("The adapter is not of the type lora", where, "merge it into its model first");
  const double alpha = file.metadata.number("adapter.lora.alpha").value_or(0);
  if (!is_usable_alpha(alpha)) return corrupt("adapter.lora.alpha is no usable number", where);
  return LoraScale{alpha, false};
}

}  // namespace

Result<std::shared_ptr<const Adapter>> open_gguf_adapter(const std::filesystem::path& path) {
  ORRERY_ASSIGN(auto mapped, MappedFile::open(path));
  const std::string* type = nullptr;
  std::shared_ptr<ModelFile> file;
  if (looks_like_gguf(mapped->bytes())) {
    ORRERY_ASSIGN(GgufPiece piece, read_gguf_piece(std::move(mapped), {}, {}));
    file = std::move(piece.file);
    type = file->metadata.text("general.type");
  }
  if (!type || *type != "adapter")
    return Error{ErrorCode::invalid_argument, "The file is no adapter", path.string(),
                 "choose a GGUF file of the type adapter, or the folder of a PEFT adapter"};
  const std::string where = path.string();
  auto adapter = std::make_shared<Adapter>();
  adapter->path = path;
  adapter->gguf_names = true;
  ORRERY_ASSIGN(const LoraScale scale, read_scale(*file, where));
  LoraPairs pairs(where);
  for (const Tensor& tensor : file->tensors) {
    const bool is_a = tensor.name.ends_with(kA);
    if (!is_a && !tensor.name.ends_with(kB))
      return unsupported(
          fmt::format("The adapter's tensor {} is neither lora_a nor lora_b", shown(tensor.name)), where,
          "merge it into its model first");
    ORRERY_TRY(pairs.add(tensor.name.substr(0, tensor.name.size() - kA.size()), is_a, tensor));
  }
  ORRERY_ASSIGN(adapter->low_rank, pairs.join(scale));
  if (adapter->low_rank.empty()) return corrupt("The adapter holds no tensors", where);
  if (scale.alpha == 0)
    for (Adapter::LowRank& low_rank : adapter->low_rank) low_rank.scale = 1;
  adapter->file = std::move(file);
  return std::shared_ptr<const Adapter>(std::move(adapter));
}

}  // namespace orrery::io
