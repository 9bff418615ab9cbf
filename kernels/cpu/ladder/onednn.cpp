// cpu.onednn: no step, but the rival that the ladder is measured against. The products are oneDNN's, of rows
// that lie as they are given, without packing ahead: each thread of the team asks the library, which then
// uses that thread alone, for its share of the rows of c.
//   workspace: what the library wants for a share, of each thread
#include <algorithm>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "kernels/cpu/ladder/steps.h"
#include "kernels/cpu/onednn_thread.h"
#include "kernels/cpu/split.h"

namespace orrery::kernels::ladder {
namespace {

constexpr size_t kMostProducts = 64;  // that are kept
constexpr size_t kAlign = 64;

const dnnl::engine& ladder_engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// The library's product of one problem.
class Product {
 public:
  explicit Product(const MatmulLadder::Problem& problem) {
    using Tag = dnnl::memory::format_tag;
    using Type = dnnl::memory::data_type;
    const Type type = problem.dtype == DType::f32 ? Type::f32 : Type::bf16;
    a_ = {{problem.m, problem.k}, type, Tag::ab};
    b_ = {{problem.k, problem.n}, type, Tag::ab};
    c_ = {{problem.m, problem.n}, Type::f32, Tag::ab};
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::primitive_desc description(dnnl::matmul::desc(a_, b_, c_), attributes,
                                                   ladder_engine());
    fast_ = !std::string_view(description.impl_info_str()).starts_with("ref");
    scratch_ = description.scratchpad_desc();
    primitive_ = dnnl::matmul(description);
  }

  bool usable() const { return fast_; }
  size_t scratch_bytes() const { return (scratch_.get_size() + kAlign - 1) / kAlign * kAlign; }

  /// False when oneDNN failed; c is then undefined.
  bool run(const MatmulLadder::Args& args, std::byte* scratch) const noexcept {
    try {
      dnnl::stream stream(ladder_engine());
      primitive_.execute(stream, {{DNNL_ARG_SRC, memory(a_, args.a)},
                                  {DNNL_ARG_WEIGHTS, memory(b_, args.b)},
                                  {DNNL_ARG_DST, memory(c_, args.c)},
                                  {DNNL_ARG_SCRATCHPAD, memory(scratch_, scratch)}});
      stream.wait();
      return true;
    } catch (...) {
      return false;
    }
  }

 private:
  // oneDNN takes inputs by a pointer to what it may change, and only reads them.
  static dnnl::memory memory(const dnnl::memory::desc& description, const void* address) {
    return {description, ladder_engine(), const_cast<void*>(address)};
  }

  dnnl::memory::desc a_, b_, c_, scratch_;
  dnnl::matmul primitive_;
  bool fast_ = false;
};

/// Null where the library has none for this machine but its reference.
std::shared_ptr<const Product> product_of(const MatmulLadder::Problem& problem) noexcept {
  using Key = std::tuple<DType, int64_t, int64_t, int64_t>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const Product>> products;
  try {
    const std::lock_guard lock(mutex);
    const Key key{problem.dtype, problem.m, problem.n, problem.k};
    if (const auto found = products.find(key); found != products.end()) return found->second;
    if (products.size() >= kMostProducts) products.clear();  // those in use live on in their users
    const onednn::OneThread one;
    auto made = std::make_shared<const Product>(problem);
    if (!made->usable()) made = nullptr;
    return products.emplace(key, std::move(made)).first->second;
  } catch (...) {  // dnnl::error, bad_alloc
    return nullptr;
  }
}

/// The rows of c in as many shares as there are threads, the last one what is left.
struct Shares {
  MatmulLadder::Problem problem;
  int64_t each;

  Shares(const MatmulLadder::Problem& problem, int threads)
      : problem(problem), each((problem.m + threads - 1) / threads) {}
  int64_t count() const { return (problem.m + each - 1) / each; }
  MatmulLadder::Problem share(int64_t i) const {
    MatmulLadder::Problem part = problem;
    part.m = std::min(each, problem.m - i * each);
    return part;
  }
  size_t scratch_bytes() const {
    size_t most = 0;
    for (const int64_t i : {int64_t{0}, count() - 1})
      if (const auto product = product_of(share(i))) most = std::max(most, product->scratch_bytes());
    return most;
  }
};

void run(const MatmulLadder::Args& args, const Launch& launch) {
  const int threads = launch.team != nullptr ? launch.team->size() : 1;
  const Shares shares(args.problem, threads);
  const size_t scratch = shares.scratch_bytes();
  const int64_t row_bytes = args.problem.k * dtype_info(args.problem.dtype).block_bytes;
  split(launch, shares.count(), shares.each * args.problem.k, [&](int64_t begin, int64_t end, int thread) {
    const onednn::OneThread one;
    for (int64_t i = begin; i < end; ++i) {
      MatmulLadder::Args part = args;
      part.problem = shares.share(i);
      part.a = static_cast<const std::byte*>(args.a) + i * shares.each * row_bytes;
      part.c = args.c + i * shares.each * args.problem.n;
      const auto product = product_of(part.problem);
      if (!product || !product->run(part, launch.workspace + static_cast<size_t>(thread) * scratch))
        ref::matmul_ladder(part, launch);
    }
  });
}

size_t workspace(const MatmulLadder::Problem& problem, const Machine&, int threads) {
  return Shares(problem, threads).scratch_bytes() * static_cast<size_t>(threads);
}

std::string supports(const MatmulLadder::Problem& problem, const Machine&) {
  if (std::string reason = ref::legal_along_n(problem); !reason.empty()) return reason;
  if (product_of(problem)) return "";
  return "oneDNN has no product of " + std::string(name_of(problem.dtype)) +
         " for this CPU but its reference";
}

Rounding rounding(const MatmulLadder::Problem& problem, int) {
  if (problem.dtype == DType::f32) return {};
  return {Rounded::bf16, Rounded::bf16};
}

}  // namespace

Row<MatmulLadder> onednn_row() {
  return {.name = "cpu.onednn",
          .supports = supports,
          .run = run,
          .workspace = workspace,
          .rounding = rounding,
          .source = "cpu/ladder/onednn.cpp",
          .library = "oneDNN"};
}

}  // namespace orrery::kernels::ladder
