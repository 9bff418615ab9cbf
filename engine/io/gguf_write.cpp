#include "engine/io/gguf_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/io/gguf_value.h"
#include "engine/io/new_file.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr size_t kChunk = size_t{8} << 20;
constexpr size_t kCountsEnd = 24;  // magic, version and the two counts
constexpr std::string_view kAdvice = "orrery-cli metadata MODEL lists the keys";

/// A key as it will be written: bytes of the source, or new ones.
struct Entry {
  std::string name;
  GgufKeyType type;
  std::string_view value;
};

class Editor {
 public:
  Editor(std::span<const std::byte> source, const GgufLayout& layout) {
    const std::string_view text(reinterpret_cast<const char*>(source.data()), source.size());
    for (const GgufLayout::Key& key : layout.keys) {
      const size_t value = key.begin + sizeof(uint64_t) + key.name.size() + sizeof(uint32_t);
      Entry entry{key.name, {key.type, key.type}, text.substr(value, key.end - value)};
      uint32_t element = 0;
      if (key.type == GgufValueType::array) std::memcpy(&element, entry.value.data(), sizeof(element));
      if (key.type == GgufValueType::array) entry.type.element = static_cast<GgufValueType>(element);
      entries_.push_back(std::move(entry));
    }
  }

  Result<void> apply(const MetadataEdit& edit) {
    if (edit.key == "general.alignment" || edit.key.starts_with("split."))
      return Error{ErrorCode::invalid_argument,
                   "The key says where the tensors stand, which stay as they are", edit.key,
                   "leave it as it is"};
    const auto entry = find(edit.key);
    if (entry == entries_.end() && edit.action != MetadataEdit::Action::set)
      return Error{ErrorCode::not_found, "The file has no such key", edit.key, std::string(kAdvice)};
    switch (edit.action) {
      case MetadataEdit::Action::set:
        return set(entry, edit);
      case MetadataEdit::Action::remove:
        entries_.erase(entry);
        return {};
      case MetadataEdit::Action::rename:
        break;
    }
    if (edit.value.empty() || find(edit.value) != entries_.end())
      return Error{
          ErrorCode::invalid_argument,
          edit.value.empty() ? "A key needs a name" : fmt::format("The key {} is there", shown(edit.value)),
          edit.key, "choose another name"};
    entry->name = edit.value;
    return {};
  }

  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry>::iterator find(std::string_view name) {
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const Entry& entry) { return entry.name == name; });
  }

  Result<void> set(std::vector<Entry>::iterator entry, const MetadataEdit& edit) {
    const bool known = entry != entries_.end();
    const auto asked = parse_key_type(edit.type);
    if ((!edit.type.empty() && !asked) || edit.key.empty())
      return Error{
          ErrorCode::invalid_argument,
          edit.key.empty() ? "A key needs a name" : fmt::format("There is no type {}", shown(edit.type)),
          edit.key, "types are u8 to u64, i8 to i64, f32, f64, bool, string, and arrays such as u32[]"};
    const GgufKeyType type = asked ? *asked : known ? entry->type : GgufKeyType{};
    ORRERY_ASSIGN(std::string bytes, encode_value(type, edit.value, edit.key));
    made_.push_back(std::make_unique<std::string>(std::move(bytes)));
    if (!known) entry = entries_.insert(entries_.end(), Entry{edit.key, {}, {}});
    entry->type = type;
    entry->value = *made_.back();
    return {};
  }

  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<std::string>> made_;  // values that the source does not have
};

/// All that stands before the first tensor's bytes.
std::string header(std::span<const std::byte> source, const GgufLayout& layout,
                   const std::vector<Entry>& entries) {
  const std::string_view text(reinterpret_cast<const char*>(source.data()), source.size());
  std::string bytes(text.substr(0, kCountsEnd - sizeof(uint64_t)));
  append(bytes, static_cast<uint64_t>(entries.size()));
  for (const Entry& entry : entries) {
    append(bytes, static_cast<uint64_t>(entry.name.size()));
    bytes += entry.name;
    append(bytes, static_cast<uint32_t>(entry.type.type));
    bytes += entry.value;
  }
  bytes += text.substr(layout.table_begin, layout.table_end - layout.table_begin);
  bytes.resize((bytes.size() + layout.alignment - 1) / layout.alignment * layout.alignment, '\0');
  return bytes;
}

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
  const Editor editor(source.file->files.front()->bytes(), source.layout);
  std::vector<GgufKey> keys;
  for (const Entry& entry : editor.entries()) keys.push_back({entry.name, name_of(entry.type)});
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
  Editor editor(bytes, source.layout);
  for (const MetadataEdit& edit : edits) ORRERY_TRY(editor.apply(edit));
  const std::string head = header(bytes, source.layout, editor.entries());
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
