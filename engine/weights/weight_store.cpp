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

DerivedWeight derivation(const std::string& tensor, const std::string& packing,
                         const kernels::Device* device) {
  const std::string reason = "the chosen kernel reads this form faster";
  if (!device) return {tensor, packing, reason};
  const std::string there = fmt::format("on {}", device->facts().name);
  if (packing.empty()) return {tensor, there, "the device reads its own memory"};
  return {tensor, fmt::format("{}, {}", packing, there), reason};
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

WeightStore::WeightStore(std::shared_ptr<const io::ModelFile> file,
                         std::shared_ptr<const io::Adapter> adapter)
    : file_(std::move(file)), adapter_(std::move(adapter)) {}

WeightTensor WeightStore::source(const std::string& name) const {
  if (adapter_)
    for (const io::Tensor& whole : adapter_->whole)
      if (same_tensor(whole.name, name)) return {adapter_, &whole};
  return {file_, file_->find(name)};
}

const io::Adapter::LowRank* WeightStore::low_rank(const std::string& name) const {
  return adapter_ ? find_low_rank(*adapter_, name) : nullptr;
}

std::shared_ptr<const WeightStore::Form> WeightStore::find(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto it = forms_.find(key);
  return it == forms_.end() ? nullptr : it->second.lock();
}

std::shared_ptr<const WeightStore::Form> WeightStore::remember(const Key& key, Form form) {
  auto held = std::make_shared<const Form>(std::move(form));
  const std::scoped_lock lock(mutex_);
  forms_[key] = held;
  return held;
}

WeightTensor WeightStore::remember_tensor(const std::string& name, Form form) {
  form.what.tensor = name;
  form.what.bytes = form.buffer.size();
  if (form.buffer.size() > 0) form.tensor.data = {form.buffer.data(), form.buffer.size()};
  const auto held = remember({name, "", nullptr}, std::move(form));
  return {held, &held->tensor};
}

Result<WeightTensor> WeightStore::made_tensor(const WeightView& view, kernels::ThreadTeam& team) {
  if (const auto known = find({view.name(), "", nullptr})) return WeightTensor(known, &known->tensor);
  if (view.is_whole()) return whole_tensor(view.tensor, team);
  ORRERY_ASSIGN(Form form, view.stacked > 0       ? stack_of(view, team)
                           : view.columns.empty() ? view_of(view, team)
                                                  : columns_of(view, team));
  return remember_tensor(view.name(), std::move(form));
}

Result<WeightStore::Form> WeightStore::stack_of(const WeightView& view, kernels::ThreadTeam& team) {
  ORRERY_ASSIGN(const WeightTensor first, whole_tensor(view.member(0), team));
  const size_t each = first->data.size();
  Form stack{{{}, "copy side by side", "the file holds the experts apart"},
             {first->name, first->dtype, first->shape, {}}};
  ORRERY_ASSIGN(stack.buffer, Buffer::allocate(each * static_cast<size_t>(view.stacked)));
  for (int64_t i = 0; i < view.stacked; ++i) {
    ORRERY_ASSIGN(const WeightTensor next, whole_tensor(view.member(i), team));
    ORRERY_TRY(check_stack(*first, *next));
    std::memcpy(stack.buffer.data() + static_cast<size_t>(i) * each, next->data.data(), each);
    give_back(*next);
  }
  stack.tensor.shape.insert(stack.tensor.shape.begin(), view.stacked);
  return stack;
}

Result<WeightStore::Form> WeightStore::columns_of(const WeightView& view, kernels::ThreadTeam& team) {
  WeightView all = view;
  all.columns.clear();
  ORRERY_ASSIGN(const WeightTensor source, made_tensor(all, team));
  ORRERY_TRY(check_columns(*source, view.columns));
  Form taken{{{}, "copy of its columns", "they lie between others in each row"}, *source};
  taken.tensor.shape.back() = view.columns[1];
  const size_t row = row_bytes(source->dtype, view.columns[1]).value_or(0);
  ORRERY_ASSIGN(taken.buffer, Buffer::allocate(row * static_cast<size_t>(source->shape.front())));
  copy_columns(*source, view.columns, taken.buffer.data());
  give_back(*source);
  return taken;
}

/// Rows of the transpose are rows of its copy, which all of them share. A view keeps its tensor's name.
Result<WeightStore::Form> WeightStore::view_of(const WeightView& view, kernels::ThreadTeam& team) {
  const bool all_rows = view.rows.empty();
  ORRERY_ASSIGN(const WeightTensor source,
                made_tensor({view.tensor, view.transposed && !all_rows, {}}, team));
  ORRERY_TRY(check_view(*source, {view.tensor, view.transposed && all_rows, view.rows}));
  Form taken;
  taken.tensor = *source;
  if (all_rows) {
    ORRERY_ASSIGN(taken.buffer, Buffer::allocate(source->data.size()));
    transpose(*source, taken.buffer.data());
    std::swap(taken.tensor.shape[0], taken.tensor.shape[1]);
    taken.what = {{}, "transposed copy", "the file holds it transposed"};
    give_back(*source);
    return taken;
  }
  taken.tensor.shape = view_shape(*source, view.rows);
  const size_t row = source->data.size() / static_cast<size_t>(source->shape.front());
  const size_t bytes = row * static_cast<size_t>(taken.tensor.shape.front());
  if (view.rows.size() == 2) {
    taken.tensor.data = source->data.subspan(row * static_cast<size_t>(view.rows[0]), bytes);
    taken.source = source;
    return taken;
  }
  ORRERY_ASSIGN(taken.buffer, Buffer::allocate(bytes));
  copy_rows(*source, view.rows, taken.buffer.data());
  taken.what = {{}, "copy of its rows", "the file holds them between others"};
  give_back(*source);
  return taken;
}

Result<WeightTensor> WeightStore::whole_tensor(const std::string& name, kernels::ThreadTeam& team) {
  const WeightTensor tensor = source(name);
  if (!tensor)
    return Error{ErrorCode::not_found, fmt::format("The model has no tensor \"{}\"", name),
                 file_->path.string(),
                 "the file does not fit its architecture; get it again or choose another"};
  ORRERY_TRY(io::check_runnable(*tensor, file_->path));
  Form form{{}, {name, tensor->dtype, tensor->shape, {}}};
  if (const io::Adapter::LowRank* adapted = low_rank(name)) {
    ORRERY_ASSIGN(form.buffer, merge_low_rank(*tensor, *adapted, team));
    form.tensor.dtype = DType::f32;
    form.what = {{},
                 "adapter merged to f32",
                 fmt::format("the adapter adds {} * B A of rank {}", adapted->scale, adapted->a.shape[0])};
  } else if (is_aligned(*tensor)) {
    return tensor;
  } else {
    ORRERY_ASSIGN(form.buffer, Buffer::allocate(tensor->data.size()));
    std::memcpy(form.buffer.data(), tensor->data.data(), tensor->data.size());
    form.what = {{}, "aligned copy", "the file holds it at an odd address"};
  }
  give_back(*tensor);
  return remember_tensor(name, std::move(form));
}

Result<WeightTensor> WeightStore::tensor(const WeightView& view, kernels::ThreadTeam& team) {
  const std::scoped_lock making(making_);
  return made_tensor(view, team);
}

Result<Buffer> WeightStore::make(const io::Tensor& tensor, const kernels::WeightPacking* packing,
                                 kernels::ThreadTeam& team, const DevicePtr& device) const {
  if (!packing) return copy_to(device, tensor.data.data(), tensor.data.size());
  ORRERY_ASSIGN(Buffer packed, pack(tensor, *packing, team));
  if (!device) return packed;
  return copy_to(device, packed.data(), packed.size());
}

Result<WeightBytes> WeightStore::bytes(const WeightView& view, const kernels::WeightPacking* packing,
                                       kernels::ThreadTeam& team, const DevicePtr& device) {
  const std::scoped_lock making(making_);
  const std::string name = view.name();
  const Key key{name, std::string(packing ? packing->name : std::string_view()), device.get()};
  const bool derived = packing || device;
  if (derived)
    if (const auto known = find(key); known && known->buffer.alive())
      return WeightBytes(known, known->buffer.data());
  ORRERY_ASSIGN(const WeightTensor tensor, made_tensor(view, team));
  if (!derived) {
    const std::scoped_lock lock(mutex_);
    given_back_.erase(view.tensor);
    return WeightBytes(tensor, tensor->data.data());
  }
  Result<Buffer> made = make(*tensor, packing, team, device);
  if (!made.ok()) {
    Error error = std::move(made).error();
    error.where = packing ? fmt::format("{}, {}", name, packing->name) : name;
    return error;
  }
  give_back(*tensor);
  Form form{derivation(name, key.packing, device.get()), {}, std::move(made).value(), {}};
  form.what.bytes = form.buffer.size();
  const auto held = remember(key, std::move(form));
  return WeightBytes(held, held->buffer.data());
}

void WeightStore::give_back(const io::Tensor& tensor) {
  {
    const std::scoped_lock lock(mutex_);
    given_back_.insert(tensor.name);
  }
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
  std::vector<DerivedWeight> held;
  for (const auto& [key, form] : forms_)
    if (const auto there = form.lock(); there && there->what.bytes > 0) held.push_back(there->what);
  return held;
}

}  // namespace orrery::weights
