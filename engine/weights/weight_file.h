// A file that weights come from beside the model's own.
#pragma once

#include "engine/io/model_file.h"
#include "engine/weights/weight_view.h"

namespace orrery::weights {

/// What tells a file from a later one of its name: size and time of writing; of a folder those of the files
/// in it. Refused where nothing is there.
Result<std::string> stamp_of(const std::filesystem::path& path);

class WeightFile {
 public:
  /// Arrays of NumPy, safetensors, GGUF, PyTorch or the folder of a model. A LoRA adapter (the folder of
  /// PEFT, or a GGUF file) is fitted to `model`: its matrices are those of the model's tensors that it
  /// changes, with
  /// ".lora_a" (rank, cols) or ".lora_b" (rows, rank) after their names. Refused where no model is given.
  static Result<std::shared_ptr<const WeightFile>> open(const std::filesystem::path& path,
                                                        const io::ModelFile* model);
  const std::string& stamp() const { return stamp_; }
  std::span<const io::Tensor> tensors() const { return file_->tensors; }
  const io::Tensor* find(std::string_view tensor) const;
  /// Null where the file is no adapter or leaves the tensor alone.
  const io::Adapter::LowRank* low_rank(std::string_view tensor) const;
  /// Gives the pages of a tensor's bytes back to the system.
  void drop(std::span<const std::byte> bytes) const;
  uint64_t resident() const;
  Result<void> check() const;  // as io::MappedFile has it

 private:
  std::string stamp_;
  std::shared_ptr<const io::ModelFile> file_;
  std::shared_ptr<const io::Adapter> adapter_;  // null: a file of tensors
};

/// Whether an adapter's name means this tensor: adapters leave an encoder's prefix out, which a model may
/// have.
bool same_tensor(std::string_view adapters, std::string_view name);
/// What the adapter adds to the tensor; null: nothing.
const io::Adapter::LowRank* find_low_rank(const io::Adapter& adapter, std::string_view tensor);

inline constexpr std::string_view kLowRankA = ".lora_a", kLowRankB = ".lora_b";

}  // namespace orrery::weights
