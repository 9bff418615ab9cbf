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

struct Descriptors {
  Owned<cublasLtMatmulDesc_t> operation;
  Owned<cublasLtMatrixLayout_t> a, b, d;

  Descriptors(const Product& p, int64_t tokens)
      : a(layout_of(p.type, p.rows, p.cols, p.a_stride)),
        b(layout_of(p.type, tokens, p.cols, p.b_stride)),
        d(layout_of(CUDA_R_32F, tokens, p.rows, p.d_stride)) {
    cublasLtMatmulDesc_t made = nullptr;
    check_blas(cublasLtMatmulDescCreate(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product");
    operation.reset(made);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    check_blas(
        cublasLtMatmulDescSetAttribute(made, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
        "describing a product");
  }
};

/// What an algorithm is chosen for.
using Key = std::array<int64_t, 8>;

uint32_t alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  uint32_t alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

/// A device's handle with the algorithms chosen so far.
class Blas {
 public:
  Blas() { check_blas(cublasLtCreate(&handle_), "starting the library"); }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  // The handle lives as long as the process: the driver may be gone before static objects are.

  void multiply(const Product& p, std::byte* workspace, cudaStream_t stream) {
    const Descriptors descriptors(p, p.tokens);
    const cublasLtMatmulAlgo_t algorithm = chosen(p, descriptors);
    const float one = 1.0F, zero = 0.0F;
    check_blas(cublasLtMatmul(handle_, descriptors.operation.get(), &one, p.a, descriptors.a.get(), p.b,
                              descriptors.b.get(), &zero, p.d, descriptors.d.get(), p.d, descriptors.d.get(),
                              &algorithm, workspace, kBlasWorkspace, stream),
               "starting a product");
  }

 private:
  cublasLtMatmulAlgo_t chosen(const Product& p, const Descriptors& call) {
    const std::lock_guard lock(mutex_);
    const cublasLtMatmulAlgo_t& plan = algorithm(p, p.most_tokens);
    if (p.tokens == p.most_tokens) return plan;
    cublasLtMatmulHeuristicResult_t result{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle_, call.operation.get(), call.a.get(), call.b.get(), call.d.get(),
                                call.d.get(), &plan, &result);
    if (status == CUBLAS_STATUS_SUCCESS && result.workspaceSize <= kBlasWorkspace) return plan;
    return algorithm(p, p.tokens);
  }

  const cublasLtMatmulAlgo_t& algorithm(const Product& p, int64_t tokens) {
    const auto alignments = alignment_of(p.a) + 512 * alignment_of(p.b) + 512 * 512 * alignment_of(p.d);
    const Key key = {p.type, p.rows, p.cols, tokens, p.a_stride, p.b_stride, p.d_stride, alignments};
    if (const auto it = algorithms_.find(key); it != algorithms_.end()) return it->second;
    return algorithms_[key] = find(p, tokens);
  }

  cublasLtMatmulAlgo_t find(const Product& p, int64_t tokens) {
    const Descriptors descriptors(p, tokens);
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
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_, descriptors.operation.get(), descriptors.a.get(), descriptors.b.get(), descriptors.d.get(),
        descriptors.d.get(), made, 1, &best, &found);
    check_blas(found > 0 ? status : CUBLAS_STATUS_NOT_SUPPORTED, "choosing an algorithm");
    return best.algo;
  }

  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<Key, cublasLtMatmulAlgo_t> algorithms_;
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

void multiply(const Product& product, std::byte* workspace, const Launch& launch) {
  blas_of_current_device()->multiply(product, workspace, stream_of(launch));
}

void forget_blas() noexcept {
  const std::lock_guard lock(devices_mutex);
  devices().clear();
}

}  // namespace orrery::kernels::cuda
