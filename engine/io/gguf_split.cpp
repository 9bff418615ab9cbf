// Split GGUF, as llama.cpp's gguf-split and gguf-py write it: STEM-00001-of-00003.gguf and so on, each a GGUF
// file with tensors of its own and the keys
//   split.no             from 0 on         split.count   files in all          split.tensors.count   tensors
//   in all
// All other metadata stands in the first, which may have no tensors.
#include <fmt/format.h>

#include <charconv>

#include "engine/io/gguf.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr int64_t kMostPieces = 4096;
constexpr size_t kDigits = 5;

std::string piece_name(const std::string& stem, int64_t number, int64_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", stem, number, count);
}

std::optional<int> five_digits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.size() != kDigits || error != std::errc() || end != text.data() + text.size() || value < 1)
    return std::nullopt;
  return value;
}

/// split.no and split.count; nothing when the model is whole.
struct Split {
  int64_t number = 0, count = 0;
};
Result<std::optional<Split>> read_split(const ModelFile& file) {
  if (!file.metadata.find("split.count")) return std::optional<Split>();
  const auto count = file.metadata.integer("split.count"), number = file.metadata.integer("split.no");
  if (count && *count <= 1) return std::optional<Split>();
  if (!count || !number || *count > kMostPieces || *number < 0 || *number >= *count)
    return corrupt(
        fmt::format("split.no and split.count do not say which piece of how many (at most {}) this is",
                    kMostPieces),
        file.path.filename().string());
  return std::optional(Split{*number, *count});
}

/// The files of all pieces, by the name of this one.
Result<std::vector<std::filesystem::path>> find_pieces(const std::filesystem::path& path,
                                                       const Split& split) {
  const std::string own = path.filename().string();
  const auto named = parse_piece_name(own);
  if (!named || named->number != split.number + 1 || named->count != split.count)
    return Error{
        ErrorCode::not_found,
        fmt::format("The file is piece {} of {} of a model, which its name does not say", split.number + 1,
                    split.count),
        path.string(),
        fmt::format("name the pieces as they were: {}", piece_name("NAME", split.number + 1, split.count))};
  std::vector<std::filesystem::path> pieces;
  std::string missing;
  std::error_code error;
  for (int64_t i = 1; i <= split.count; ++i) {
    pieces.push_back(path.parent_path() / piece_name(named->stem, i, split.count));
    if (std::filesystem::exists(pieces.back(), error)) continue;
    if (missing.size() < 400)
      missing += (missing.empty() ? "" : ", ") + pieces.back().filename().string();
    else if (!missing.ends_with(" ..."))
      missing += " ...";
  }
  if (!missing.empty())
    return Error{ErrorCode::not_found,
                 fmt::format("Of the {} pieces of this model some are missing: {}", split.count, missing),
                 path.string(), "put all pieces into one folder"};
  return pieces;
}

/// The tensors of `piece` come to `model`, with the file that holds them.
Result<void> join(ModelFile& model, ModelFile&& piece) {
  for (Tensor& tensor : piece.tensors) {
    const std::string name = shown(tensor.name);
    if (!add_tensor(model, std::move(tensor)))
      return corrupt(fmt::format("The tensor {} is in two pieces", name), piece.path.filename().string());
  }
  model.files.insert(model.files.end(), piece.files.begin(), piece.files.end());
  model.file_bytes += piece.file_bytes;
  return {};
}

/// The first piece with the tensors of all.
Result<std::shared_ptr<ModelFile>> read_pieces(const std::shared_ptr<ModelFile>& opened, const Split& split,
                                               const ProgressCallback& progress,
                                               const std::stop_token& stop) {
  ORRERY_ASSIGN(const auto paths, find_pieces(opened->path, split));
  std::shared_ptr<ModelFile> model;
  for (int64_t i = 0; i < split.count; ++i) {
    if (stop.stop_requested()) return cancelled_error();
    if (progress) progress("reading pieces", static_cast<uint64_t>(i), static_cast<uint64_t>(split.count));
    std::shared_ptr<ModelFile> piece = opened;
    if (i != split.number) {
      ORRERY_ASSIGN(auto mapped, MappedFile::open(paths[static_cast<size_t>(i)]));
      ORRERY_ASSIGN(GgufPiece read, read_gguf_piece(std::move(mapped), {}, stop));
      piece = std::move(read.file);
      ORRERY_ASSIGN(const std::optional<Split> own, read_split(*piece));
      if (!own || own->number != i || own->count != split.count)
        return corrupt(fmt::format("The file is not piece {} of {}, as its name says", i + 1, split.count),
                       piece->path.filename().string());
    }
    if (!model) {
      model = std::move(piece);
      continue;
    }
    ORRERY_TRY(join(*model, std::move(*piece)));
  }
  const auto promised = model->metadata.integer("split.tensors.count");
  if (promised && *promised != static_cast<int64_t>(model->tensors.size()))
    return corrupt(
        fmt::format("The pieces hold {} tensors, and {} are promised", model->tensors.size(), *promised),
        model->path.filename().string());
  return model;
}

Result<void> read_identity(ModelFile& file) {
  const std::string* architecture = file.metadata.text("general.architecture");
  const std::string own = file.path.filename().string(), where = own + ", key general.architecture";
  if (const std::string* type = file.metadata.text("general.type"); type && *type == "adapter")
    return Error{ErrorCode::invalid_argument, "The file holds an adapter, not a model", file.path.string(),
                 "open its base model, with this file as the adapter"};
  if (!architecture || architecture->empty())
    return corrupt(file.metadata.find("general.architecture") ? "general.architecture is not a name"
                                                              : "The file does not name its architecture",
                   where);
  if (file.tensors.empty() && !file.metadata.find("tokenizer.ggml.model"))
    return corrupt("The file has neither tensors nor a tokenizer", own);
  file.architecture = *architecture;
  const auto piece = parse_piece_name(own);
  const std::string* name = file.metadata.text("general.name");
  file.name = name && !name->empty() ? *name : piece ? piece->stem : file.path.stem().string();
  if (const std::string* chat = file.metadata.text("tokenizer.chat_template")) file.chat_template = *chat;
  return {};
}

}  // namespace

std::optional<GgufPieceName> parse_piece_name(const std::string& file_name) {
  constexpr std::string_view kEnding = ".gguf", kOf = "-of-";
  constexpr size_t kTail = 1 + kDigits + kOf.size() + kDigits + kEnding.size();
  if (file_name.size() <= kTail || !file_name.ends_with(kEnding)) return std::nullopt;
  const std::string_view tail = std::string_view(file_name).substr(file_name.size() - kTail);
  const auto number = five_digits(tail.substr(1, kDigits));
  const auto count = five_digits(tail.substr(1 + kDigits + kOf.size(), kDigits));
  if (tail.front() != '-' || tail.substr(1 + kDigits, kOf.size()) != kOf || !number || !count ||
      *number > *count)
    return std::nullopt;
  return GgufPieceName{file_name.substr(0, file_name.size() - kTail), *number, *count};
}

Result<std::shared_ptr<ModelFile>> read_gguf(std::shared_ptr<const MappedFile> mapped,
                                             const ProgressCallback& progress, const std::stop_token& stop) {
  ORRERY_ASSIGN(GgufPiece piece, read_gguf_piece(std::move(mapped), progress, stop));
  std::shared_ptr<ModelFile> file = std::move(piece.file);
  ORRERY_ASSIGN(const std::optional<Split> split, read_split(*file));
  if (split) {
    ORRERY_ASSIGN(file, read_pieces(file, *split, progress, stop));
  }
  ORRERY_TRY(read_identity(*file));
  return file;
}

}  // namespace orrery::io
