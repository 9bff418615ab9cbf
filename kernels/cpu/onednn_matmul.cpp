#include <omp.h>

#include <dnnl.hpp>
#include <map>
#include <mutex>
#include <unordered_map>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/linear_onednn.h"

namespace orrery::kernels::onednn {
namespace {

constexpr size_t kMostCached = 512;  // about 20 KB each

const dnnl::engine& cpu_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

}  // namespace

class Matmul {
 public:
  explicit Matmul(const Shape& shape) {
    using Tag = dnnl::memory::format_tag;
    constexpr auto kType = dnnl::memory::data_type::f32;
    src_ = dnnl::memory::desc({shape.tokens, shape.cols}, kType, Tag::ab);
    weight_ = dnnl::memory::desc({shape.cols, shape.rows}, kType, Tag::BA16a64b);
    tile_ = dnnl::memory::desc({shape.tokens, shape.rows}, kType, Tag::ab);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(src_, weight_, tile_), attributes,
                                                   cpu_engine());
    fast_ = std::string_view(description.impl_info_str()).starts_with("brg");
    scratch_ = description.scratchpad_desc();
    primitive_ = dnnl::matmul(description);
  }

  bool usable() const { return fast_ && scratch_.get_size() <= kScratchBytes; }

  void execute(const float* src, const float* weight, float* tile, std::byte* scratch) const {
    const dnnl::engine& engine = cpu_engine();
    dnnl::stream stream(engine);
    // oneDNN takes inputs by a pointer to what it may change, and only reads them.
    primitive_.execute(stream, {{DNNL_ARG_SRC, dnnl::memory(src_, engine, const_cast<float*>(src))},
                                {DNNL_ARG_WEIGHTS, dnnl::memory(weight_, engine, const_cast<float*>(weight))},
                                {DNNL_ARG_DST, dnnl::memory(tile_, engine, tile)},
                                {DNNL_ARG_SCRATCHPAD, dnnl::memory(scratch_, engine, scratch)}});
    stream.wait();
  }

 private:
  dnnl::memory::desc src_, weight_, tile_, scratch_;
  dnnl::matmul primitive_;
  bool fast_ = false;
};

std::shared_ptr<const Matmul> matmul(const Shape& shape) noexcept {
  static std::mutex mutex;
  static std::map<Shape, std::shared_ptr<const Matmul>> cache;
  try {
    const std::lock_guard lock(mutex);
    if (const auto found = cache.find(shape); found != cache.end()) return found->second;
    if (cache.size() >= kMostCached) cache.clear();  // those in use live on in their users
    const OneThread one;
    auto made = std::make_shared<const Matmul>(shape);
    if (!made->usable()) made = nullptr;
    return cache.emplace(shape, std::move(made)).first->second;
  } catch (...) {  // dnnl::error, bad_alloc: the caller has another way
    return nullptr;
  }
}

bool run(const Matmul& matmul, const float* src, const float* weight, float* tile,
         std::byte* scratch) noexcept {
  try {
    matmul.execute(src, weight, tile, scratch);
    return true;
  } catch (...) {
    return false;
  }
}

OneThread::OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
OneThread::~OneThread() { omp_set_num_threads(before_); }

}  // namespace orrery::kernels::onednn
