// WeightStore hands out a tensor's bytes by (tensor, transform, device). The plain transform is the mmapped
// file, no copy: the model's, or another that a view names. Derived ones (requantised, packed for a kernel,
// adapter merged, uploaded) are built on first use, counted, and shared by all plans that hold them; one that
// nobody holds any more is gone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/io/model_file.h"
#include "engine/weights/weight_view.h"
#include "kernels/device.h"
#include "kernels/row.h"

namespace orrery::weights {

class WeightFile;
struct LowRankTerm;

/// Null is the CPU.
using DevicePtr = std::shared_ptr<kernels::Device>;

/// The card with the id; null for the CPU, and where it is none of them.
DevicePtr find_card(std::span<const DevicePtr> cards, kernels::DeviceId id);

/// What a device's failure tells a person.
Error describe(const kernels::DeviceError& error);

/// Memory of the program, 64-byte aligned, or of a device, 256-byte aligned: then data() is the device's
/// address.
class Buffer {
 public:
  /// out_of_memory names the bytes, what they were for, the device, and what it has free.
  static Result<Buffer> allocate(size_t bytes, const DevicePtr& device = {},
                                 std::string_view purpose = "a weight");
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  /// Copies `bytes` to its start.
  Result<void> fill(const void* src, size_t bytes);
  /// False once the device was renewed since: the bytes are gone.
  bool alive() const;

 private:
  struct Free {
    Free() noexcept : epoch(0), mapped(0) {}
    Free(DevicePtr owner, uint64_t when, size_t bytes)
        : device(std::move(owner)), epoch(when), mapped(bytes) {}
    DevicePtr device;
    uint64_t epoch;
    size_t mapped;  // bytes that the system gave for this buffer alone; 0: the heap's
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

/// Bytes of a weight, there for as long as someone holds them: the mapped file's own, or a form made of them.
using WeightBytes = std::shared_ptr<const void>;
/// A tensor whose bytes are held with it.
using WeightTensor = std::shared_ptr<const io::Tensor>;

/// For the inspector: what was built beside the file and why.
struct DerivedWeight {
  std::string tensor, transform, reason;  // the tensor's name, or that of a view of it
  size_t bytes = 0;
};

class WeightStore {
 public:
  WeightStore(std::shared_ptr<const io::ModelFile> file, std::shared_ptr<const io::Adapter> adapter);

  /// The tensor as the graph sees it: the file's, or the adapter's (whole, or base + scale * B A merged to
  /// float32), or what the view takes of it, in the type that the view asks for. Rows that follow one another
  /// are no copy. Refuses a file that is not there, or not as it was when the view was made.
  Result<WeightTensor> tensor(const WeightView& view, kernels::ThreadTeam& team);
  /// Its bytes where `device` reads them (null: the CPU), packed when asked; always at their element's
  /// natural alignment. A tensor of more than two dims is packed as (all dims but the last, last), a vector
  /// as one row. The source pages of what was packed or uploaded are given back.
  Result<WeightBytes> bytes(const WeightView& view, const kernels::WeightPacking* packing,
                            kernels::ThreadTeam& team, const DevicePtr& device = {});

  /// Refuses where a file on disk is shorter now than what is mapped of it.
  Result<void> check() const;

  /// What is held now.
  std::vector<DerivedWeight> derived() const;
  /// Bytes of the file's own pages that are in memory and were not given back. The system may keep those that
  /// were, but takes them as soon as it needs memory.
  uint64_t resident() const;
  const io::ModelFile& file() const { return *file_; }

 private:
  /// A tensor with what its bytes belong to.
  struct Source {
    WeightTensor tensor;  // null: it has none
    std::filesystem::path path;
  };

  /// What is not the file's bytes as they stand.
  struct Form {
    DerivedWeight what;  // no bytes of its own: a view, which is not listed
    io::Tensor tensor;   // of a packed or uploaded one without data
    Buffer buffer = {};
    WeightTensor source = {};  // of a view: whose bytes it shows
  };
  struct Key {
    std::string tensor, packing;
    const kernels::Device* device = nullptr;
    auto operator<=>(const Key&) const = default;
  };
  std::shared_ptr<const Form> find(const Key& key) const;
  std::shared_ptr<const Form> remember(const Key& key, Form form);
  WeightTensor remember_tensor(const WeightView& view, Form form);

  /// Without the type where its tensor has that anyway.
  Result<WeightView> resolved(WeightView view);
  Result<WeightTensor> made_tensor(const WeightView& view, kernels::ThreadTeam& team);
  Result<WeightTensor> whole_tensor(const WeightView& view, kernels::ThreadTeam& team);
  Result<Form> requantised(const WeightView& view, kernels::ThreadTeam& team);
  Result<Form> stack_of(const WeightView& view, kernels::ThreadTeam& team);
  Result<Form> view_of(const WeightView& view, kernels::ThreadTeam& team);
  Result<Form> columns_of(const WeightView& view, kernels::ThreadTeam& team);
  Result<Buffer> make(const io::Tensor& tensor, const kernels::WeightPacking* packing,
                      kernels::ThreadTeam& team, const DevicePtr& device) const;
  Result<Source> source(const WeightView& view);
  Result<std::vector<LowRankTerm>> low_rank_terms(const WeightView& view);
  Result<std::shared_ptr<const WeightFile>> other_file(const OtherFile& file);
  void give_back(const WeightView& view, const io::Tensor& tensor);

  std::shared_ptr<const io::ModelFile> file_;
  std::shared_ptr<const io::Adapter> adapter_;
  std::mutex making_;         // one form at a time
  mutable std::mutex mutex_;  // of the next three; never held while a form is made
  std::map<Key, std::weak_ptr<const Form>> forms_;
  std::map<std::string, std::weak_ptr<const WeightFile>> others_;  // by path and stamp
  std::set<std::string> given_back_;  // tensors of the file that only live on in other forms
};

}  // namespace orrery::weights
