#include "engine/io/state_dict.h"

#include <fmt/format.h>

#include <array>

namespace orrery::io {
namespace {

constexpr size_t kMostLevels = 8;  // of dicts in dicts
constexpr size_t kMostVisits = 1'000'000;
constexpr size_t kLongestName = 65535;
constexpr uint64_t kTensorCost = 512;
constexpr std::array<std::string_view, 4> kNestedUnder = {"state_dict", "model_state_dict", "model",
                                                          "module"};

/// Row-major without gaps; the stride of a dim of one element, or of an empty tensor, says nothing.
bool is_contiguous(const PickleTensor& tensor) {
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    if (__builtin_mul_overflow(expected, tensor.shape[i], &expected)) return false;
  }
  return true;
}

/// Gives the tensors of a state dict their names and their bytes.
class StateDict {
 public:
  StateDict(const Pickled& pickled, const StorageBytes& storages, const std::string& where,
            Allowance& allowance, ModelFile& file)
      : pickled_(pickled), storages_(storages), where_(where), allowance_(allowance), file_(file) {}

  Result<void> read() {
    const size_t before = file_.tensors.size();
    ORRERY_TRY(collect(unwrapped(pickled_.root), {}, 0));
    if (file_.tensors.size() == before) return corrupt("The file holds no tensors", where_);
    return {};
  }

 private:
  const PickleValue& unwrapped(const PickleValue& root) const {
    const auto* dict = std::get_if<PickleDict>(&root);
    if (!dict) return root;
    for (const std::string_view name : kNestedUnder)
      for (const auto& [key, value] : pickled_.dicts[dict->index])
        if (const auto* text = std::get_if<std::string_view>(&key);
            text && *text == name && std::holds_alternative<PickleDict>(value))
          return value;
    return root;
  }

  Result<void> collect(const PickleValue& value, const std::string& name, size_t level) {
    if (++visits_ > kMostVisits || level > kMostLevels || name.size() > kLongestName)
      return corrupt(fmt::format("The state dict is nested or named beyond measure at {}", shown(name)),
                     where_);
    if (const auto* tensor = std::get_if<PickleTensorId>(&value))
      return add(pickled_.tensors[tensor->index], name.empty() ? "tensor" : name);
    const std::string prefix = name.empty() ? name : name + ".";
    if (const auto* list = std::get_if<PickleList>(&value)) {
      const auto& items = pickled_.lists[list->index];
      for (size_t i = 0; i < items.size(); ++i)
        ORRERY_TRY(collect(items[i], prefix + std::to_string(i), level + 1));
    }
    if (const auto* dict = std::get_if<PickleDict>(&value))
      for (const auto& [key, item] : pickled_.dicts[dict->index]) {
        if (const auto* text = std::get_if<std::string_view>(&key))
          ORRERY_TRY(collect(item, prefix + std::string(text->substr(0, kLongestName + 1)), level + 1));
        if (const auto* number = std::get_if<int64_t>(&key))
          ORRERY_TRY(collect(item, prefix + std::to_string(*number), level + 1));
      }
    return {};
  }

  Result<void> add(const PickleTensor& stored, const std::string& name) {
    if (!allowance_.take(kTensorCost + 2 * name.size()))
      return corrupt("The file has too many tensors", where_);
    Tensor tensor;
    tensor.name = name;
    tensor.shape = stored.shape;
    if (stored.type->runs)
      tensor.dtype = *stored.type->runs;
    else
      tensor.foreign_type = stored.type->name;
    ORRERY_ASSIGN(tensor.data, bytes_of(stored, name));
    if (!add_tensor(file_, std::move(tensor)))
      return corrupt(fmt::format("The tensor {} is there twice", shown(name)), where_);
    return {};
  }

  Result<std::span<const std::byte>> bytes_of(const PickleTensor& tensor, const std::string& name) const {
    const std::string_view key = pickled_.storages[tensor.storage].key;
    const auto storage = storages_.find(key);
    if (storage == storages_.end())
      return corrupt(
          fmt::format("The tensor {} lies in the storage {}, which is missing", shown(name), shown(key)),
          where_);
    const std::optional<TensorSize> size = tensor_size(1, tensor.type->bytes, tensor.shape);
    if (!size)
      return corrupt(fmt::format("The dims of tensor {} do not make a possible size", shown(name)), where_);
    if (!is_contiguous(tensor))
      return unsupported(fmt::format("The tensor {} is a view with the strides [{}]", shown(name),
                                     fmt::join(tensor.strides, ", ")),
                         where_, "save the model again with its tensors contiguous");
    const auto bytes = storage->second;
    const uint64_t most = bytes.size() / static_cast<uint64_t>(tensor.type->bytes);
    if (tensor.offset < 0 || static_cast<uint64_t>(tensor.offset) > most ||
        size->elements > most - static_cast<uint64_t>(tensor.offset))
      return corrupt(
          fmt::format("The tensor {} needs {} bytes from element {} on, and its storage has {} bytes",
                      shown(name), size->bytes, tensor.offset, bytes.size()),
          where_);
    return bytes.subspan(static_cast<size_t>(tensor.offset) * static_cast<size_t>(tensor.type->bytes),
                         static_cast<size_t>(size->bytes));
  }

  const Pickled& pickled_;
  const StorageBytes& storages_;
  const std::string& where_;
  Allowance& allowance_;
  ModelFile& file_;
  size_t visits_ = 0;
};

}  // namespace

Result<void> read_state_dict(const Pickled& pickled, const StorageBytes& storages, const std::string& where,
                             Allowance& allowance, ModelFile& file) {
  return StateDict(pickled, storages, where, allowance, file).read();
}

}  // namespace orrery::io
