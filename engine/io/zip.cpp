// Zip, little-endian. Source: PKWARE's APPNOTE.TXT, sections 4.3 and 4.5.
//
//   entries:    "PK\3\4"  26 bytes, of which the last four: u16 name length, u16 extra length   name  extra
//   data directory:  "PK\1\2"  u16 made by  u16 needed  u16 flags  u16 method  u32 time  u32 crc  u32 packed
//   size
//               u32 size  u16 name length  u16 extra length  u16 comment length  8 bytes  u32 entry offset
//               name  extra  comment
//   its end:    "PK\5\6"  8 bytes  u16 entries  u32 directory size  u32 directory offset  u16 comment length
// Numbers too large for their field are all ones there, and in full in the extra field 1 (u16 id, u16 size,
// then u64 size, packed size, offset: only those that are needed), and for the end in
//   "PK\6\6"  u64 size of the rest  12 bytes  16 bytes  u64 entries in all  u64 directory size  u64 offset
// which a locator names just before the end:  "PK\6\7"  u32 disk  u64 offset of "PK\6\6"  u32 disks
//
// The directory is what counts; of an entry's own header only the lengths are used.
#include "engine/io/zip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kLargeEnd = 0x06064b50, kLargeLocator = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22, kLargeEndBytes = 56,
                 kLocatorBytes = 20;
constexpr size_t kLongestComment = 65535;
constexpr uint32_t kInExtra32 = UINT32_MAX;
constexpr uint16_t kInExtra16 = UINT16_MAX, kEncrypted = 1, kLargeSizes = 1;

/// A field of a header whose bytes are known to be there.
template <class T>
T field(std::span<const std::byte> header, size_t offset) {
  T value;
  std::memcpy(&value, header.data() + offset, sizeof(T));
  return value;
}

struct Directory {
  uint64_t entries = 0, bytes = 0, offset = 0;
};
struct Place {
  uint64_t size = 0, packed_size = 0, header = 0;  // header: where the entry's own header begins
};

class ZipReader {
 public:
  explicit ZipReader(const MappedFile& mapped) : mapped_(mapped), bytes_(mapped.bytes()) {}

  Result<std::vector<ZipEntry>> read();

 private:
  Result<Directory> find_directory() const;
  Result<Directory> large_directory(size_t end) const;
  Result<void> read_entry(ByteReader& directory);
  Result<void> read_large_sizes(std::string_view name, std::string_view extra, Place& place) const;
  Result<void> place_entry(std::string_view name, const Place& place, bool packed);
  Result<void> check_overlaps();

  Error broken(std::string what, uint64_t position) const {
    return corrupt(std::move(what), at_byte(mapped_.path(), position));
  }

  const MappedFile& mapped_;
  std::span<const std::byte> bytes_;
  Directory directory_;
  std::vector<ZipEntry> entries_;
  std::unordered_set<std::string_view> names_;
  struct Extent {
    uint64_t begin, end;
    std::string_view name;
  };
  std::vector<Extent> extents_;  // of the entries with their headers
};

Result<Directory> ZipReader::large_directory(size_t end) const {
  const auto missing = [&] { return broken("The archive's large directory is damaged", end); };
  if (end < kLocatorBytes) return missing();
  const auto locator = bytes_.subspan(end - kLocatorBytes, kLocatorBytes);
  const auto offset = field<uint64_t>(locator, 8);
  if (field<uint32_t>(locator, 0) != kLargeLocator || offset > end || end - offset < kLargeEndBytes)
    return missing();
  const auto header = bytes_.subspan(static_cast<size_t>(offset), kLargeEndBytes);
  if (field<uint32_t>(header, 0) != kLargeEnd) return missing();
  return Directory{field<uint64_t>(header, 32), field<uint64_t>(header, 40), field<uint64_t>(header, 48)};
}

Result<Directory> ZipReader::find_directory() const {
  const size_t size = bytes_.size();
  if (size < kEndBytes) return broken("The file is too short for a zip archive", 0);
  const size_t last = size - kEndBytes, first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = last + 1; at-- > first;) {
    const auto end = bytes_.subspan(at, kEndBytes);
    if (field<uint32_t>(end, 0) != kEnd || field<uint16_t>(end, 20) != last - at) continue;
    const auto entries = field<uint16_t>(end, 10);
    const auto bytes = field<uint32_t>(end, 12), offset = field<uint32_t>(end, 16);
    if (entries == kInExtra16 || bytes == kInExtra32 || offset == kInExtra32) return large_directory(at);
    return Directory{entries, bytes, offset};
  }
  return broken("The archive has no directory: it is cut short", size);
}

Result<void> ZipReader::read_large_sizes(std::string_view name, std::string_view extra, Place& place) const {
  ByteReader fields(std::as_bytes(std::span(extra)));
  uint16_t id = 0, length = 0;
  std::string_view content;
  while (fields.read(id) && fields.read(length) && fields.read(content, length)) {
    if (id != kLargeSizes) continue;
    ByteReader sizes(std::as_bytes(std::span(content)));
    bool there = true;
    for (uint64_t* value : {&place.size, &place.packed_size, &place.header})
      if (*value == kInExtra32) there = there && sizes.read(*value);
    if (there) return {};
  }
  return broken(fmt::format("The sizes of the entry {} are missing", shown(name)), directory_.offset);
}

Result<void> ZipReader::place_entry(std::string_view name, const Place& place, bool packed) {
  const auto outside = [&] {
    return broken(
        fmt::format("The entry {} of {} bytes does not lie inside the file", shown(name), place.packed_size),
        place.header);
  };
  const uint64_t room = directory_.offset;  // entries stand before the directory
  if (place.header > room || room - place.header < kLocalBytes) return outside();
  const auto header = bytes_.subspan(static_cast<size_t>(place.header), kLocalBytes);
  if (field<uint32_t>(header, 0) != kLocalHeader)
    return broken(fmt::format("The entry {} has no header", shown(name)), place.header);
  const uint64_t begin =
      place.header + kLocalBytes + field<uint16_t>(header, 26) + field<uint16_t>(header, 28);
  if (begin > room || place.packed_size > room - begin) return outside();
  if (!packed && place.size != place.packed_size)
    return broken(fmt::format("The entry {} is stored, with two sizes", shown(name)), place.header);
  ZipEntry entry{name, {}, packed};
  if (!packed) entry.data = bytes_.subspan(static_cast<size_t>(begin), static_cast<size_t>(place.size));
  entries_.push_back(entry);
  extents_.push_back({place.header, begin + place.packed_size, name});
  return {};
}

Result<void> ZipReader::read_entry(ByteReader& directory) {
  const uint64_t at = directory_.offset + directory.position();
  std::string_view fixed, name, extra, comment;
  if (!directory.read(fixed, kCentralBytes))
    return broken("The archive's directory ends inside an entry", at);
  const auto header = std::as_bytes(std::span(fixed));
  if (field<uint32_t>(header, 0) != kCentralHeader)
    return broken("The archive's directory holds something else than entries", at);
  if (!directory.read(name, field<uint16_t>(header, 28)) ||
      !directory.read(extra, field<uint16_t>(header, 30)) ||
      !directory.read(comment, field<uint16_t>(header, 32)))
    return broken("The archive's directory ends inside an entry", at);
  if (!names_.insert(name).second) return broken(fmt::format("The entry {} is there twice", shown(name)), at);
  Place place{field<uint32_t>(header, 24), field<uint32_t>(header, 20), field<uint32_t>(header, 42)};
  if (place.size == kInExtra32 || place.packed_size == kInExtra32 || place.header == kInExtra32)
    ORRERY_TRY(read_large_sizes(name, extra, place));
  const bool packed = field<uint16_t>(header, 10) != 0 || (field<uint16_t>(header, 8) & kEncrypted) != 0;
  return place_entry(name, place, packed);
}

Result<void> ZipReader::check_overlaps() {
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < extents_.size(); ++i)
    if (extents_[i - 1].end > extents_[i].begin)
      return broken(
          fmt::format("The entries {} and {} overlap", shown(extents_[i - 1].name), shown(extents_[i].name)),
          extents_[i].begin);
  return {};
}

Result<std::vector<ZipEntry>> ZipReader::read() {
  ORRERY_ASSIGN(directory_, find_directory());
  if (directory_.offset > bytes_.size() || directory_.bytes > bytes_.size() - directory_.offset ||
      directory_.entries > directory_.bytes / kCentralBytes)
    return broken(
        fmt::format("The archive's directory of {} entries does not lie inside the file", directory_.entries),
        bytes_.size());
  ByteReader directory(
      bytes_.subspan(static_cast<size_t>(directory_.offset), static_cast<size_t>(directory_.bytes)));
  for (uint64_t i = 0; i < directory_.entries; ++i) ORRERY_TRY(read_entry(directory));
  ORRERY_TRY(check_overlaps());
  return std::move(entries_);
}

}  // namespace

bool looks_like_zip(std::span<const std::byte> bytes) {
  return bytes.size() >= sizeof(kLocalHeader) && field<uint32_t>(bytes, 0) == kLocalHeader;
}

std::optional<std::string_view> first_zip_entry(std::span<const std::byte> bytes) {
  if (!looks_like_zip(bytes) || bytes.size() < kLocalBytes) return std::nullopt;
  const size_t length = field<uint16_t>(bytes, 26);
  if (length > bytes.size() - kLocalBytes) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()) + kLocalBytes, length);
}

Result<std::vector<ZipEntry>> read_zip(const MappedFile& mapped) { return ZipReader(mapped).read(); }

}  // namespace orrery::io
