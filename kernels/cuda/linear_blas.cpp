#include "kernels/cuda/linear_blas.h"

#include <array>
#include <map>
#include <memory>
#include <mutex>

namespace orrery::kernels::cuda {
namespace {

void check_blas(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const auto kind =
      status == CUBLAS_STATUS_ALLOC_FAILED ? DeviceError::Kind::out_of_memory : DeviceError::Kind::failed;
  throw DeviceError(kind, std::string("cuBLASLt, ") + what + ": " + cublasLtGetStatusString(status));
}

/// Descriptors are small host objects; each is destroyed with its product.
struct Destroy {
  void operator()(cublasLtMatmulDesc_t p) const { cublasLtMatmulDescDestroy(p); }
  void operator()(cublasLtMatrixLayout_t p) const { cublasLtMatrixLayoutDestroy(p); }
  void operator()(cublasLtMatmulPreference_t p) const { cublasLtMatmulPreferenceDestroy(p); }
};
template <class T>
using Owned = std::unique_ptr<std::remove_pointer_t<T>, Destroy>;

/// A row-major (rows, cols) matrix is a column-major (cols, rows) one.
Owned<cublasLtMatrixLayout_t> layout_of(cudaDataType_t type, int64_t rows, int64_t cols, int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check_blas(cublasLtMatrixLayoutCreate(&layout, type, static_cast<uint64_t>(cols),
                                        static_cast<uint64_t>(rows), stride),
             "describing a matrix");
  return Owned<cublasLtMatrixLayout_t>(layout);
}

/// What a product of so many tokens is described by to the library.
struct Descriptors {
  Owned<cublasLtMatmulDesc_t> operation;
  Owned<cublasLtMatrixLayout_t> a, b, d;

  Descriptors(const Product& p, int64_t tokens)
      : a(p.by_columns ? layout_of(p.type, p.cols, p.rows, p.a_stride)
                       : layout_of(p.type, p.rows, p.cols, p.a_stride)),
        b(layout_of(p.type, tokens, p.cols, p.b_stride)),
        d(layout_of(CUDA_R_32F, tokens, p.rows, p.d_stride)) {
    cublasLtMatmulDesc_t made = nullptr;
    check_blas(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
    operation.reset(made);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.by_columns ? CUBLAS_OP_N : CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, static_cast<int8_t>(p.short_sums));
    if (p.bias == nullptr) return;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set_bias(p.bias);
  }
  void set_bias(const float* bias) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check_blas(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
               "describing a product");
  }
};

/// How products of one kind and number of tokens are done.
struct Way {
  Descriptors descriptors;
  cublasLtMatmulAlgo_t algorithm{};
  bool found = false;  // an algorithm
};

/// The kind: type, bias, lie of a and kind of sums, rows, cols, tokens of the call and of the plan, strides,
/// alignments.
using Key = std::array<int64_t, 10>;

uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  uint32_t alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

Key key_of(const Product& p, int64_t tokens) {
  const auto alignments = alignment_of(p.a) + 512 * alignment_of(p.b) + 512 * 512 * alignment_of(p.d);
  return {p.type,     (p.bias != nullptr) + 2 * p.by_columns + 4 * p.short_sums,
          p.rows,     p.cols,
          tokens,     p.most_tokens,
          p.a_stride, p.b_stride,
          p.d_stride, alignments};
}

/// A device's handle with the ways found so far.
class Blas {
 public:
  Blas() { check_blas(cublasLtCreate(&handle_), "starting the library"); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  // The handle lives as long as the process: the driver may be gone before static objects are.

  bool multiply(const Product& p, std::byte* workspace, cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    if (start(p, workspace, stream)) return true;
    Product plain = p;
    plain.bias = nullptr;
    if (p.bias == nullptr || !start(plain, workspace, stream))
      check_blas(CUBLAS_STATUS_NOT_SUPPORTED, "choosing an algorithm");
    return false;
  }

 private:
  static constexpr size_t kMostWays = 4096;  // encoders bring any number of tokens

  /// False where there is no algorithm.
  bool start(const Product& p, std::byte* workspace, cudaStream_t stream) {
    Way& way = way_of(p);
    if (!way.found) return false;
    Descriptors& with = way.descriptors;
    if (p.bias != nullptr) with.set_bias(p.bias);
    const float zero = 0.0F;
    check_blas(cublasLtMatmul(handle_, with.operation.get(), &p.scale, p.a, with.a.get(), p.b, with.b.get(),
                              &zero, p.d, with.d.get(), p.d, with.d.get(), &way.algorithm, workspace,
                              kBlasWorkspace, stream),
               "starting a product");
    return true;
  }

  Way& way_of(const Product& p) {
    if (ways_.size() > kMostWays) ways_.clear();
    const Key key = key_of(p, p.tokens);
    if (const auto it = ways_.find(key); it != ways_.end()) return it->second;
    if (p.tokens == p.most_tokens) return ways_.emplace(key, chosen(p)).first->second;
    Product whole = p;
    whole.tokens = p.most_tokens;
    const Way& plan = way_of(whole);
    return ways_.emplace(key, plan.found ? like(plan, p) : chosen(p)).first->second;
  }

  /// The plan's algorithm for fewer tokens, where it takes them.
  Way like(const Way& plan, const Product& p) {
    Way way{Descriptors(p, p.tokens), plan.algorithm, true};
    const Descriptors& with = way.descriptors;
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle_, with.operation.get(), with.a.get(), with.b.get(), with.d.get(),
                                with.d.get(), &way.algorithm, &result);
    if (status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kBlasWorkspace) return way;
    return chosen(p);
  }

  Way chosen(const Product& p) {
    Way way{.descriptors = Descriptors(p, p.tokens)};
    const Descriptors& with = way.descriptors;
    cublasLtMatmulPreference_t made = nullptr;
    check_blas(cublasLtMatmulPreferenceCreate(&made), "choosing an algorithm");
    const Owned<cublasLtMatmulPreference_t> preference(made);
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      check_blas(cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
                 "choosing an algorithm");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kBlasWorkspace);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.a));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.b));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.d));
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.d));
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_, with.operation.get(), with.a.get(), with.b.get(),
                                       with.d.get(), with.d.get(), made, 1, &best, &found);
    way.algorithm = best.algo;
    way.found = status == CUBLAS_STATUS_SUCCESS && found > 0;
    return way;
  }

  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, Way> ways_;
};

std::mutex devices_mutex;

std::map<int, std::shared_ptr<Blas>>& devices() {
  static auto* map = new std::map<int, std::shared_ptr<Blas>>();  // outlives the driver's own statics
  return *map;
}

std::shared_ptr<Blas> blas_of_current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  const std::lock_guard lock(devices_mutex);
  std::shared_ptr<Blas>& blas = devices()[device];
  if (!blas) blas = std::make_shared<Blas>();
  return blas;
}

}  // namespace

bool multiply(const Product& product, std::byte* workspace, const Launch& launch) {
  return blas_of_current_device()->multiply(product, workspace, stream_of(launch));
}

void forget_blas() noexcept {
  const std::lock_guard lock(devices_mutex);
  devices().clear();
}

}  // namespace orrery::kernels::cuda
