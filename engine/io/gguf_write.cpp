#include "engine/io/gguf_write.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/gguf_editor.h"
#include "engine/io/new_file.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr size_t kChunk = size_t{8} << 20;

Result<void> copy(NewFile& file, std::span<const std::byte> bytes, const ProgressCallback& progress,
                  const std::stop_token& stop) {
  for (size_t done = 0; done < bytes.size(); done += kChunk) {
    if (stop.stop_requested()) return cancelled_error();
    if (progress) progress("copying tensors", done, bytes.size());
    ORRERY_TRY(file.write(bytes.subspan(done, std::min(kChunk, bytes.size() - done))));
  }
  return {};
}

Result<GgufPiece> open_source(const std::filesystem::path& path, const std::stop_token& stop) {
  ORRERY_ASSIGN(auto mapped, MappedFile::open(path));
  if (!looks_like_gguf(mapped->bytes()))
    return unsupported("The file is not GGUF, so its metadata cannot be edited here", path.string(),
                       "choose a .gguf file");
  return read_gguf_piece(std::move(mapped), {}, stop);
}

}  // namespace

Result<std::vector<GgufKey>> gguf_keys(const std::filesystem::path& path) {
  ORRERY_ASSIGN(const GgufPiece source, open_source(path, {}));
  const GgufEditor editor(source.file->files.front()->bytes(), source.layout);
  std::vector<GgufKey> keys;
  for (const GgufEditor::Entry& entry : editor.entries()) keys.push_back({entry.name, name_of(entry.type)});
  return keys;
}

Result<void> write_gguf(const std::filesystem::path& path, std::span<const MetadataEdit> edits,
                        const std::filesystem::path& out, const ProgressCallback& progress,
                        const std::stop_token& stop) {
  ORRERY_ASSIGN(const GgufPiece source, open_source(path, stop));
  if (source.file->metadata.integer("split.count").value_or(1) > 1)
    return unsupported("The file is one piece of a split model", path.string(),
                       "merge its pieces into one file first (llama-gguf-split --merge)");
  std::error_code error;
  if (std::filesystem::equivalent(path, out, error))
    return Error{ErrorCode::invalid_argument, "The new file would replace the model that is read",
                 out.string(), "choose another name"};
  const std::span<const std::byte> bytes = source.file->files.front()->bytes();
  GgufEditor editor(bytes, source.layout);
  for (const MetadataEdit& edit : edits) ORRERY_TRY(editor.apply(edit));
  const std::string_view table(reinterpret_cast<const char*>(bytes.data()) + source.layout.table_begin,
                               source.layout.table_end - source.layout.table_begin);
  const std::string head = editor.head(source.file->tensors.size(), table);
  const auto data = bytes.subspan(std::min<size_t>(bytes.size(), source.layout.data_begin()));
  ORRERY_ASSIGN(NewFile file, NewFile::create(out, head.size() + data.size()));
  ORRERY_TRY(file.write(std::as_bytes(std::span(head))));
  ORRERY_TRY(copy(file, data, progress, stop));
  ORRERY_ASSIGN(auto written, MappedFile::open(file.partial()));
  if (auto read = read_gguf(std::move(written), {}, stop); !read.ok()) {
    Error refusal = std::move(read).error();
    refusal.code = ErrorCode::invalid_argument;
    refusal.advice = "with these changes the file would not open";
    return refusal;
  }
  return file.commit();
}

}  // namespace orrery::io
