#include "engine/io/gguf_editor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/io/gguf_value.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr size_t kVersionEnd = 8;  // magic and version
constexpr std::string_view kAdvice = "orrery-cli metadata MODEL lists the keys";

}  // namespace

GgufEditor::GgufEditor(std::span<const std::byte> source, const GgufLayout& layout)
    : alignment_(layout.alignment) {
  const std::string_view text(reinterpret_cast<const char*>(source.data()), source.size());
  version_ = text.substr(0, kVersionEnd);
  for (const GgufLayout::Key& key : layout.keys) {
    const size_t value = key.begin + sizeof(uint64_t) + key.name.size() + sizeof(uint32_t);
    Entry entry{key.name, {key.type, key.type}, text.substr(value, key.end - value)};
    uint32_t element = 0;
    if (key.type == GgufValueType::array) std::memcpy(&element, entry.value.data(), sizeof(element));
    if (key.type == GgufValueType::array) entry.type.element = static_cast<GgufValueType>(element);
    entries_.push_back(std::move(entry));
  }
}

Result<void> GgufEditor::apply(const MetadataEdit& edit) {
  if (edit.key == "general.alignment" || edit.key.starts_with("split."))
    return Error{ErrorCode::invalid_argument, "The key says where the tensors stand, which stay as they are",
                 edit.key, "leave it as it is"};
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

void GgufEditor::remove_split() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.name.starts_with("split."); });
}

std::vector<GgufEditor::Entry>::iterator GgufEditor::find(std::string_view name) {
  return std::find_if(entries_.begin(), entries_.end(),
                      [&](const Entry& entry) { return entry.name == name; });
}

Result<void> GgufEditor::set(std::vector<Entry>::iterator entry, const MetadataEdit& edit) {
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

std::string GgufEditor::head(uint64_t tensors, std::string_view table) const {
  std::string bytes(version_);
  append(bytes, tensors);
  append(bytes, static_cast<uint64_t>(entries_.size()));
  for (const Entry& entry : entries_) {
    append(bytes, static_cast<uint64_t>(entry.name.size()));
    bytes += entry.name;
    append(bytes, static_cast<uint32_t>(entry.type.type));
    bytes += entry.value;
  }
  bytes += table;
  bytes.resize((bytes.size() + alignment_ - 1) / alignment_ * alignment_, '\0');
  return bytes;
}

}  // namespace orrery::io
