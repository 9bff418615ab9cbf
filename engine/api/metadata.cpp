#include "engine/api/metadata.h"

#include <fmt/format.h>

#include "engine/api/guard.h"
#include "engine/api/library.h"
#include "engine/io/gguf_write.h"

namespace orrery::api {
namespace {

constexpr size_t kTextLimit = 4096;  // bytes of one text that are shown
constexpr size_t kMostItems = 8;     // of an array

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
        listed.push_back({key.name, key.type, value_text(*value)});
    return listed;
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
