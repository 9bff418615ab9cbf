#include "engine/weights/weight_store.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/weights/memory_state.h"
#include "engine/weights/merge.h"
#include "engine/weights/requantise.h"
#include "engine/weights/weight_file.h"

namespace orrery::weights {
namespace {

/// Kernels read elements at their natural alignment; safetensors may put them at any byte.
bool is_aligned(const io::Tensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data.data()) %
             static_cast<uintptr_t>(dtype_info(tensor.dtype).alignment) ==
         0;
}

bool lies_in(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
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

}  // namespace

WeightStore::WeightStore(std::shared_ptr<const io::ModelFile> file,
                         std::shared_ptr<const io::Adapter> adapter)
    : file_(std::move(file)), adapter_(std::move(adapter)) {}

Result<std::shared_ptr<const WeightFile>> WeightStore::other_file(const OtherFile& file) {
  const std::string key = file.path + "\n" + file.stamp;
  {
    const std::scoped_lock lock(mutex_);
    if (auto open = others_[key].lock()) return open;
  }
  ORRERY_ASSIGN(auto opened, WeightFile::open(file.path, file_.get()));
  if (opened->stamp() != file.stamp)
    return Error{ErrorCode::io, "The file is not the one that the edit read: it has been rewritten since",
                 file.path, "undo the edit and make it again"};
  const std::scoped_lock lock(mutex_);
  others_[key] = opened;
  return opened;
}

Result<WeightStore::Source> WeightStore::source(const WeightView& view) {
  if (!view.file.path.empty()) {
    ORRERY_ASSIGN(const auto other, other_file(view.file));
    return Source{{other, other->find(view.tensor)}, view.file.path};
  }
  if (adapter_)
    for (const io::Tensor& whole : adapter_->whole)
      if (same_tensor(whole.name, view.tensor)) return Source{{adapter_, &whole}, adapter_->path};
  return Source{{file_, file_->find(view.tensor)}, file_->path};
}

Result<std::vector<LowRankTerm>> WeightStore::low_rank_terms(const WeightView& view) {
  std::vector<LowRankTerm> terms;
  if (const io::Adapter::LowRank* own =
          adapter_ && view.file.path.empty() ? find_low_rank(*adapter_, view.tensor) : nullptr)
    terms.push_back({own->scale, own->a, own->b, adapter_});
  for (const MergedAdapter& merged : view.merged) {
    ORRERY_ASSIGN(const auto other, other_file(merged.file));
    const io::Adapter::LowRank* pair = other->low_rank(view.tensor);
    if (!pair)
      return Error{ErrorCode::not_found, fmt::format("The adapter does not change \"{}\"", view.tensor),
                   merged.file.path, "undo the edit and make it again"};
    terms.push_back({merged.factor, pair->a, pair->b, other});
  }
  return terms;
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

WeightTensor WeightStore::remember_tensor(const WeightView& view, Form form) {
  form.what.tensor = view.name();
  form.what.bytes = form.buffer.size();
  if (form.buffer.size() > 0) form.tensor.data = {form.buffer.data(), form.buffer.size()};
  const auto held = remember({view.identity(), "", nullptr}, std::move(form));
  return {held, &held->tensor};
}

Result<WeightView> WeightStore::resolved(WeightView view) {
  if (!view.dtype) return view;
  const bool merged = !view.merged.empty() || (adapter_ && find_low_rank(*adapter_, view.tensor));
  WeightView first = view;
  if (view.stacked > 0) first.tensor = view.member(0);
  ORRERY_ASSIGN(const Source stored, source(first));
  if (stored.tensor && view.dtype == (merged ? DType::f32 : stored.tensor->dtype)) view.dtype.reset();
  return view;
}

Result<WeightTensor> WeightStore::made_tensor(const WeightView& view, kernels::ThreadTeam& team) {
  if (const auto known = find({view.identity(), "", nullptr})) return WeightTensor(known, &known->tensor);
  if (view.is_whole()) return whole_tensor(view, team);
  ORRERY_ASSIGN(Form form, view.dtype             ? requantised(view, team)
                           : view.stacked > 0     ? stack_of(view, team)
                           : view.columns.empty() ? view_of(view, team)
                                                  : columns_of(view, team));
  return remember_tensor(view, std::move(form));
}

/// What the view takes, in the type that it asks for.
Result<WeightStore::Form> WeightStore::requantised(const WeightView& view, kernels::ThreadTeam& team) {
  WeightView taken = view;
  taken.dtype.reset();
  ORRERY_ASSIGN(const WeightTensor source, made_tensor(taken, team));
  ORRERY_TRY(check_requantise(*source, *view.dtype));
  Form form{{{},
             fmt::format("requantised to {}", name_of(*view.dtype)),
             fmt::format("an edit asks for it; it was {}", name_of(source->dtype))},
            {source->name, *view.dtype, source->shape, {}}};
  ORRERY_ASSIGN(form.buffer, requantise(*source, *view.dtype, team));
  give_back(view, *source);
  return form;
}

Result<WeightStore::Form> WeightStore::stack_of(const WeightView& view, kernels::ThreadTeam& team) {
  const auto member = [&](int64_t number) {
    WeightView one(view.member(number));
    one.file = view.file;
    one.merged = view.merged;
    return whole_tensor(one, team);
  };
  ORRERY_ASSIGN(const WeightTensor first, member(0));
  const size_t each = first->data.size();
  Form stack{{{}, "copy side by side", "the file holds the experts apart"},
             {first->name, first->dtype, first->shape, {}}};
  ORRERY_ASSIGN(stack.buffer, Buffer::allocate(each * static_cast<size_t>(view.stacked)));
  for (int64_t i = 0; i < view.stacked; ++i) {
    ORRERY_ASSIGN(const WeightTensor next, member(i));
    ORRERY_TRY(check_stack(*first, *next));
    std::memcpy(stack.buffer.data() + static_cast<size_t>(i) * each, next->data.data(), each);
    give_back(view, *next);
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
  give_back(view, *source);
  return taken;
}

/// Rows of the transpose are rows of its copy, which all of them share. A view keeps its tensor's name.
Result<WeightStore::Form> WeightStore::view_of(const WeightView& view, kernels::ThreadTeam& team) {
  const bool all_rows = view.rows.empty();
  WeightView all = view.whole();
  all.transposed = view.transposed && !all_rows;
  ORRERY_ASSIGN(const WeightTensor source, made_tensor(all, team));
  ORRERY_TRY(check_view(*source, {view.tensor, view.transposed && all_rows, view.rows}));
  Form taken;
  taken.tensor = *source;
  if (all_rows) {
    ORRERY_ASSIGN(taken.buffer, Buffer::allocate(source->data.size()));
    transpose(*source, taken.buffer.data());
    std::swap(taken.tensor.shape[0], taken.tensor.shape[1]);
    taken.what = {{}, "transposed copy", "the file holds it transposed"};
    give_back(view, *source);
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
  give_back(view, *source);
  return taken;
}

Result<WeightTensor> WeightStore::whole_tensor(const WeightView& view, kernels::ThreadTeam& team) {
  ORRERY_ASSIGN(const Source found, source(view));
  const WeightTensor& tensor = found.tensor;
  if (!tensor)
    return Error{
        ErrorCode::not_found,
        fmt::format("The {} has no tensor \"{}\"", view.file.path.empty() ? "model" : "file", view.tensor),
        found.path.string(),
        view.file.path.empty() ? "the file does not fit its architecture; get it again or choose another"
                               : "undo the edit that names it"};
  ORRERY_TRY(io::check_runnable(*tensor, found.path));
  ORRERY_ASSIGN(const std::vector<LowRankTerm> terms, low_rank_terms(view));
  Form form{{}, {view.tensor, tensor->dtype, tensor->shape, {}}};
  if (!terms.empty()) {
    ORRERY_ASSIGN(form.buffer, merge_low_rank(*tensor, terms, team));
    form.tensor.dtype = DType::f32;
    form.what = {{}, "adapter merged to f32", "it adds"};
    for (const LowRankTerm& term : terms)
      form.what.reason += fmt::format("{} {} * B A of rank {}", &term == terms.data() ? "" : " and",
                                      term.factor, term.a.shape[0]);
  } else if (is_aligned(*tensor)) {
    return tensor;
  } else {
    ORRERY_ASSIGN(form.buffer, Buffer::allocate(tensor->data.size()));
    std::memcpy(form.buffer.data(), tensor->data.data(), tensor->data.size());
    form.what = {{}, "aligned copy", "the file holds it at an odd address"};
  }
  give_back(view, *tensor);
  return remember_tensor(view, std::move(form));
}

Result<WeightTensor> WeightStore::tensor(const WeightView& asked, kernels::ThreadTeam& team) {
  const std::scoped_lock making(making_);
  ORRERY_ASSIGN(const WeightView view, resolved(asked));
  return made_tensor(view, team);
}

Result<Buffer> WeightStore::make(const io::Tensor& tensor, const kernels::WeightPacking* packing,
                                 kernels::ThreadTeam& team, const DevicePtr& device) const {
  if (!packing) return copy_to(device, tensor.data.data(), tensor.data.size());
  ORRERY_ASSIGN(Buffer packed, pack(tensor, *packing, team));
  if (!device) return packed;
  return copy_to(device, packed.data(), packed.size());
}

Result<WeightBytes> WeightStore::bytes(const WeightView& asked, const kernels::WeightPacking* packing,
                                       kernels::ThreadTeam& team, const DevicePtr& device) {
  const std::scoped_lock making(making_);
  ORRERY_ASSIGN(const WeightView view, resolved(asked));
  const std::string name = view.name();
  const Key key{view.identity(), std::string(packing ? packing->name : std::string_view()), device.get()};
  const bool derived = packing || device;
  if (derived)
    if (const auto known = find(key); known && known->buffer.alive())
      return WeightBytes(known, known->buffer.data());
  ORRERY_ASSIGN(const WeightTensor tensor, made_tensor(view, team));
  if (!derived) {
    const std::scoped_lock lock(mutex_);
    const io::Tensor* own = view.file.path.empty() ? file_->find(view.tensor) : nullptr;
    if (own && lies_in(tensor->data, own->data)) given_back_.erase(view.tensor);
    return WeightBytes(tensor, tensor->data.data());
  }
  Result<Buffer> made = make(*tensor, packing, team, device);
  if (!made.ok()) {
    Error error = std::move(made).error();
    error.where = packing ? fmt::format("{}, {}", name, packing->name) : name;
    return error;
  }
  give_back(view, *tensor);
  Form form{derivation(name, key.packing, device.get()), {}, std::move(made).value(), {}};
  form.what.bytes = form.buffer.size();
  const auto held = remember(key, std::move(form));
  return WeightBytes(held, held->buffer.data());
}

void WeightStore::give_back(const WeightView& view, const io::Tensor& tensor) {
  const std::scoped_lock lock(mutex_);
  if (!view.file.path.empty()) {
    for (const auto& [key, file] : others_)
      if (const auto open = file.lock()) open->drop(tensor.data);
    return;
  }
  given_back_.insert(tensor.name);
  const auto drop_from = [&](const io::ModelFile& model) {
    for (const auto& mapped : model.files) mapped->drop(tensor.data);
  };
  drop_from(*file_);
  if (adapter_ && adapter_->file) drop_from(*adapter_->file);
}

Result<void> WeightStore::check() const {
  for (const auto& mapped : file_->files) ORRERY_TRY(mapped->check());
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, file] : others_)
    if (const auto open = file.lock()) ORRERY_TRY(open->check());
  return {};
}

uint64_t WeightStore::resident() const {
  const std::scoped_lock lock(mutex_);
  uint64_t bytes = 0;
  for (const io::Tensor& tensor : file_->tensors)
    if (!given_back_.contains(tensor.name)) bytes += resident_bytes(tensor.data);
  for (const auto& [key, file] : others_)
    if (const auto open = file.lock()) bytes += open->resident();
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
