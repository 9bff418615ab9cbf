#include "kernels/cpu/onednn_convolution.h"

#include <algorithm>
#include <dnnl.hpp>
#include <map>
#include <mutex>
#include <string_view>

#include "kernels/cpu/onednn_thread.h"

namespace orrery::kernels::onednn {
namespace {

constexpr size_t kMostParts = 512;  // about 50 KB each

const dnnl::engine& part_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

using Dims = dnnl::memory::dims;

/// The last two of the spatial dims, or all three where the first has more than one tap.
Dims spatial(const std::array<int64_t, kSpatial>& sizes, bool deep) {
  return deep ? Dims{sizes[0], sizes[1], sizes[2]} : Dims{sizes[1], sizes[2]};
}

Dims joined(Dims dims, const Dims& more) {
  dims.insert(dims.end(), more.begin(), more.end());
  return dims;
}

}  // namespace

class PartConvolution {
 public:
  explicit PartConvolution(const PartShape& shape) {
    using Tag = dnnl::memory::format_tag;
    constexpr auto kType = dnnl::memory::data_type::f32;
    const bool deep = shape.kernel[0] > 1, grouped = shape.groups > 1;
    const Tag last = deep ? Tag::ndhwc : Tag::nhwc;
    const Tag plain = deep ? (grouped ? Tag::goidhw : Tag::oidhw) : (grouped ? Tag::goihw : Tag::oihw);
    const Dims none(deep ? 3 : 2, 0);
    Dims dilation = spatial(shape.dilation, deep);
    for (auto& each : dilation) --each;  // the library counts what is left out
    src_ = {
        joined({1, shape.groups * shape.channels}, spatial({shape.src(0), shape.src(1), shape.src(2)}, deep)),
        kType, last};
    dst_ = {joined({1, shape.groups * shape.outputs}, spatial(shape.dst, deep)), kType, last};
    const Dims matrix = {shape.outputs, shape.channels};
    const Dims weight =
        joined(grouped ? joined({shape.groups}, matrix) : matrix, spatial(shape.kernel, deep));
    plain_ = {weight, kType, plain};

    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::convolution_forward::primitive_desc description(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, src_,
         dnnl::memory::desc(weight, kType, Tag::any), dst_, spatial(shape.stride, deep), dilation, none,
         none},
        attributes, part_engine());
    fast_ = !std::string_view(description.impl_info_str()).starts_with("ref");
    packed_ = description.weights_desc();
    scratch_ = description.scratchpad_desc();
    convolution_ = dnnl::convolution_forward(description);
    const dnnl::reorder::primitive_desc packing(part_engine(), plain_, part_engine(), packed_, attributes);
    packing_scratch_ = packing.scratchpad_desc();
    packing_ = dnnl::reorder(packing);
  }

  bool usable() const { return fast_; }
  size_t packed_bytes() const { return packed_.get_size(); }
  size_t scratch_bytes() const { return std::max(scratch_.get_size(), packing_scratch_.get_size()); }

  // oneDNN takes inputs by a pointer to what it may change, and only reads them.

  void pack(const float* weight, std::byte* packed, std::byte* scratch) const {
    execute(packing_, {{DNNL_ARG_FROM, memory(plain_, weight)},
                       {DNNL_ARG_TO, memory(packed_, packed)},
                       {DNNL_ARG_SCRATCHPAD, memory(packing_scratch_, scratch)}});
  }
  void run(const float* src, const std::byte* packed, float* dst, std::byte* scratch) const {
    execute(convolution_, {{DNNL_ARG_SRC, memory(src_, src)},
                           {DNNL_ARG_WEIGHTS, memory(packed_, packed)},
                           {DNNL_ARG_DST, memory(dst_, dst)},
                           {DNNL_ARG_SCRATCHPAD, memory(scratch_, scratch)}});
  }

 private:
  static dnnl::memory memory(const dnnl::memory::desc& description, const void* address) {
    return {description, part_engine(), const_cast<void*>(address)};
  }
  static void execute(const dnnl::primitive& primitive, const std::unordered_map<int, dnnl::memory>& args) {
    dnnl::stream stream(part_engine());
    primitive.execute(stream, args);
    stream.wait();
  }

  dnnl::memory::desc src_, plain_, packed_, dst_, scratch_, packing_scratch_;
  dnnl::primitive convolution_, packing_;
  bool fast_ = false;
};

std::shared_ptr<const PartConvolution> part_convolution(const PartShape& shape) noexcept {
  static std::mutex mutex;
  static std::map<PartShape, std::shared_ptr<const PartConvolution>> cache;
  try {
    const std::lock_guard lock(mutex);
    if (const auto found = cache.find(shape); found != cache.end()) return found->second;
    if (cache.size() >= kMostParts) cache.clear();  // those in use live on in their users
    const OneThread one;
    auto made = std::make_shared<const PartConvolution>(shape);
    if (!made->usable()) made = nullptr;
    return cache.emplace(shape, std::move(made)).first->second;
  } catch (...) {  // dnnl::error, bad_alloc: the caller has another way
    return nullptr;
  }
}

size_t packed_bytes(const PartConvolution& convolution) { return convolution.packed_bytes(); }
size_t scratch_bytes(const PartConvolution& convolution) { return convolution.scratch_bytes(); }

bool pack(const PartConvolution& convolution, const float* weight, std::byte* packed,
          std::byte* scratch) noexcept {
  try {
    convolution.pack(weight, packed, scratch);
    return true;
  } catch (...) {
    return false;
  }
}

bool run(const PartConvolution& convolution, const float* src, const std::byte* packed, float* dst,
         std::byte* scratch) noexcept {
  try {
    convolution.run(src, packed, dst, scratch);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace orrery::kernels::onednn
