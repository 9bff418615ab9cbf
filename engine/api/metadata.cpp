#include "engine/api/metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "engine/api/guard.h"
#include "engine/api/library.h"
#include "engine/io/gguf_value.h"
#include "engine/io/gguf_write.h"

namespace orrery::api {
namespace {

constexpr size_t kTextLimit = 4096;   // bytes of one text that are shown
constexpr size_t kMostItems = 8;      // of an array
constexpr size_t kEditLimit = 65536;  // bytes or items that a person may edit

struct ValueText {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(int64_t number) const { return fmt::format("{}", number); }
  std::string operator()(double number) const { return fmt::format("{:g}", number); }
  std::string operator()(const std::string& text) const {
    if (text.size() <= kTextLimit) return text;
    return text.substr(0, kTextLimit) + fmt::format("... ({} bytes)", text.size());
  }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    if (list.size() > kMostItems) return fmt::format("[{} values]", list.size());
    std::string text = "[";
    for (const T& item : list) text += (text.size() > 1 ? ", " : "") + (*this)(item);
    return text + "]";
  }
};

/// As MetadataEdit::value takes it: one value plain, an array as JSON.
struct EditText {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::string& text) const { return text; }
  template <class T>
  std::string operator()(T number) const {
    return fmt::format("{}", number);
  }
  std::string operator()(const std::vector<std::string>& texts) const { return nlohmann::json(texts).dump(); }
  template <class T>
  std::string operator()(const std::vector<T>& numbers) const {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
  }
};

std::optional<std::string> edit_text(const Metadata::Value& value) {
  const size_t items = std::visit(
      [](const auto& held) -> size_t {
        if constexpr (requires { held.size(); }) return held.size();
        return 1;
      },
      value);
  if (items > kEditLimit) return std::nullopt;
  try {
    std::string text = std::visit(EditText{}, value);
    if (text.size() <= kEditLimit) return text;
  } catch (const nlohmann::json::exception&) {  // texts that are no UTF-8
  }
  return std::nullopt;
}

/// The GGUF file that a model's name stands for.
Result<std::filesystem::path> gguf_file(const std::string& model) {
  ORRERY_ASSIGN(const ModelPath path, resolve_model(model, {}));
  ORRERY_ASSIGN(const auto file, io::open_model(path.model, {}, {}));
  if (file->format != io::Format::gguf)
    return Error{ErrorCode::unsupported,
                 fmt::format("The metadata of the format {} is not edited", io::name_of(file->format)),
                 path.model.string(), "choose a .gguf file; other formats keep theirs in config.json"};
  return file->path;
}

}  // namespace

std::string value_text(const Metadata::Value& value) { return std::visit(ValueText{}, value); }

Result<std::vector<MetadataKey>> list_metadata(const std::string& model) {
  return guarded([&]() -> Result<std::vector<MetadataKey>> {
    ORRERY_ASSIGN(const std::filesystem::path path, gguf_file(model));
    ORRERY_ASSIGN(const auto file, io::open_model(path, {}, {}));
    ORRERY_ASSIGN(const std::vector<io::GgufKey> keys, io::gguf_keys(path));
    std::vector<MetadataKey> listed;
    for (const io::GgufKey& key : keys)
      if (const Metadata::Value* value = file->metadata.find(key.name))
        listed.push_back({key.name, key.type, value_text(*value), edit_text(*value)});
    return listed;
  });
}

Result<void> check_metadata_value(const MetadataEdit& edit) {
  return guarded([&]() -> Result<void> {
    const auto type = io::parse_key_type(edit.type);
    if (!type)
      return Error{ErrorCode::invalid_argument, fmt::format("There is no type \"{}\"", edit.type), edit.key,
                   "types are u8 to u64, i8 to i64, f32, f64, bool, string, and arrays such as u32[]"};
    ORRERY_TRY(io::encode_value(*type, edit.value, edit.key));
    return {};
  });
}

Result<void> save_metadata(const std::string& model, std::span<const MetadataEdit> edits,
                           const std::string& out, const ProgressCallback& progress, std::stop_token stop) {
  return guarded([&]() -> Result<void> {
    ORRERY_ASSIGN(const std::filesystem::path path, gguf_file(model));
    return io::write_gguf(path, edits, out, progress, stop);
  });
}

}  // namespace orrery::api
