// A GGUF file with other tensors than its source; the byte layout stands at the top of gguf.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "engine/io/gguf_editor.h"
#include "engine/io/gguf_types.h"
#include "engine/io/gguf_value.h"
#include "engine/io/reader.h"
#include "engine/io/tensor_writer.h"

namespace orrery::io {
namespace {

uint64_t padded(uint64_t bytes, uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

Result<std::string> table_of(const TensorTable& tensors, uint64_t alignment) {
  std::string table;
  uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    const auto type = std::ranges::find(
        kGgufTensorTypes, tensor.type_name(),
        [](const GgufTensorType& known) { return known.dtype ? orrery::name_of(*known.dtype) : known.name; });
    if (type == kGgufTensorTypes.end() || tensor.shape.size() > 4)
      return unsupported(
          fmt::format("GGUF keeps no tensor of {} dims as {}", tensor.shape.size(), tensor.type_name()),
          tensor.name, "store it in another type");
    append(table, static_cast<uint64_t>(tensor.name.size()));
    table += tensor.name;
    append(table, static_cast<uint32_t>(tensor.shape.size()));
    for (auto dim = tensor.shape.rbegin(); dim != tensor.shape.rend(); ++dim)
      append(table, static_cast<uint64_t>(*dim));
    append(table, type->id);
    append(table, offset);
    offset += padded(stored_bytes(tensor), alignment);
  }
  return table;
}

class GgufWriter final : public TensorWriter {
 public:
  GgufWriter(NewFile file, const TensorTable& tensors, uint64_t alignment)
      : file_(std::move(file)), alignment_(alignment) {
    for (const Tensor& tensor : tensors) sizes_.push_back(stored_bytes(tensor));
    pass_empty();
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (at_ == sizes_.size())
        return Error{ErrorCode::internal, "More bytes were written than the tensors have",
                     file_.partial().string(), ""};
      const size_t part = std::min<size_t>(bytes.size(), static_cast<size_t>(sizes_[at_] - done_));
      ORRERY_TRY(file_.write(bytes.first(part)));
      bytes = bytes.subspan(part);
      done_ += part;
      if (done_ < sizes_[at_]) continue;
      const std::vector<std::byte> padding(static_cast<size_t>(padded(done_, alignment_) - done_));
      ORRERY_TRY(file_.write(padding));
      ++at_;
      done_ = 0;
      pass_empty();
    }
    return {};
  }

  Result<std::filesystem::path> finish() override {
    if (at_ == sizes_.size()) return file_.partial();
    return Error{ErrorCode::internal, "Fewer bytes were written than the tensors have",
                 file_.partial().string(), ""};
  }
  Result<void> commit() override { return file_.commit(); }

 private:
  void pass_empty() {
    while (at_ < sizes_.size() && sizes_[at_] == 0) ++at_;
  }

  NewFile file_;
  uint64_t alignment_;
  std::vector<uint64_t> sizes_;
  size_t at_ = 0;      // the tensor that is written
  uint64_t done_ = 0;  // of its bytes
};

}  // namespace

uint64_t stored_bytes(const Tensor& tensor) {
  if (!tensor.foreign_type.empty()) return tensor.data.size();
  const auto size = tensor_size(tensor.dtype, tensor.shape);
  return size ? size->bytes : 0;
}

Result<std::unique_ptr<TensorWriter>> new_gguf(const std::filesystem::path& source,
                                               std::span<const MetadataEdit> edits, TensorTable tensors,
                                               const std::filesystem::path& out) {
  ORRERY_ASSIGN(auto mapped, MappedFile::open(source));
  ORRERY_ASSIGN(const GgufPiece piece, read_gguf_piece(std::move(mapped), {}, {}));
  std::error_code error;
  if (std::filesystem::equivalent(source, out, error))
    return Error{ErrorCode::invalid_argument, "The new file would replace the model that is read",
                 out.string(), "choose another name"};
  GgufEditor editor(piece.file->files.front()->bytes(), piece.layout);
  editor.remove_split();
  for (const MetadataEdit& edit : edits) ORRERY_TRY(editor.apply(edit));
  ORRERY_ASSIGN(const std::string table, table_of(tensors, editor.alignment()));
  const std::string head = editor.head(tensors.size(), table);
  uint64_t bytes = head.size();
  for (const Tensor& tensor : tensors) bytes += padded(stored_bytes(tensor), editor.alignment());
  ORRERY_ASSIGN(NewFile file, NewFile::create(out, bytes));
  ORRERY_TRY(file.write(std::as_bytes(std::span(head))));
  return std::unique_ptr<TensorWriter>(
      std::make_unique<GgufWriter>(std::move(file), tensors, editor.alignment()));
}

}  // namespace orrery::io
