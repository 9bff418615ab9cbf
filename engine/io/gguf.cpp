// GGUF, versions 2 and 3, little-endian. Source: the GGUF specification in the ggml repository
// (docs/gguf.md).
//
//   "GGUF"  u32 version  u64 tensor count  u64 key count
//   key count times:     string key, u32 type, value          string = u64 length, bytes (no terminator)
//     types  0 u8  1 i8  2 u16  3 i16  4 u32  5 i32  6 f32  7 bool (one byte)  8 string
//            9 array (u32 element type, u64 count, elements)  10 u64  11 i64  12 f64
//   tensor count times:  string name, u32 dim count (1 to 4), u64 dims (innermost first), u32 tensor type,
//   u64 offset padding to a multiple of general.alignment (u32, a power of two; 32 when absent) tensor data:
//   each tensor at data start + offset; offsets are multiples of the alignment and do not overlap
//
// Nested arrays are refused: no known key has them. Integers are kept as int64 (u64 above that as double),
// f32 and f64 as double, arrays of bool as integers.
#include "engine/io/gguf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/io/gguf_types.h"
#include "engine/io/reader.h"

namespace orrery::io {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kLongestName = 65535;
constexpr uint64_t kMostDims = 4;
// What an entry costs in memory beside its text, rounded up.
constexpr uint64_t kKeyCost = 256, kTensorCost = 384, kTextCost = 40;

class GgufReader {
 public:
  GgufReader(std::shared_ptr<const MappedFile> mapped, const std::stop_token& stop)
      : mapped_(std::move(mapped)),
        reader_(mapped_->bytes()),
        allowance_(mapped_->bytes().size()),
        stop_(stop) {}

  Result<GgufPiece> read(const ProgressCallback& progress);

 private:
  Result<void> read_counts();
  Result<void> read_key();
  Result<Metadata::Value> read_value(GgufValueType type, std::string_view key);
  Result<Metadata::Value> read_array(std::string_view key);
  template <class Stored, class Kept>
  Result<Metadata::Value> read_numbers(uint64_t count, std::string_view key);
  Result<Metadata::Value> read_texts(uint64_t count, std::string_view key);
  template <class Describe>  // what is read, asked for only when it fails
  Result<std::string_view> read_text(Describe&& describe);
  Result<void> read_tensor();
  Result<std::vector<int64_t>> read_dims(std::string_view tensor);
  Result<const GgufTensorType*> read_type(std::string_view tensor);
  Result<void> read_alignment();
  Result<void> place_tensors();
  Result<void> check_overlaps(std::vector<size_t> order) const;

  Error cut_short(std::string_view what) const {
    return corrupt(fmt::format("The file ends inside {}", what), at(reader_.position()));
  }
  Error too_large(std::string_view what) const {
    return corrupt(fmt::format("{} would take more memory than a file of this size can need", what),
                   at(reader_.position()));
  }
  std::string at(uint64_t position) const { return at_byte(mapped_->path(), position); }

  std::shared_ptr<const MappedFile> mapped_;
  ByteReader reader_;
  Allowance allowance_;
  std::stop_token stop_;
  std::shared_ptr<ModelFile> file_ = std::make_shared<ModelFile>();
  uint64_t tensor_count_ = 0, key_count_ = 0;
  GgufLayout layout_;
  struct Place {
    uint64_t offset, entry_position;  // in the data section; of the tensor's entry in the file
    const GgufTensorType* type;
  };
  std::vector<Place> places_;  // one per tensor
};

Result<void> GgufReader::read_counts() {
  std::string_view magic;
  uint32_t version = 0;
  if (!reader_.read(magic, kMagic.size()) || magic != kMagic)
    return corrupt("The file does not begin with GGUF", at(0));
  if (!reader_.read(version)) return cut_short("the version");
  if (version == 0x02000000U || version == 0x03000000U)
    return unsupported("The file is a big-endian GGUF", at(4), "convert it to little-endian");
  if (version != 2 && version != 3)
    return unsupported(fmt::format("GGUF version {} is not read", version), at(4),
                       "convert the file to version 3 (2 and 3 are read)");
  if (!reader_.read(tensor_count_) || !reader_.read(key_count_))
    return cut_short("the counts of tensors and keys");
  // The smallest key takes 13 bytes (length, type, one byte), the smallest tensor 33.
  if (key_count_ > reader_.left() / 13)
    return corrupt(fmt::format("{} keys are declared, more than the file has room for", key_count_), at(16));
  if (tensor_count_ > reader_.left() / 33)
    return corrupt(fmt::format("{} tensors are declared, more than the file has room for", tensor_count_),
                   at(8));
  return {};
}

template <class Describe>
Result<std::string_view> GgufReader::read_text(Describe&& describe) {
  uint64_t length = 0;
  if (!reader_.read(length)) return cut_short(describe());
  std::string_view text;
  if (!reader_.read(text, length))
    return corrupt(fmt::format("A length of {} is declared for {}, and {} bytes are left", length, describe(),
                               reader_.left()),
                   at(reader_.position() - sizeof(length)));
  return text;
}

Result<void> GgufReader::read_key() {
  const size_t begin = reader_.position();
  ORRERY_ASSIGN(const std::string_view key, read_text([] { return "a metadata key"; }));
  if (key.empty() || key.size() > kLongestName)
    return corrupt(fmt::format("A metadata key has {} bytes (1 to {} are legal)", key.size(), kLongestName),
                   at(begin));
  if (file_->metadata.find(key))
    return corrupt(fmt::format("The key {} is there twice", shown(key)), at(begin));
  uint32_t type = 0;
  if (!reader_.read(type)) return cut_short(fmt::format("the type of key {}", shown(key)));
  if (type > static_cast<uint32_t>(GgufValueType::f64))
    return corrupt(fmt::format("The key {} has the unknown value type {}", shown(key), type),
                   at(reader_.position() - sizeof(type)));
  if (!allowance_.take(kKeyCost + key.size())) return too_large("The metadata");
  ORRERY_ASSIGN(auto value, read_value(static_cast<GgufValueType>(type), key));
  file_->metadata.set(std::string(key), std::move(value));
  layout_.keys.push_back({std::string(key), static_cast<GgufValueType>(type), begin, reader_.position()});
  return {};
}

Result<Metadata::Value> GgufReader::read_value(GgufValueType type, std::string_view key) {
  const auto integer = [&]<class T>(T value) -> Result<Metadata::Value> {
    if (!reader_.read(value)) return cut_short(fmt::format("the value of key {}", shown(key)));
    if constexpr (std::is_floating_point_v<T>) {
      return Metadata::Value(static_cast<double>(value));
    } else {
      if (!std::in_range<int64_t>(value)) return Metadata::Value(static_cast<double>(value));
      return Metadata::Value(static_cast<int64_t>(value));
    }
  };
  switch (type) {
    case GgufValueType::u8:
      return integer(uint8_t{});
    case GgufValueType::i8:
      return integer(int8_t{});
    case GgufValueType::u16:
      return integer(uint16_t{});
    case GgufValueType::i16:
      return integer(int16_t{});
    case GgufValueType::u32:
      return integer(uint32_t{});
    case GgufValueType::i32:
      return integer(int32_t{});
    case GgufValueType::u64:
      return integer(uint64_t{});
    case GgufValueType::i64:
      return integer(int64_t{});
    case GgufValueType::f32:
      return integer(float{});
    case GgufValueType::f64:
      return integer(double{});
    case GgufValueType::array:
      return read_array(key);
    case GgufValueType::boolean: {
      uint8_t value = 0;
      if (!reader_.read(value)) return cut_short(fmt::format("the value of key {}", shown(key)));
      if (value > 1)
        return corrupt(fmt::format("The key {} is a bool with the value {}", shown(key), value),
                       at(reader_.position() - 1));
      return Metadata::Value(value == 1);
    }
    case GgufValueType::string: {
      ORRERY_ASSIGN(const std::string_view text,
                    read_text([&] { return fmt::format("the value of key {}", shown(key)); }));
      if (!allowance_.take(text.size())) return too_large(fmt::format("The key {}", shown(key)));
      return Metadata::Value(std::string(text));
    }
  }
  return corrupt(fmt::format("The key {} has an unknown value type", shown(key)), at(reader_.position()));
}

template <class Stored, class Kept>
Result<Metadata::Value> GgufReader::read_numbers(uint64_t count, std::string_view key) {
  if (count > reader_.left() / sizeof(Stored))
    return corrupt(fmt::format("{} elements are declared for key {}, and {} bytes are left", count,
                               shown(key), reader_.left()),
                   at(reader_.position() - sizeof(count)));
  if (!allowance_.take(count * sizeof(Kept))) return too_large(fmt::format("The key {}", shown(key)));
  std::vector<Kept> values;
  values.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    Stored value{};
    if (!reader_.read(value)) return cut_short(fmt::format("the value of key {}", shown(key)));
    if constexpr (std::is_same_v<Stored, uint64_t>)
      if (!std::in_range<int64_t>(value))
        return corrupt(fmt::format("Element {} of key {} is {}, too large", i, shown(key), value),
                       at(reader_.position() - sizeof(Stored)));
    values.push_back(static_cast<Kept>(value));
  }
  return Metadata::Value(std::move(values));
}

Result<Metadata::Value> GgufReader::read_texts(uint64_t count, std::string_view key) {
  if (count > reader_.left() / sizeof(uint64_t))
    return corrupt(fmt::format("{} strings are declared for key {}, and {} bytes are left", count, shown(key),
                               reader_.left()),
                   at(reader_.position() - sizeof(count)));
  if (!allowance_.take(count * kTextCost)) return too_large(fmt::format("The key {}", shown(key)));
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 65536 == 0 && stop_.stop_requested()) return cancelled_error();
    ORRERY_ASSIGN(const std::string_view text,
                  read_text([&] { return fmt::format("element {} of key {}", i, shown(key)); }));
    if (!allowance_.take(text.size())) return too_large(fmt::format("The key {}", shown(key)));
    texts.emplace_back(text);
  }
  return Metadata::Value(std::move(texts));
}

Result<Metadata::Value> GgufReader::read_array(std::string_view key) {
  const size_t begin = reader_.position();
  uint32_t type = 0;
  uint64_t count = 0;
  if (!reader_.read(type) || !reader_.read(count))
    return cut_short(fmt::format("the element type and count of key {}", shown(key)));
  switch (static_cast<GgufValueType>(type)) {
    case GgufValueType::u8:
      return read_numbers<uint8_t, int64_t>(count, key);
    case GgufValueType::i8:
      return read_numbers<int8_t, int64_t>(count, key);
    case GgufValueType::u16:
      return read_numbers<uint16_t, int64_t>(count, key);
    case GgufValueType::i16:
      return read_numbers<int16_t, int64_t>(count, key);
    case GgufValueType::u32:
      return read_numbers<uint32_t, int64_t>(count, key);
    case GgufValueType::i32:
      return read_numbers<int32_t, int64_t>(count, key);
    case GgufValueType::u64:
      return read_numbers<uint64_t, int64_t>(count, key);
    case GgufValueType::i64:
      return read_numbers<int64_t, int64_t>(count, key);
    case GgufValueType::f32:
      return read_numbers<float, double>(count, key);
    case GgufValueType::f64:
      return read_numbers<double, double>(count, key);
    case GgufValueType::boolean:
      return read_numbers<uint8_t, int64_t>(count, key);
    case GgufValueType::string:
      return read_texts(count, key);
    case GgufValueType::array:
      return unsupported(fmt::format("The key {} is an array of arrays", shown(key)), at(begin),
                         "no known model has such keys; get the file from its maker again");
  }
  return corrupt(fmt::format("The key {} is an array of the unknown type {}", shown(key), type), at(begin));
}

Result<std::vector<int64_t>> GgufReader::read_dims(std::string_view tensor) {
  uint32_t count = 0;
  if (!reader_.read(count)) return cut_short(fmt::format("the dims of tensor {}", shown(tensor)));
  if (count == 0 || count > kMostDims)
    return corrupt(
        fmt::format("The tensor {} has {} dims (1 to {} are legal)", shown(tensor), count, kMostDims),
        at(reader_.position() - sizeof(count)));
  std::vector<int64_t> shape(count);
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t dim = 0;
    if (!reader_.read(dim)) return cut_short(fmt::format("the dims of tensor {}", shown(tensor)));
    if (dim == 0 || !std::in_range<int64_t>(dim))
      return corrupt(fmt::format("Dim {} of tensor {} is {}", i, shown(tensor), dim),
                     at(reader_.position() - sizeof(dim)));
    shape[count - 1 - i] = static_cast<int64_t>(dim);
  }
  return shape;
}

Result<const GgufTensorType*> GgufReader::read_type(std::string_view tensor) {
  uint32_t id = 0;
  if (!reader_.read(id)) return cut_short(fmt::format("the type of tensor {}", shown(tensor)));
  const GgufTensorType* type = find_gguf_type(id);
  if (!type)
    return unsupported(fmt::format("The tensor {} has the unknown type {}", shown(tensor), id),
                       at(reader_.position() - sizeof(id)),
                       "the file is damaged, or newer than this program");
  return type;
}

Result<void> GgufReader::read_tensor() {
  const size_t begin = reader_.position();
  ORRERY_ASSIGN(const std::string_view name, read_text([] { return "a tensor's name"; }));
  if (name.empty() || name.size() > kLongestName)
    return corrupt(fmt::format("A tensor's name has {} bytes (1 to {} are legal)", name.size(), kLongestName),
                   at(begin));
  if (!allowance_.take(kTensorCost + 2 * name.size())) return too_large("The tensor table");
  Tensor tensor;
  tensor.name = name;
  ORRERY_ASSIGN(tensor.shape, read_dims(name));
  ORRERY_ASSIGN(const GgufTensorType* type, read_type(name));
  if (type->dtype)
    tensor.dtype = *type->dtype;
  else
    tensor.foreign_type = type->name;
  Place place{0, begin, type};
  if (!reader_.read(place.offset)) return cut_short(fmt::format("the offset of tensor {}", shown(name)));
  if (!add_tensor(*file_, std::move(tensor)))
    return corrupt(fmt::format("The tensor {} is there twice", shown(name)), at(begin));
  places_.push_back(place);
  return {};
}

Result<void> GgufReader::read_alignment() {
  const Metadata::Value* value = file_->metadata.find("general.alignment");
  if (!value) return {};
  const auto* alignment = std::get_if<int64_t>(value);
  if (!alignment || *alignment <= 0 || *alignment > (int64_t{1} << 30) ||
      !std::has_single_bit(static_cast<uint64_t>(*alignment)))
    return corrupt(
        alignment ? fmt::format("general.alignment is {}, which is no power of two up to 2^30", *alignment)
                  : std::string("general.alignment is not an integer"),
        mapped_->path().filename().string() + ", key general.alignment");
  layout_.alignment = static_cast<uint64_t>(*alignment);
  return {};
}

Result<void> GgufReader::place_tensors() {
  if (file_->tensors.empty()) return {};
  const std::span<const std::byte> bytes = mapped_->bytes();
  const uint64_t start = layout_.data_begin();
  if (start > bytes.size()) return cut_short("the padding before the tensor data");
  const uint64_t room = bytes.size() - start;
  std::vector<size_t> order(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    Tensor& tensor = file_->tensors[i];
    const auto [offset, entry, type] = places_[i];
    order[i] = i;
    const std::optional<TensorSize> size = tensor_size(type->block_elements, type->block_bytes, tensor.shape);
    if (!size)
      return corrupt(fmt::format("The dims of tensor {} do not make whole {} blocks of a possible size",
                                 shown(tensor.name), tensor.type_name()),
                     at(entry));
    if (offset % layout_.alignment != 0)
      return corrupt(
          fmt::format("The tensor {} begins at offset {}, which is no multiple of the alignment {}",
                      shown(tensor.name), offset, layout_.alignment),
          at(entry));
    if (offset > room || size->bytes > room - offset)
      return corrupt(fmt::format("The tensor {} needs {} bytes at offset {}, and the data has {} bytes",
                                 shown(tensor.name), size->bytes, offset, room),
                     at(entry));
    tensor.data = bytes.subspan(static_cast<size_t>(start + offset), static_cast<size_t>(size->bytes));
  }
  return check_overlaps(std::move(order));
}

Result<void> GgufReader::check_overlaps(std::vector<size_t> order) const {
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return places_[a].offset < places_[b].offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const Tensor& before = file_->tensors[order[i - 1]];
    const Tensor& after = file_->tensors[order[i]];
    if (before.data.data() + before.data.size() > after.data.data())
      return corrupt(fmt::format("The tensors {} and {} overlap", shown(before.name), shown(after.name)),
                     at(places_[order[i]].entry_position));
  }
  return {};
}

Result<GgufPiece> GgufReader::read(const ProgressCallback& progress) {
  file_->format = Format::gguf;
  file_->path = mapped_->path();
  file_->file_bytes = mapped_->bytes().size();
  file_->files = {mapped_};
  ORRERY_TRY(read_counts());
  const auto step = [&](std::string_view stage, uint64_t done, uint64_t total) -> Result<void> {
    if (stop_.stop_requested()) return cancelled_error();
    if (progress && done % 64 == 0) progress(stage, done, total);
    return {};
  };
  for (uint64_t i = 0; i < key_count_; ++i) {
    ORRERY_TRY(step("reading metadata", i, key_count_));
    ORRERY_TRY(read_key());
  }
  ORRERY_TRY(read_alignment());
  layout_.table_begin = reader_.position();
  for (uint64_t i = 0; i < tensor_count_; ++i) {
    ORRERY_TRY(step("reading the tensor table", i, tensor_count_));
    ORRERY_TRY(read_tensor());
  }
  layout_.table_end = reader_.position();
  ORRERY_TRY(place_tensors());
  return GgufPiece{file_, std::move(layout_)};
}

}  // namespace

bool looks_like_gguf(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<GgufPiece> read_gguf_piece(std::shared_ptr<const MappedFile> mapped, const ProgressCallback& progress,
                                  const std::stop_token& stop) {
  return GgufReader(std::move(mapped), stop).read(progress);
}

}  // namespace orrery::io
