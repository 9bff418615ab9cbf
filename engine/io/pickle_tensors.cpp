// What a pickle may name and call: the short list of pickle_names.h, acted out with values.
#include <fmt/format.h>

#include "engine/io/unpickler.h"

namespace orrery::io {
namespace {

constexpr size_t kMostDims = 8;
constexpr uint64_t kStorageCost = 64, kTensorCost = 320;  // in memory, rounded up

}  // namespace

Result<void> Unpickler::push_found(std::string_view module, std::string_view name) {
  const std::optional<PickleName> found = find_pickle_name(module, name);
  if (found) return push(*found);
  const std::string called =
      fmt::format("{}.{}", module.substr(0, kLongestName), name.substr(0, kLongestName));
  return unsupported(fmt::format("The file asks for {}: it would run code", shown(called)), at(),
                     "files of tensors alone are read; save the model's state_dict, or as safetensors");
}

/// ("storage", class, key, device, elements), and for old files None: no view of another storage.
Result<void> Unpickler::load_storage() {
  ORRERY_ASSIGN(const Value description, take());
  const Values* parts = list(description);
  if (!parts || parts->size() < 5 || parts->size() > 6) return mistyped();
  const auto* kind = std::get_if<std::string_view>(&(*parts)[0]);
  const auto* type = std::get_if<PickleName>(&(*parts)[1]);
  const auto* key = std::get_if<std::string_view>(&(*parts)[2]);
  const auto* elements = std::get_if<int64_t>(&(*parts)[4]);
  if (!kind || *kind != "storage" || !type || type->kind != PickleName::Kind::storage_type || !key ||
      !elements)
    return mistyped();
  if (*elements < 0) return damaged(fmt::format("A storage of {} elements", *elements));
  if (parts->size() == 6 && !std::holds_alternative<std::monostate>((*parts)[5]))
    return unsupported(fmt::format("The storage {} is a view of another one", shown(*key)), at(),
                       "save the model with a newer PyTorch");
  if (!allowance_.take(kStorageCost)) return too_large();
  built_.storages.push_back({type->type, *key, *elements});
  return push(PickleStorageId{static_cast<uint32_t>(built_.storages.size() - 1)});
}

Result<std::vector<int64_t>> Unpickler::numbers(const Value& value) const {
  const Values* values = list(value);
  if (!values) return mistyped();
  if (values->size() > kMostDims)
    return damaged(fmt::format("A tensor of {} dims ({} is the most)", values->size(), kMostDims));
  std::vector<int64_t> numbers;
  for (const Value& item : *values) {
    const auto* number = std::get_if<int64_t>(&item);
    if (!number) return mistyped();
    numbers.push_back(*number);
  }
  return numbers;
}

Result<void> Unpickler::make_tensor(PickleName::Kind kind, const Values& arguments) {
  const bool typed = kind == PickleName::Kind::rebuild_tensor_v3;
  const size_t least = kind == PickleName::Kind::rebuild_tensor ? 4 : typed ? 7 : 6;
  if (arguments.size() < least || arguments.size() > least + 1) return mistyped();
  const auto* storage = std::get_if<PickleStorageId>(&arguments[0]);
  const auto* offset = std::get_if<int64_t>(&arguments[1]);
  const auto* dtype = typed ? std::get_if<PickleName>(&arguments[6]) : nullptr;
  if (!storage || !offset || (typed && (!dtype || dtype->kind != PickleName::Kind::dtype))) return mistyped();
  if (!allowance_.take(kTensorCost)) return too_large();
  PickleTensor tensor;
  tensor.storage = storage->index;
  tensor.type = typed ? dtype->type : built_.storages[storage->index].type;
  tensor.offset = *offset;
  if (!tensor.type) return mistyped();
  ORRERY_ASSIGN(tensor.shape, numbers(arguments[2]));
  ORRERY_ASSIGN(tensor.strides, numbers(arguments[3]));
  if (tensor.shape.size() != tensor.strides.size())
    return damaged(
        fmt::format("A tensor of {} dims has {} strides", tensor.shape.size(), tensor.strides.size()));
  built_.tensors.push_back(std::move(tensor));
  return push(PickleTensorId{static_cast<uint32_t>(built_.tensors.size() - 1)});
}

/// OrderedDict(), or OrderedDict([[key, value], ...]) as Python 2 wrote it.
Result<void> Unpickler::make_dict(const Values& arguments) {
  ORRERY_TRY(push_dict());
  if (arguments.empty()) return {};
  const Values* pairs = arguments.size() == 1 ? list(arguments.front()) : nullptr;
  if (!pairs) return mistyped();
  for (const Value& item : *pairs) {
    const Values* pair = list(item);
    if (!pair || pair->size() != 2) return mistyped();
    ORRERY_TRY(set_items(*pair));
  }
  return {};
}

Result<void> Unpickler::call() {
  ORRERY_ASSIGN(const Value packed, take());
  ORRERY_ASSIGN(const Value callee, take());
  const auto* name = std::get_if<PickleName>(&callee);
  const Values* arguments = list(packed);
  if (!name || !arguments) return mistyped();
  using Kind = PickleName::Kind;
  switch (name->kind) {
    case Kind::ordered_dict:
      return make_dict(*arguments);
    case Kind::size:
      return arguments->size() == 1 && list(arguments->front()) ? push(arguments->front()) : mistyped();
    case Kind::rebuild_tensor:
    case Kind::rebuild_tensor_v2:
    case Kind::rebuild_tensor_v3:
      return make_tensor(name->kind, *arguments);
    case Kind::rebuild_parameter:
      if (arguments->empty() || !std::holds_alternative<PickleTensorId>(arguments->front()))
        return mistyped();
      return push(arguments->front());
    case Kind::storage_type:
    case Kind::dtype:
      break;
  }
  return mistyped();
}

/// The state of an OrderedDict (its _metadata) says nothing about tensors; nothing else has one.
Result<void> Unpickler::build() {
  ORRERY_ASSIGN(const Value state, take());
  if (stack_.empty() || !std::holds_alternative<PickleDict>(stack_.back())) return mistyped();
  return {};
}

}  // namespace orrery::io
