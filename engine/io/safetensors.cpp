// safetensors. Source: the format's description in the safetensors repository (README, "Format").
//
//   u64 n (little-endian)   n bytes of JSON header   tensor data to the end of the file
//   header: {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ..., "__metadata__":
//   {text: text}} begin and end count from the first data byte. The tensors cover the data without holes and
//   without overlap, as the reference reader asks for too. shape is outermost first; [] is a scalar. The
//   header has 100 MB at most.
//
// The header goes through nlohmann's event parser (no recursion, no tree): what a hostile header can take is
// bounded by the allowance of reader.h. Data may begin at any byte: who needs alignment copies
// (engine/weights).
#include "engine/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/io/reader.h"
#include "engine/io/safetensors_types.h"

namespace orrery::io {
namespace {

constexpr uint64_t kLongestHeader = 100'000'000;
constexpr size_t kMostDims = 8;
constexpr size_t kLongestName = 65535;
constexpr uint64_t kTensorCost = 512;

struct Entry {
  std::string name, dtype;
  std::vector<uint64_t> shape, offsets;
  bool has_shape = false, has_offsets = false;
};

/// Receives the header's events; false stops the parser, with the error kept.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const MappedFile& mapped, const std::stop_token& stop)
      : mapped_(mapped), allowance_(mapped.bytes().size()), stop_(stop) {}

  std::vector<Entry> entries;
  std::optional<Error> error;

  bool null() override { return wrong_value("null"); }
  bool boolean(bool) override { return wrong_value("a bool"); }
  bool number_integer(int64_t) override { return wrong_value("a negative number"); }
  bool number_float(double, const std::string& text) override {
    return wrong_value("the number " + text.substr(0, 40));
  }
  bool binary(nlohmann::json::binary_t&) override { return wrong_value("binary data"); }
  bool number_unsigned(uint64_t value) override {
    if (!list_) return wrong_value("a number");
    if (list_->size() == kMostDims)
      return fail(fmt::format("{} of tensor {} has more than {} numbers", field_, shown(entries.back().name),
                              kMostDims));
    list_->push_back(value);
    return true;
  }
  bool string(std::string& value) override {
    if (place_ == Place::metadata) return true;
    if (place_ != Place::entry || list_ || field_ != "dtype") return wrong_value("text");
    if (!entries.back().dtype.empty()) return repeated_field();
    entries.back().dtype = std::move(value);
    return true;
  }
  bool start_object(size_t) override;
  bool end_object() override;
  bool key(std::string& name) override;
  bool start_array(size_t) override;
  bool end_array() override {
    list_ = nullptr;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& problem) override {
    std::string reason = problem.what();
    if (const size_t end = reason.find("] "); end != std::string::npos) reason.erase(0, end + 2);
    error = corrupt("The header is not legal JSON: " + reason.substr(0, 300),
                    at_byte(mapped_.path(), 8 + position));
    return false;
  }

 private:
  enum class Place : uint8_t { before, root, metadata, entry, after };

  bool fail(std::string what) {
    error = corrupt(std::move(what), mapped_.path().filename().string() + ", header");
    return false;
  }
  bool wrong_value(std::string_view what) {
    switch (place_) {
      case Place::entry:
        return fail(fmt::format("{} of tensor {} is {}", shown(field_), shown(entries.back().name), what));
      case Place::metadata:
        return fail(fmt::format("A value of __metadata__ is {} (texts are legal)", what));
      default:
        return fail(fmt::format("{} stands where a tensor's object is expected", what));
    }
  }
  bool repeated_field() {
    return fail(fmt::format("{} of tensor {} is there twice", field_, shown(entries.back().name)));
  }

  const MappedFile& mapped_;
  Allowance allowance_;
  std::stop_token stop_;
  Place place_ = Place::before;
  std::string name_, field_;
  std::vector<uint64_t>* list_ = nullptr;  // the array that is read now
};

bool HeaderReader::start_object(size_t) {
  switch (place_) {
    case Place::before:
      place_ = Place::root;
      return true;
    case Place::root:
      if (name_ == "__metadata__") {
        place_ = Place::metadata;
        return true;
      }
      if (stop_.stop_requested()) {
        error = cancelled_error();
        return false;
      }
      if (!allowance_.take(kTensorCost + 2 * name_.size())) return fail("The header has too many tensors");
      entries.push_back({std::move(name_), {}, {}, {}, false, false});
      place_ = Place::entry;
      return true;
    default:
      return wrong_value("an object");
  }
}

bool HeaderReader::end_object() {
  if (place_ == Place::entry) {
    const Entry& entry = entries.back();
    if (entry.dtype.empty() || !entry.has_shape || !entry.has_offsets)
      return fail(fmt::format("The tensor {} lacks dtype, shape or data_offsets", shown(entry.name)));
  }
  place_ = place_ == Place::root ? Place::after : Place::root;
  return true;
}

bool HeaderReader::key(std::string& name) {
  if (place_ == Place::root) {
    if (name.empty() || name.size() > kLongestName)
      return fail(fmt::format("A tensor's name has {} bytes (1 to {} are legal)", name.size(), kLongestName));
    name_ = std::move(name);
  } else if (place_ == Place::entry) {
    field_ = std::move(name);
    if (field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
      return fail(
          fmt::format("The tensor {} has the unknown field {}", shown(entries.back().name), shown(field_)));
  }
  return true;
}

bool HeaderReader::start_array(size_t) {
  if (place_ != Place::entry || list_ || field_ == "dtype") return wrong_value("an array");
  Entry& entry = entries.back();
  bool& seen = field_ == "shape" ? entry.has_shape : entry.has_offsets;
  if (seen) return repeated_field();
  seen = true;
  list_ = field_ == "shape" ? &entry.shape : &entry.offsets;
  return true;
}

/// One entry checked against the data that is there.
Result<Tensor> place_tensor(Entry& entry, std::span<const std::byte> data, const std::string& where) {
  const auto type = std::find_if(kSafetensorsTypes.begin(), kSafetensorsTypes.end(),
                                 [&](const SafetensorsType& t) { return t.name == entry.dtype; });
  if (type == kSafetensorsTypes.end())
    return unsupported(fmt::format("The tensor {} has the type {}, which is not read", shown(entry.name),
                                   shown(entry.dtype)),
                       where, "save the model as F32, F16 or BF16");
  Tensor tensor;
  if (type->dtype)
    tensor.dtype = *type->dtype;
  else
    tensor.foreign_type = type->name;
  for (const uint64_t dim : entry.shape) {
    if (!std::in_range<int64_t>(dim))
      return corrupt(fmt::format("A dim of tensor {} is {}", shown(entry.name), dim), where);
    tensor.shape.push_back(static_cast<int64_t>(dim));
  }
  const std::optional<TensorSize> size = tensor_size(1, type->bytes, tensor.shape);
  if (!size)
    return corrupt(fmt::format("The product of the dims of tensor {} is too large", shown(entry.name)),
                   where);
  if (entry.offsets.size() != 2 || entry.offsets[0] > entry.offsets[1] || entry.offsets[1] > data.size())
    return corrupt(fmt::format("The tensor {} has data_offsets [{}], and the data has {} bytes",
                               shown(entry.name), fmt::join(entry.offsets, ", "), data.size()),
                   where);
  if (entry.offsets[1] - entry.offsets[0] != size->bytes)
    return corrupt(fmt::format("The tensor {} has {} bytes, and its shape and type need {}",
                               shown(entry.name), entry.offsets[1] - entry.offsets[0], size->bytes),
                   where);
  tensor.data = data.subspan(static_cast<size_t>(entry.offsets[0]), static_cast<size_t>(size->bytes));
  tensor.name = std::move(entry.name);
  return tensor;
}

/// The tensors, in any order, must cover the data exactly once.
Result<void> check_cover(std::span<const Tensor> tensors, std::span<const std::byte> data,
                         const std::string& where) {
  std::vector<const Tensor*> order;
  order.reserve(tensors.size());
  for (const Tensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const Tensor* a, const Tensor* b) {
    return std::pair(a->data.data(), a->data.size()) < std::pair(b->data.data(), b->data.size());
  });
  const std::byte* end = data.data();
  for (const Tensor* tensor : order) {
    if (tensor->data.data() != end)
      return corrupt(
          fmt::format("The tensor {} {}", shown(tensor->name),
                      tensor->data.data() < end ? "overlaps another one" : "follows a hole in the data"),
          where);
    end += tensor->data.size();
  }
  if (end != data.data() + data.size())
    return corrupt(
        fmt::format("{} bytes after the last tensor belong to none", data.data() + data.size() - end), where);
  return {};
}

Result<std::string_view> header_of(const MappedFile& mapped) {
  ByteReader reader(mapped.bytes());
  uint64_t length = 0;
  std::string_view header;
  if (!reader.read(length))
    return corrupt("The file ends inside the header's length", at_byte(mapped.path(), 0));
  if (length > kLongestHeader)
    return corrupt(fmt::format("A header of {} bytes is declared (100 MB is the most)", length),
                   at_byte(mapped.path(), 0));
  if (!reader.read(header, length))
    return corrupt(
        fmt::format("A header of {} bytes is declared, and {} bytes are left", length, reader.left()),
        at_byte(mapped.path(), 0));
  if (header.empty() || header.front() != '{')
    return corrupt("The header is not a JSON object", at_byte(mapped.path(), 8));
  return header;
}

}  // namespace

bool looks_like_safetensors(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  uint64_t length = 0;
  return reader.read(length) && length > 0 && length <= kLongestHeader && reader.left() > 0 &&
         bytes[sizeof(length)] == std::byte{'{'};
}

Result<void> read_safetensors(const std::shared_ptr<const MappedFile>& mapped, ModelFile& file,
                              const std::stop_token& stop) {
  ORRERY_ASSIGN(const std::string_view header, header_of(*mapped));
  HeaderReader events(*mapped, stop);
  nlohmann::json::sax_parse(header.begin(), header.end(), &events);
  if (events.error) return *std::move(events.error);
  const std::span<const std::byte> data = mapped->bytes().subspan(sizeof(uint64_t) + header.size());
  const std::string where = mapped->path().filename().string() + ", header";
  const size_t first = file.tensors.size();
  for (Entry& entry : events.entries) {
    ORRERY_ASSIGN(Tensor tensor, place_tensor(entry, data, where));
    const std::string name = shown(tensor.name);
    if (!add_tensor(file, std::move(tensor)))
      return corrupt(fmt::format("The tensor {} is there twice", name), where);
  }
  ORRERY_TRY(check_cover(std::span(file.tensors).subspan(first), data, where));
  file.files.push_back(mapped);
  file.file_bytes += mapped->bytes().size();
  return {};
}

}  // namespace orrery::io
