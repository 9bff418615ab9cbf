// A Hugging Face folder with other tensors than its source; the byte layout of safetensors stands at the top
// of safetensors.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/io/reader.h"
#include "engine/io/safetensors_types.h"
#include "engine/io/tensor_writer.h"

namespace orrery::io {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kLargestBeside = uint64_t{64} << 20;  // of a file that is copied

/// Empty: there is no such type.
std::string_view type_of(const Tensor& tensor) {
  for (const SafetensorsType& type : kSafetensorsTypes)
    if (tensor.foreign_type.empty() ? type.dtype == tensor.dtype : type.name == tensor.foreign_type)
      return type.name;
  return {};
}

std::string as_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Of one file: its length, then a JSON object whose end is padded to eight bytes.
Result<std::string> header_of(std::span<const Tensor> tensors) {
  std::string json = R"({"__metadata__":{"format":"pt"})";
  uint64_t at = 0;
  for (const Tensor& tensor : tensors) {
    const std::string_view type = type_of(tensor);
    if (type.empty())
      return unsupported(fmt::format("safetensors keeps no tensor as {}", tensor.type_name()), tensor.name,
                         "store it as f16, bf16 or f32");
    json += fmt::format(R"(,{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", as_json(tensor.name),
                        type, fmt::join(tensor.shape, ","), at, at + stored_bytes(tensor));
    at += stored_bytes(tensor);
  }
  json += '}';
  json.resize((json.size() + 7) / 8 * 8, ' ');
  const auto length = static_cast<uint64_t>(json.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + json;
}

bool is_weights(const fs::path& name) {
  static constexpr std::string_view kEndings[] = {".safetensors", ".bin",  ".pt", ".pth",  ".h5",
                                                  ".msgpack",     ".onnx", ".ot", ".gguf", ".npz"};
  const std::string text = name.string();
  return std::ranges::find(kEndings, name.extension().string()) != std::end(kEndings) ||
         text.ends_with(".index.json") || text.starts_with("adapter_");
}

/// The folders of sentence-transformers' modules: "1_Pooling".
bool is_module(const fs::path& name) {
  const std::string text = name.string();
  return text.size() > 2 && text[0] >= '0' && text[0] <= '9' && text[1] == '_';
}

Result<void> copy_beside(const fs::path& from, const fs::path& to, bool top) {
  std::error_code error;
  for (fs::directory_iterator it(from, error), end; !error && it != end; it.increment(error)) {
    const fs::path name = it->path().filename();
    if (top && it->is_directory(error) && is_module(name)) {
      fs::create_directory(to / name, error);
      if (!error) ORRERY_TRY(copy_beside(it->path(), to / name, false));
    } else if (it->is_regular_file(error) && !is_weights(name) && !name.string().starts_with(".") &&
               !(top && name == "config.json") && it->file_size(error) <= kLargestBeside) {
      fs::copy_file(it->path(), to / name, error);
    }
    if (error) break;
  }
  if (!error) return {};
  return Error{ErrorCode::io, "The files beside the weights cannot be copied: " + error.message(),
               from.string(), "check the folders and their permissions"};
}

class FolderWriter final : public TensorWriter {
 public:
  FolderWriter(fs::path out, fs::path partial, TensorTable tensors, uint64_t largest_shard)
      : out_(std::move(out)), partial_(std::move(partial)), tensors_(std::move(tensors)) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (bytes > 0 && bytes + stored_bytes(tensors_[i]) > largest_shard) bytes = 0;
      if (bytes == 0) shards_.push_back({i, i});
      shards_.back().end = i + 1;
      bytes += std::max<uint64_t>(stored_bytes(tensors_[i]), 1);
    }
  }
  ~FolderWriter() override {
    std::error_code error;
    if (!partial_.empty()) fs::remove_all(partial_, error);
  }

  Result<void> begin(const fs::path& source, const std::string& config) {
    ORRERY_TRY(copy_beside(source, partial_, true));
    ORRERY_ASSIGN(NewFile file, NewFile::create(partial_ / "config.json", config.size()));
    ORRERY_TRY(file.write(std::as_bytes(std::span(config))));
    ORRERY_TRY(file.commit());
    return next_shard();
  }

  Result<void> write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      if (!file_)
        return Error{ErrorCode::internal, "More bytes were written than the tensors have", partial_.string(),
                     ""};
      const size_t part = std::min<size_t>(bytes.size(), static_cast<size_t>(left_));
      ORRERY_TRY(file_->write(bytes.first(part)));
      bytes = bytes.subspan(part);
      left_ -= part;
      if (left_ == 0) ORRERY_TRY(next_shard());
    }
    return {};
  }

  Result<fs::path> finish() override {
    if (file_)
      return Error{ErrorCode::internal, "Fewer bytes were written than the tensors have", partial_.string(),
                   ""};
    if (shards_.size() > 1) ORRERY_TRY(write_index());
    return partial_;
  }

  Result<void> commit() override {
    std::error_code error;
    fs::rename(partial_, out_, error);
    if (error)
      return Error{ErrorCode::io, "The folder cannot take its name: " + error.message(), out_.string(),
                   "check the folder and its permissions"};
    partial_.clear();
    return {};
  }

 private:
  struct Shard {
    size_t begin, end;
  };

  std::string name_of_shard(size_t shard) const {
    return shards_.size() <= 1 ? "model.safetensors"
                               : fmt::format("model-{:05}-of-{:05}.safetensors", shard + 1, shards_.size());
  }

  /// Ends the one that is written, and those that hold no byte.
  Result<void> next_shard() {
    while (left_ == 0) {
      if (file_) ORRERY_TRY(file_->commit());
      file_.reset();
      if (at_ == shards_.size()) return {};
      const std::span<const Tensor> tensors(tensors_.data() + shards_[at_].begin,
                                            shards_[at_].end - shards_[at_].begin);
      for (const Tensor& tensor : tensors) left_ += stored_bytes(tensor);
      ORRERY_ASSIGN(const std::string header, header_of(tensors));
      ORRERY_ASSIGN(NewFile file, NewFile::create(partial_ / name_of_shard(at_++), header.size() + left_));
      ORRERY_TRY(file.write(std::as_bytes(std::span(header))));
      file_.emplace(std::move(file));
    }
    return {};
  }

  Result<void> write_index() {
    uint64_t bytes = 0;
    std::string map;
    for (size_t shard = 0; shard < shards_.size(); ++shard)
      for (size_t i = shards_[shard].begin; i < shards_[shard].end; ++i) {
        bytes += stored_bytes(tensors_[i]);
        map += fmt::format("{}    {}: \"{}\"", map.empty() ? "" : ",\n", as_json(tensors_[i].name),
                           name_of_shard(shard));
      }
    const std::string json = fmt::format(
        "{{\n  \"metadata\": {{\"total_size\": {}}},\n  \"weight_map\": {{\n{}\n  }}\n}}\n", bytes, map);
    ORRERY_ASSIGN(NewFile file, NewFile::create(partial_ / "model.safetensors.index.json", json.size()));
    ORRERY_TRY(file.write(std::as_bytes(std::span(json))));
    return file.commit();
  }

  fs::path out_, partial_;
  TensorTable tensors_;
  std::vector<Shard> shards_;
  size_t at_ = 0;  // the shard after the one that is written
  std::optional<NewFile> file_;
  uint64_t left_ = 0;  // bytes that it lacks
};

}  // namespace

bool is_safetensors_type(DType dtype) { return !type_of({"", dtype, {}, {}}).empty(); }

Result<std::unique_ptr<TensorWriter>> new_folder(const fs::path& source, std::string config,
                                                 TensorTable tensors, const fs::path& out,
                                                 uint64_t largest_shard) {
  std::error_code error;
  if (fs::exists(out, error) && !(fs::is_directory(out, error) && fs::is_empty(out, error)))
    return Error{ErrorCode::invalid_argument, "The folder is there, and not empty", out.string(),
                 "choose another name"};
  uint64_t bytes = config.size();
  for (const Tensor& tensor : tensors) bytes += stored_bytes(tensor);
  const fs::path whole = fs::absolute(out, error).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  if (const fs::space_info space = fs::space(named.parent_path(), error); !error && space.available < bytes)
    return Error{ErrorCode::io,
                 fmt::format("{} bytes are needed, and the disk has {} free", bytes, space.available),
                 out.string(), "make room or choose another disk"};
  const fs::path partial =
      named.parent_path() / fmt::format(".{}.{}.partial", named.filename().string(), ::getpid());
  fs::remove_all(partial, error);
  fs::create_directory(partial, error);
  if (error)
    return Error{ErrorCode::io, "The folder cannot be made: " + error.message(), out.string(),
                 "check the folder and its permissions"};
  auto writer = std::make_unique<FolderWriter>(named, partial, std::move(tensors), largest_shard);
  ORRERY_TRY(writer->begin(source, config));
  return std::unique_ptr<TensorWriter>(std::move(writer));
}

}  // namespace orrery::io
