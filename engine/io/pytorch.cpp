// Files of torch.save. Source: torch/serialization.py (_save, _legacy_save) of PyTorch.
//
// Zip archive, every entry stored as it is and aligned to 64 bytes, so that tensors are the mapped file:
//   NAME/data.pkl     a pickle: the state dict; a tensor names its storage by a key
//   NAME/data/KEY     the bytes of a storage
//   NAME/byteorder    "little" (absent before 2.0: little)          NAME/version, NAME/.data/...: not needed
// Older stream, little-endian:
//   pickle 0x1950a86a20f9469cfc6c   pickle 1001   pickle {"little_endian": True, ...}   pickle: the state
//   dict pickle [KEY, ...]               for each key: i64 elements, bytes of the storage
#include "engine/io/pytorch.h"

#include <fmt/format.h>

#include "engine/io/reader.h"
#include "engine/io/state_dict.h"
#include "engine/io/zip.h"

namespace orrery::io {
namespace {

constexpr std::string_view kLegacyMagic("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
constexpr int64_t kLegacyProtocol = 1001;
constexpr size_t kLongestPickle = size_t{256} * 1024 * 1024;

Error big_endian(const std::string& where) {
  return unsupported("The file is big-endian", where, "save the model again on a little-endian machine");
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// ---- zip archives

struct Archive {
  std::string_view prefix;  // "archive/"
  std::span<const std::byte> pickle;
  StorageBytes storages;
};

/// The entry whose name ends like this; nothing when there is none.
const ZipEntry* find_entry(const std::vector<ZipEntry>& entries, std::string_view ending) {
  for (const ZipEntry& entry : entries)
    if (entry.name.ends_with(ending) && entry.name.find('/') == entry.name.size() - ending.size())
      return &entry;
  return nullptr;
}

Result<Archive> sort_entries(const std::vector<ZipEntry>& entries, const std::string& where) {
  const ZipEntry* pickle = find_entry(entries, "/data.pkl");
  if (!pickle)
    return unsupported("The zip archive is not a file of torch.save", where,
                       "choose a .gguf, .safetensors or PyTorch file, or a model's folder");
  if (find_entry(entries, "/constants.pkl"))
    return unsupported("The file is a TorchScript program, which is not run", where,
                       "save the model's state_dict, or as safetensors");
  Archive archive;
  archive.prefix = pickle->name.substr(0, pickle->name.size() - std::string_view("data.pkl").size());
  archive.pickle = pickle->data;
  const std::string data = std::string(archive.prefix) + "data/";
  for (const ZipEntry& entry : entries) {
    if (!entry.name.starts_with(archive.prefix)) continue;
    if (entry.packed)
      return unsupported(fmt::format("The entry {} is compressed", shown(entry.name)), where,
                         "use the file as torch.save wrote it");
    if (entry.name.starts_with(data)) archive.storages.emplace(entry.name.substr(data.size()), entry.data);
    if (entry.name.substr(archive.prefix.size()) == "byteorder" && text_of(entry.data) != "little")
      return big_endian(where);
  }
  return archive;
}

Result<void> read_archive(const MappedFile& mapped, ModelFile& file, const std::stop_token& stop) {
  const std::string where = mapped.path().filename().string();
  ORRERY_ASSIGN(const std::vector<ZipEntry> entries, read_zip(mapped));
  ORRERY_ASSIGN(const Archive archive, sort_entries(entries, where));
  if (archive.pickle.size() > kLongestPickle)
    return corrupt(fmt::format("A pickle of {} bytes (256 MB is the most)", archive.pickle.size()), where);
  Allowance allowance(mapped.bytes().size());
  ByteReader reader(archive.pickle);
  ORRERY_ASSIGN(const Pickled pickled, read_pickle(reader, where, allowance, stop));
  return read_state_dict(pickled, archive.storages, where, allowance, file);
}

// ---- the older stream

class LegacyReader {
 public:
  LegacyReader(const MappedFile& mapped, const std::stop_token& stop)
      : mapped_(mapped), reader_(mapped.bytes()), allowance_(mapped.bytes().size()), stop_(stop) {}

  Result<void> read(ModelFile& file) {
    std::string_view magic;
    reader_.read(magic, kLegacyMagic.size());
    ORRERY_TRY(check_preamble());
    ORRERY_ASSIGN(const Pickled state, pickle());
    ORRERY_ASSIGN(const StorageBytes storages, read_storages(state));
    return read_state_dict(state, storages, where(), allowance_, file);
  }

 private:
  Result<Pickled> pickle() { return read_pickle(reader_, where(), allowance_, stop_); }

  Result<void> check_preamble() {
    ORRERY_ASSIGN(const Pickled version, pickle());
    const auto* number = std::get_if<int64_t>(&version.root);
    if (!number || *number != kLegacyProtocol)
      return unsupported(fmt::format("The file is not of PyTorch's protocol {}", kLegacyProtocol), where(),
                         "save the model with a newer PyTorch");
    ORRERY_ASSIGN(const Pickled system, pickle());
    const auto* facts = std::get_if<PickleDict>(&system.root);
    if (!facts) return corrupt("The file does not describe the machine that wrote it", where());
    for (const auto& [key, value] : system.dicts[facts->index])
      if (const auto* name = std::get_if<std::string_view>(&key); name && *name == "little_endian")
        if (const auto* little = std::get_if<bool>(&value); little && !*little) return big_endian(where());
    return {};
  }

  Result<StorageBytes> read_storages(const Pickled& state) {
    std::unordered_map<std::string_view, const PickleStorage*> known;
    for (const PickleStorage& storage : state.storages) known.emplace(storage.key, &storage);
    ORRERY_ASSIGN(const Pickled keys, pickle());
    const auto* list = std::get_if<PickleList>(&keys.root);
    if (!list) return corrupt("The file does not list its storages", where());
    StorageBytes storages;
    for (const PickleValue& item : keys.lists[list->index]) {
      const auto* key = std::get_if<std::string_view>(&item);
      const auto it = key ? known.find(*key) : known.end();
      if (it == known.end())
        return corrupt("The file lists a storage that no tensor uses",
                       at_byte(mapped_.path(), reader_.position()));
      ORRERY_ASSIGN(const auto bytes, read_storage(*it->second));
      if (!storages.emplace(*key, bytes).second)
        return corrupt(fmt::format("The storage {} is there twice", shown(*key)), where());
    }
    return storages;
  }

  Result<std::span<const std::byte>> read_storage(const PickleStorage& storage) {
    const size_t begin = reader_.position();
    int64_t elements = 0;
    std::string_view bytes;
    const auto size = static_cast<uint64_t>(storage.type ? storage.type->bytes : 1);
    if (!reader_.read(elements) || elements < 0 || static_cast<uint64_t>(elements) > reader_.left() / size ||
        !reader_.read(bytes, static_cast<uint64_t>(elements) * size))
      return corrupt(fmt::format("The storage {} does not lie inside the file", shown(storage.key)),
                     at_byte(mapped_.path(), begin));
    return mapped_.bytes().subspan(reader_.position() - bytes.size(), bytes.size());
  }

  std::string where() const { return mapped_.path().filename().string(); }

  const MappedFile& mapped_;
  ByteReader reader_;
  Allowance allowance_;
  const std::stop_token& stop_;
};

bool is_legacy(std::span<const std::byte> bytes) { return text_of(bytes).starts_with(kLegacyMagic); }

}  // namespace

bool looks_like_pytorch(std::span<const std::byte> bytes) {
  return looks_like_zip(bytes) || is_legacy(bytes);
}

Result<void> read_pytorch(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                          const std::stop_token& stop) {
  ORRERY_TRY(is_legacy(mapped->bytes()) ? LegacyReader(*mapped, stop).read(file)
                                        : read_archive(*mapped, file, stop));
  file.files.push_back(mapped);
  file.file_bytes += mapped->bytes().size();
  return {};
}

}  // namespace orrery::io
