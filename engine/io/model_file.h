// A model on disk, whatever its format: metadata, a table of tensors, and their mmapped bytes. Readers never
// trust the file: every length, count and offset is checked against what is there before it is used, and a
// refused file costs memory of the order of its header.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/metadata.h"
#include "engine/base/progress.h"
#include "engine/base/result.h"
#include "kernels/dtype.h"

namespace orrery::io {

enum class Format : uint8_t { gguf, safetensors, pytorch, numpy, hugging_face_folder };
std::string_view name_of(Format format);  // "GGUF", "safetensors", "PyTorch", "NumPy", "Hugging Face folder"

/// A read-only mapping of a whole file. Reading past a file that another process truncated must not kill the
/// process: check() compares the size again before a run.
class MappedFile {
 public:
  static Result<std::shared_ptr<const MappedFile>> open(const std::filesystem::path& path);
  ~MappedFile();
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }
  /// Gives the pages of a range back to the system (they are read again when touched).
  void drop(std::span<const std::byte> range) const;
  /// Refuses when the file on disk is now shorter than its mapping.
  Result<void> check() const;

 private:
  MappedFile() = default;
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

struct Tensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;  // outermost first: a matrix is (rows, cols), rows of cols contiguous elements
  std::span<const std::byte> data;     // exactly the bytes that shape and type need
  std::string_view foreign_type = {};  // "IQ2_XXS": it is listed but not run, and dtype says nothing

  std::string_view type_name() const { return foreign_type.empty() ? name_of(dtype) : foreign_type; }
};

/// Refuses a tensor of a foreign type by name, with the types that are run. Whoever reads a tensor's elements
/// asks first.
Result<void> check_runnable(const Tensor& tensor, const std::filesystem::path& path);

struct ModelFile {
  Format format = Format::gguf;
  std::filesystem::path path;
  std::string name;          // general.name, or the folder's name
  std::string architecture;  // "llama", "bert" (general.architecture, model_type)
  Metadata metadata;         // GGUF keys, or config.json flattened
  std::vector<Tensor> tensors;
  std::unordered_map<std::string, size_t> by_name;
  std::vector<std::shared_ptr<const MappedFile>> files;          // keep the bytes alive
  std::vector<std::shared_ptr<const std::vector<float>>> lists;  // of tensors that config.json holds as lists
  std::filesystem::path tokenizer_json;  // empty: none beside the file (GGUF carries its own)
  std::string chat_template;             // empty: none
  uint64_t file_bytes = 0;

  const Tensor* find(std::string_view tensor) const;
  uint64_t parameters() const;
};

/// Detects the format by content (never by the name's ending) and reads the headers. A folder is read as
/// Hugging Face layout: config.json, model.safetensors or pytorch_model.bin (one, or shards with index),
/// tokenizer files, sentence-transformers modules when there (metadata keys "sentence_transformers.pooling" =
/// mean|cls, "sentence_transformers.normalize", "sentence_transformers.max_seq_length"). A file without
/// weights opens with no tensors when it is GGUF with a tokenizer.
Result<std::shared_ptr<const ModelFile>> open_model(const std::filesystem::path& path,
                                                    const ProgressCallback& progress, std::stop_token stop);

/// A LoRA adapter: W += scale * B A for each target, and whole tensors saved beside it (classifier, pooler).
struct Adapter {
  struct LowRank {
    std::string target;  // the base model's tensor name, e.g. "encoder.layer.0.attention.self.query.weight"
    Tensor a, b;         // a (rank, cols), b (rows, rank), f32 or f16 or bf16
    double scale = 1.0;  // lora_alpha / r, or / sqrt(r) with rslora
  };
  std::filesystem::path path;
  Metadata config;  // config.json beside it, flattened: labels, architecture
  std::vector<LowRank> low_rank;
  std::vector<Tensor> whole;  // modules_to_save, under the base model's names
  bool gguf_names = false;    // "blk.0.attn_q.weight", not "model.layers.0.self_attn.q_proj.weight"
  std::shared_ptr<const ModelFile> file;          // keeps the bytes alive
  std::vector<std::vector<std::byte>> reordered;  // bytes of tensors that are not the file's, see fit_adapter
};
/// A folder of PEFT, with adapter_model.safetensors or .bin, or a GGUF file of the type "adapter".
Result<std::shared_ptr<const Adapter>> open_adapter(const std::filesystem::path& path);

/// The adapter as this model needs it: under the names that its file uses; for GGUF files whose rows of the
/// query and key projections stand in another order (their rope turns neighbours), with the rows of B in that
/// order; for matrices that the file keeps transposed (GPT-2's folders), with A and B so.
Result<std::shared_ptr<const Adapter>> fit_adapter(const ModelFile& model,
                                                   std::shared_ptr<const Adapter> adapter);

/// Refuses an adapter whose targets are not in the model, or have other shapes: it was made for another
/// model.
Result<void> check_adapter(const ModelFile& model, const Adapter& adapter);

/// A tensor name without the prefix that a task head puts before its encoder: "bert.pooler.dense.weight" is
/// "pooler.dense.weight". Adapters keep their names in this form; a base file may have either.
std::string_view without_encoder_prefix(std::string_view tensor);

}  // namespace orrery::io
