#include "engine/weights/weight_store.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/weights/memory_state.h"
#include "engine/weights/merge.h"

namespace orrery::weights {
namespace {

/// Kernels read elements at their natural alignment; safetensors may put them at any byte.
bool is_aligned(const io::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data.data()) %
             static_cast<uintptr_t>(dtype_info(tensor.dtype).alignment) ==
         0;
}

Result<Buffer> pack(const io::Tensor& tensor, const kernels::WeightPacking& packing,
                    kernels::ThreadTeam& team) {
  const auto [rows, cols] = matrix_of(tensor);
  ORRERY_ASSIGN(Buffer packed, Buffer::allocate(packing.bytes(tensor.dtype, rows, cols)));
  packing.pack(tensor.data.data(), tensor.dtype, rows, cols, packed.data(), team);
  return packed;
}

Result<Buffer> copy_to(const DevicePtr& device, const void* src, size_t bytes) {
  ORRERY_ASSIGN(Buffer copy, Buffer::allocate(bytes, device));
  ORRERY_TRY(copy.fill(src, bytes));
  return copy;
}

/// Adapters keep names without an encoder's prefix, a base file may have it.
bool same_tensor(const std::string& adapters, const std::string& name) {
  return adapters == name || adapters == io::without_encoder_prefix(name);
}

const io::Adapter::LowRank* find_low_rank(const io::Adapter& adapter, const std::string& name) {
  for (const io::Adapter::LowRank& low_rank : adapter.low_rank)
    if (same_tensor(low_rank.target, name)) return &low_rank;
  return nullptr;
}

}  // namespace

bool is_merged(const io::Adapter& adapter, const std::string& name) {
  return find_low_rank(adapter, name) != nullptr;
}

/// A tensor that is not the file's bytes as they stand.
struct WeightStore::Merged {
  Buffer buffer;
  io::Tensor tensor;
};

WeightStore::WeightStore(std::shared_ptr<const io::ModelFile> file,
                         std::shared_ptr<const io::Adapter> adapter)
    : file_(std::move(file)), adapter_(std::move(adapter)) {}

WeightStore::~WeightStore() = default;

const io::Tensor* WeightStore::source(const std::string& name) const {
  if (adapter_)
    for (const io::Tensor& whole : adapter_->whole)
      if (same_tensor(whole.name, name)) return &whole;
  return file_->find(name);
}

const io::Adapter::LowRank* WeightStore::low_rank(const std::string& name) const {
  return adapter_ ? find_low_rank(*adapter_, name) : nullptr;
}

const io::Tensor* WeightStore::keep(const std::string& name, io::Tensor tensor, Buffer buffer,
                                    std::string transform, std::string reason) {
  auto merged = std::make_unique<Merged>();
  tensor.data = {buffer.data(), buffer.size()};
  merged->tensor = std::move(tensor);
  merged->buffer = std::move(buffer);
  derived_.push_back({name, std::move(transform), std::move(reason), merged->buffer.size()});
  return &(merged_[name] = std::move(merged))->tensor;
}

Result<const io::Tensor*> WeightStore::tensor_locked(const WeightView& view, kernels::ThreadTeam& team) {
  if (const auto it = merged_.find(view.name()); it != merged_.end()) return &it->second->tensor;
  if (view.is_whole()) return whole_tensor(view.tensor, team);
  if (view.stacked == 0) return make_view(view, team);
  ORRERY_ASSIGN(Stack stack, make_stack(view, team));
  return keep(view.name(), std::move(stack.tensor), std::move(stack.buffer), "copy side by side",
              "the file holds the experts apart");
}

Result<WeightStore::Stack> WeightStore::make_stack(const WeightView& view, kernels::ThreadTeam& team) {
  ORRERY_ASSIGN(const io::Tensor* first, whole_tensor(view.member(0), team));
  const size_t each = first->data.size();
  Stack stack{{}, {first->name, first->dtype, first->shape, {}}};
  ORRERY_ASSIGN(stack.buffer, Buffer::allocate(each * static_cast<size_t>(view.stacked)));
  for (int64_t i = 0; i < view.stacked; ++i) {
    ORRERY_ASSIGN(const io::Tensor* next, whole_tensor(view.member(i), team));
    ORRERY_TRY(check_stack(*first, *next));
    std::memcpy(stack.buffer.data() + static_cast<size_t>(i) * each, next->data.data(), each);
    give_back(*next);
  }
  stack.tensor.shape.insert(stack.tensor.shape.begin(), view.stacked);
  stack.tensor.data = {stack.buffer.data(), stack.buffer.size()};
  return stack;
}

/// Rows of the transpose are rows of its copy, which all of them share. A view keeps its tensor's name.
Result<const io::Tensor*> WeightStore::make_view(const WeightView& view, kernels::ThreadTeam& team) {
  const bool all_rows = view.rows.empty();
  ORRERY_ASSIGN(const io::Tensor* source,
                tensor_locked({view.tensor, view.transposed && !all_rows, {}}, team));
  ORRERY_TRY(check_view(*source, {view.tensor, view.transposed && all_rows, view.rows}));
  io::Tensor taken = *source;
  if (all_rows) {
    ORRERY_ASSIGN(Buffer copy, Buffer::allocate(source->data.size()));
    transpose(*source, copy.data());
    give_back(*source);
    std::swap(taken.shape[0], taken.shape[1]);
    return keep(view.name(), std::move(taken), std::move(copy), "transposed copy",
                "the file holds it transposed");
  }
  taken.shape = view_shape(*source, view.rows);
  const size_t row = source->data.size() / static_cast<size_t>(source->shape.front());
  const size_t bytes = row * static_cast<size_t>(taken.shape.front());
  if (view.rows.size() == 2) {
    auto part = std::make_unique<Merged>();
    taken.data = source->data.subspan(row * static_cast<size_t>(view.rows[0]), bytes);
    part->tensor = std::move(taken);
    return &(merged_[view.name()] = std::move(part))->tensor;
  }
  ORRERY_ASSIGN(Buffer copy, Buffer::allocate(bytes));
  copy_rows(*source, view.rows, copy.data());
  give_back(*source);
  return keep(view.name(), std::move(taken), std::move(copy), "copy of its rows",
              "the file holds them between others");
}

Result<const io::Tensor*> WeightStore::whole_tensor(const std::string& name, kernels::ThreadTeam& team) {
  const io::Tensor* tensor = source(name);
  if (!tensor)
    return Error{ErrorCode::not_found, fmt::format("The model has no tensor \"{}\"", name),
                 file_->path.string(),
                 "the file does not fit its architecture; get it again or choose another"};
  ORRERY_TRY(io::check_runnable(*tensor, file_->path));
  const io::Adapter::LowRank* adapted = low_rank(name);
  if (adapted) {
    ORRERY_ASSIGN(Buffer merged, merge_low_rank(*tensor, *adapted, team));
    give_back(*tensor);
    return keep(name, {name, DType::f32, tensor->shape, {}}, std::move(merged), "adapter merged to f32",
                fmt::format("the adapter adds {} * B A of rank {}", adapted->scale, adapted->a.shape[0]));
  }
  if (is_aligned(*tensor)) return tensor;
  ORRERY_ASSIGN(Buffer copy, Buffer::allocate(tensor->data.size()));
  std::memcpy(copy.data(), tensor->data.data(), tensor->data.size());
  give_back(*tensor);
  return keep(name, {name, tensor->dtype, tensor->shape, {}}, std::move(copy), "aligned copy",
              "the file holds it at an odd address");
}

DerivedWeight WeightStore::derivation(const Form& form, size_t bytes) {
  const std::string reason = "the chosen kernel reads this form faster";
  if (!form.device) return {form.tensor, form.packing, reason, bytes};
  const std::string there = fmt::format("on {}", form.device->facts().name);
  if (form.packing.empty()) return {form.tensor, there, "the device reads its own memory", bytes};
  return {form.tensor, fmt::format("{}, {}", form.packing, there), reason, bytes};
}

Result<const io::Tensor*> WeightStore::tensor(const WeightView& view, kernels::ThreadTeam& team) {
  const std::scoped_lock lock(mutex_);
  return tensor_locked(view, team);
}

Result<const void*> WeightStore::bytes(const WeightView& view, const kernels::WeightPacking* packing,
                                       kernels::ThreadTeam& team, const DevicePtr& device) {
  const std::scoped_lock lock(mutex_);
  const std::string name = view.name();
  const Form form{name, std::string(packing ? packing->name : std::string_view()), device.get()};
  if (const auto it = forms_.find(form); it != forms_.end() && it->second.alive())
    return static_cast<const void*>(it->second.data());
  Stack stack;  // of a device: not kept here beside the copy there
  const io::Tensor* tensor = &stack.tensor;
  if (view.stacked > 0 && device) {
    ORRERY_ASSIGN(stack, make_stack(view, team));
  } else {
    ORRERY_ASSIGN(tensor, tensor_locked(view, team));
  }
  if (!packing && !device) {
    given_back_.erase(view.tensor);
    return static_cast<const void*>(tensor->data.data());
  }
  auto made = packing ? pack(*tensor, *packing, team) : Result<Buffer>(Buffer{});
  if (made.ok() && device)
    made = packing ? copy_to(device, made->data(), made->size())
                   : copy_to(device, tensor->data.data(), tensor->data.size());
  if (!made.ok()) {
    Error error = std::move(made).error();
    error.where = packing ? fmt::format("{}, {}", name, packing->name) : name;
    return error;
  }
  give_back(*tensor);
  const bool known = forms_.contains(form);  // built anew after its device was lost
  if (!known) derived_.push_back(derivation(form, made->size()));
  return static_cast<const void*>((forms_[form] = std::move(made).value()).data());
}

void WeightStore::give_back(const io::Tensor& tensor) {
  given_back_.insert(tensor.name);
  const auto drop_from = [&](const io::ModelFile& model) {
    for (const auto& mapped : model.files) mapped->drop(tensor.data);
  };
  drop_from(*file_);
  if (adapter_ && adapter_->file) drop_from(*adapter_->file);
}

uint64_t WeightStore::resident() const {
  const std::scoped_lock lock(mutex_);
  uint64_t bytes = 0;
  for (const io::Tensor& tensor : file_->tensors)
    if (!given_back_.contains(tensor.name)) bytes += resident_bytes(tensor.data);
  return bytes;
}

std::vector<DerivedWeight> WeightStore::derived() const {
  const std::scoped_lock lock(mutex_);
  return derived_;
}

}  // namespace orrery::weights
