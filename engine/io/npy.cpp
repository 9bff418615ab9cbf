// NumPy's array file, versions 1 to 3. Source: numpy/lib/format.py, which describes it.
//
//   "\x93NUMPY"  u8 major version  u8 minor version  header length: u16 in version 1, else u32
//   (little-endian) header: the text of a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (2,
//   3), }, then spaces, "\n" the elements
// descr is byte order ('<', '>', '|': one byte), kind and bytes of an element. Columns first (fortran_order),
// other byte orders, structured arrays and arrays of Python objects are refused. NumPy has no bf16: it saves
// that of ml_dtypes as two bytes of any kind, '<V2', and array.view(ml_dtypes.bfloat16) has it back when it
// is loaded.
#include "engine/io/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "engine/io/new_file.h"
#include "engine/io/reader.h"
#include "engine/io/zip.h"

namespace orrery::io {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6), kEntryEnding = ".npy";
constexpr size_t kLongestHeader = 65536, kMostDims = 8;

struct ElementType {
  std::string_view descr, name;
  int bytes;
  std::optional<DType> dtype = {};  // none: listed, not run
};
constexpr std::array kTypes = {ElementType{"<f4", "F32", 4, DType::f32},
                               ElementType{"<f2", "F16", 2, DType::f16},
                               ElementType{"|i1", "I8", 1, DType::i8},
                               ElementType{"<i4", "I32", 4, DType::i32},
                               ElementType{"<i8", "I64", 8, DType::i64},
                               ElementType{"<f8", "F64", 8},
                               ElementType{"<i2", "I16", 2, DType::i16},
                               ElementType{"|u1", "U8", 1, DType::u8},
                               ElementType{"<V2", "BF16", 2, DType::bf16},
                               ElementType{"|V2", "BF16", 2, DType::bf16},
                               ElementType{"<u2", "U16", 2},
                               ElementType{"<u4", "U32", 4},
                               ElementType{"<u8", "U64", 8},
                               ElementType{"|b1", "BOOL", 1, DType::boolean},
                               ElementType{"<c8", "C64", 8},
                               ElementType{"<c16", "C128", 16}};

struct Header {
  std::string_view descr;
  bool columns_first = false;
  std::vector<int64_t> shape;
};

/// The few forms of Python's literals that headers have: texts, True, False, tuples of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  /// Nothing when the text is anything else.
  std::optional<Header> parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':')) return std::nullopt;
      bool* seen = *key == "descr"           ? &descr
                   : *key == "fortran_order" ? &order
                   : *key == "shape"         ? &shape
                                             : nullptr;
      if (!seen || std::exchange(*seen, true) || !value(*key, header)) return std::nullopt;
      if (!take(',') && !at('}')) return std::nullopt;
    }
    skip_spaces();
    return text_.empty() && descr && order && shape ? std::optional(std::move(header)) : std::nullopt;
  }

 private:
  bool value(std::string_view key, Header& header) {
    if (key == "shape") return dims(header.shape);
    if (key == "descr") {
      const auto descr = string();
      header.descr = descr.value_or("");
      return descr.has_value();
    }
    header.columns_first = word("True");
    return header.columns_first || word("False");
  }
  bool dims(std::vector<int64_t>& shape) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_spaces();
      int64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0 || shape.size() == kMostDims) return false;
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2
      shape.push_back(dim);
      if (!take(',') && !at(')')) return false;
    }
    return true;
  }
  std::optional<std::string_view> string() {
    skip_spaces();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view content = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return content;
  }
  bool word(std::string_view expected) {
    skip_spaces();
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool at(char expected) {
    skip_spaces();
    return text_.starts_with(expected);
  }
  bool take(char expected) {
    if (!at(expected)) return false;
    text_.remove_prefix(1);
    return true;
  }
  void skip_spaces() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }

  std::string_view text_;
};

Result<std::string_view> header_text(ByteReader& reader, const std::string& where) {
  std::string_view magic, header;
  uint8_t major = 0, minor = 0;
  uint16_t narrow = 0;
  uint32_t length = 0;
  const auto cut_short = [&] { return corrupt("The file ends inside the array's header", where); };
  if (!reader.read(magic, kMagic.size()) || !reader.read(major) || !reader.read(minor)) return cut_short();
  if (magic != kMagic) return corrupt("The array does not begin as NumPy's do", where);
  if (major < 1 || major > 3)
    return unsupported(fmt::format("Version {} of NumPy's array file is not read", major), where,
                       "save it with numpy.save (versions 1 to 3 are read)");
  if (major == 1 ? !reader.read(narrow) : !reader.read(length)) return cut_short();
  if (major == 1) length = narrow;
  if (length > kLongestHeader)
    return corrupt(fmt::format("A header of {} bytes is declared ({} is the most)", length, kLongestHeader),
                   where);
  if (!reader.read(header, length)) return cut_short();
  return header;
}

Result<const ElementType*> find_type(std::string_view descr, const std::string& where) {
  for (const ElementType& type : kTypes)
    if (type.descr == descr) return &type;
  if (descr.starts_with("|O"))
    return unsupported("The array holds Python objects: reading them would run code", where,
                       "save an array of numbers");
  return unsupported(fmt::format("The array's elements are of the type {}, which is not read", shown(descr)),
                     where, "save it as little-endian numbers: array.astype('<f4')");
}

Result<Tensor> read_array(std::span<const std::byte> bytes, std::string name, const std::string& where) {
  ByteReader reader(bytes);
  ORRERY_ASSIGN(const std::string_view text, header_text(reader, where));
  const std::optional<Header> header = HeaderParser(text).parse();
  if (!header)
    return unsupported("The array's header is no dict of descr, fortran_order and shape", where,
                       "save it with numpy.save (arrays of one type of numbers are read)");
  ORRERY_ASSIGN(const ElementType* type, find_type(header->descr, where));
  const auto long_dims =
      std::count_if(header->shape.begin(), header->shape.end(), [](int64_t dim) { return dim != 1; });
  if (header->columns_first && long_dims > 1)
    return unsupported("The array is stored columns first", where, "save numpy.ascontiguousarray of it");
  const std::optional<TensorSize> size = tensor_size(1, type->bytes, header->shape);
  if (!size || size->bytes != reader.left())
    return corrupt(fmt::format("The array of [{}] {} elements is followed by {} bytes",
                               fmt::join(header->shape, ", "), type->name, reader.left()),
                   where);
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.shape = header->shape;
  if (type->dtype)
    tensor.dtype = *type->dtype;
  else
    tensor.foreign_type = type->name;
  tensor.data = bytes.subspan(reader.position());
  return tensor;
}

Result<void> add_array(std::span<const std::byte> bytes, std::string name, const std::string& where,
                       ModelFile& file) {
  ORRERY_ASSIGN(Tensor tensor, read_array(bytes, std::move(name), where));
  const std::string shown_name = shown(tensor.name);
  if (!add_tensor(file, std::move(tensor)))
    return corrupt(fmt::format("The array {} is there twice", shown_name), where);
  return {};
}

void keep(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file) {
  file.files.push_back(mapped);
  file.file_bytes += mapped->bytes().size();
}

/// The descr that an element type is written by; nothing for those of which NumPy has none.
std::optional<std::string_view> descr_of(DType dtype) {
  for (const ElementType& type : kTypes)
    if (type.dtype == dtype) return type.descr;
  return std::nullopt;
}

/// Version 1, so padded that the elements begin at a multiple of 64, as NumPy's own are.
std::string header_of(std::string_view descr, std::span<const int64_t> shape) {
  constexpr size_t kBefore = kMagic.size() + 2 + sizeof(uint16_t), kAlignment = 64;
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                 fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  text.append(kAlignment - 1 - (kBefore + text.size()) % kAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0'};
  const auto length = static_cast<uint16_t>(text.size());
  header += {static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  return header + text;
}

}  // namespace

bool looks_like_npy(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

bool looks_like_npz(std::span<const std::byte> bytes) {
  const std::optional<std::string_view> name = first_zip_entry(bytes);
  return name && name->ends_with(kEntryEnding);
}

Result<void> read_npy(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                      const std::stop_token&) {
  const std::filesystem::path& path = mapped->path();
  ORRERY_TRY(add_array(mapped->bytes(), path.stem().string(), path.filename().string(), file));
  keep(mapped, file);
  return {};
}

Result<Tensor> npy_array(const MappedFile& mapped) {
  const std::filesystem::path& path = mapped.path();
  if (!looks_like_npy(mapped.bytes()))
    return unsupported("The file is no array of NumPy", path.filename().string(), "save it with numpy.save");
  return read_array(mapped.bytes(), path.stem().string(), path.filename().string());
}

Result<void> write_npy(const std::filesystem::path& path, const Tensor& array) {
  const auto descr = descr_of(array.dtype);
  if (!descr || !array.foreign_type.empty())
    return unsupported(fmt::format("NumPy has no elements of {}", array.type_name()),
                       path.filename().string(), "cast it to f32");
  const std::string header = header_of(*descr, array.shape);
  ORRERY_ASSIGN(NewFile file, NewFile::create(path, header.size() + array.data.size()));
  ORRERY_TRY(file.write(std::as_bytes(std::span(header))));
  ORRERY_TRY(file.write(array.data));
  return file.commit();
}

Result<void> read_npz(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                      const std::stop_token& stop) {
  const std::string own = mapped->path().filename().string();
  ORRERY_ASSIGN(const std::vector<ZipEntry> entries, read_zip(*mapped));
  for (const ZipEntry& entry : entries) {
    if (stop.stop_requested()) return cancelled_error();
    const std::string where = fmt::format("{}, entry {}", own, shown(entry.name));
    if (entry.packed)
      return unsupported("The array is compressed", where,
                         "save the arrays with numpy.savez, which does not compress");
    std::string name(entry.name);
    if (name.ends_with(kEntryEnding)) name.resize(name.size() - kEntryEnding.size());
    ORRERY_TRY(add_array(entry.data, std::move(name), where, file));
  }
  keep(mapped, file);
  return {};
}

}  // namespace orrery::io
