// Row cuda.dense: many tokens, by cuBLASLt with float32 sums.
//   dst = epilogue(src * w^T + bias), in slabs of rows of w and at most kMostTokens tokens at a time:
//
//   1. prepare   src to f16 times a power of two per token (its largest magnitude becomes 2^13 to 2^14, so
//   nothing
//                overflows, and what is lost lies 2^-37 below it), to bf16 (bf16 weights), or as it is (f32)
//   2. widen     quantised weights of the slab to f16; accuracy exact: to f32, as are f16 and bf16
//   3. product   out (tokens, slab) f32, straight into dst when nothing is left to do
//   4. finish    out / scale + bias, activation, gate * up, to dst
//
// Workspace: cuBLASLt's, src in each form that the segments need, scales, then widened slab(s) and out(s).
//
// Who does what: prepare has a block a token, widen a thread a lane of a group (32 weights), finish a thread
// an output.
//
// Preconditions: cols a multiple of 8. dst of other than 16 bytes' alignment goes through out; weights of
// other than that through the general row.
//
// Bytes beyond the product's own: quantised weights once, 2 (4) B written and read an element; out 8 B an
// element.
#include <algorithm>
#include <utility>

#include "kernels/cuda/device/linear_group.cuh"
#include "kernels/cuda/linear_blas.h"
#include "kernels/cuda/linear_rows.h"

namespace orrery::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kMostTokens = 2048;              // in one pass
constexpr int64_t kSlabBytes = int64_t{64} << 20;  // of widened weights, and of out; gated: of both

enum class Form : uint8_t { f16, bf16, f32 };

constexpr int64_t element_bytes(Form form) { return form == Form::f32 ? 4 : 2; }

Form form_of(DType weight, Linear::Accuracy accuracy) {
  if (accuracy == Linear::Accuracy::exact || weight == DType::f32) return Form::f32;
  return weight == DType::bf16 ? Form::bf16 : Form::f16;
}

cudaDataType_t blas_type(Form form) {
  return form == Form::f32 ? CUDA_R_32F : form == Form::bf16 ? CUDA_R_16BF : CUDA_R_16F;
}

bool is_widened(DType weight, Form form) {
  return is_quantised(weight) || (form == Form::f32 && weight != DType::f32);
}

constexpr int64_t align256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Where things lie in the workspace; depends on the problem alone, so that smaller calls fit.
struct Scratch {
  int64_t tokens = 0;
  int64_t src[3] = {0, 0, 0};  // by form
  int64_t scales = 0, weights = 0, outs = 0, total = 0;
  int64_t weight_room = 0, out_room = 0;  // bytes of each of the one or two (gated) slabs

  explicit Scratch(const Linear::Problem& p) : tokens(std::min(p.tokens, kMostTokens)) {
    int64_t at = static_cast<int64_t>(kBlasWorkspace);
    const auto take = [&](int64_t bytes) { return std::exchange(at, at + align256(bytes)); };
    bool needs[3] = {false, false, false};
    for (int s = 0; s < p.segment_count; ++s) {
      const Linear::Segment& segment = p.segments[static_cast<size_t>(s)];
      const Form form = form_of(segment.weight, p.accuracy);
      needs[static_cast<int>(form)] = true;
      const int64_t rows = slab_rows(p, s);
      if (is_widened(segment.weight, form))
        weight_room = std::max(weight_room, align256(rows * p.cols * element_bytes(form)));
      out_room = std::max(out_room, align256(rows * tokens * 4));
    }
    for (int form = 0; form < 3; ++form)
      if (needs[form]) src[form] = take(tokens * p.cols * element_bytes(static_cast<Form>(form)));
    scales = take(tokens * 4);
    const int64_t slabs = is_gated(p.epilogue) ? 2 : 1;
    weights = take(slabs * weight_room);
    outs = take(slabs * out_room);
    total = at;
  }

  /// Rows of a segment taken at once: a multiple of 4, so that rows of out are aligned.
  int64_t slab_rows(const Linear::Problem& p, int s) const {
    const Linear::Segment& segment = p.segments[static_cast<size_t>(s)];
    const int64_t room = kSlabBytes / (is_gated(p.epilogue) ? 2 : 1);
    int64_t most = room / (tokens * 4);
    const Form form = form_of(segment.weight, p.accuracy);
    if (is_widened(segment.weight, form)) most = std::min(most, room / (p.cols * element_bytes(form)));
    most = std::max<int64_t>(64, most / 64 * 64);
    return std::min(most, blocks_of(segment.rows, 4) * 4);
  }
};

// ---- 1. prepare ----

__device__ inline float block_max(float value) {
  __shared__ float partial[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(~0U, value, offset));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[0];
  for (int i = 1; i < kThreads / 32; ++i) value = fmaxf(value, partial[i]);
  return value;
}

/// The exponent of the power of two that brings `most` to between 2^13 and 2^14.
__device__ inline int scale_exponent(float most) {
  if (!(most > 0.0F)) return 0;
  const int exponent = static_cast<int>(__float_as_uint(most) >> 23) - 127;  // of a subnormal: -127
  return min(max(13 - exponent, -114), 126);
}

/// 2^exponent, -126 to 127.
__device__ inline float power_of_two(int exponent) {
  return __uint_as_float(static_cast<uint32_t>(exponent + 127) << 23);
}

struct Prepare {
  const float* src;
  void* dst;
  float* unscale;
  int64_t src_stride, cols;
};

template <Form form>
__global__ void __launch_bounds__(kThreads) prepare_kernel(const Prepare p) {
  pdl_wait();
  const int64_t token = blockIdx.x;
  const float* src = p.src + token * p.src_stride;
  float scale = 1.0F;
  if constexpr (form == Form::f16) {
    float most = 0.0F;
    for (int64_t k = threadIdx.x; k < p.cols; k += kThreads) most = fmaxf(most, fabsf(src[k]));
    const int exponent = scale_exponent(block_max(most));
    scale = power_of_two(exponent);
    if (threadIdx.x == 0) p.unscale[token] = power_of_two(-exponent);
  }
  for (int64_t k = threadIdx.x; k < p.cols; k += kThreads) {
    const float x = src[k];
    if constexpr (form == Form::f16)
      static_cast<__half*>(p.dst)[token * p.cols + k] = __float2half_rn(x * scale);
    if constexpr (form == Form::bf16)
      static_cast<__nv_bfloat16*>(p.dst)[token * p.cols + k] = __float2bfloat16_rn(x);
    if constexpr (form == Form::f32) static_cast<float*>(p.dst)[token * p.cols + k] = x;
  }
}

// ---- 2. widen ----

struct Widen {
  const uint8_t* src;  // row 0 of the slab
  void* dst;           // (rows, cols)
  int64_t src_stride, rows, cols;
};

template <class T>
__device__ inline void store_four(T* dst, const float* w);
template <>
__device__ inline void store_four<float>(float* dst, const float* w) {
  *reinterpret_cast<float4*>(dst) = make_float4(w[0], w[1], w[2], w[3]);
}
template <>
__device__ inline void store_four<__half>(__half* dst, const float* w) {
  const __half2 low = __floats2half2_rn(w[0], w[1]), high = __floats2half2_rn(w[2], w[3]);
  uint2 bits;
  bits.x = *reinterpret_cast<const uint32_t*>(&low);
  bits.y = *reinterpret_cast<const uint32_t*>(&high);
  *reinterpret_cast<uint2*>(dst) = bits;
}

template <DType dtype, class T>
__global__ void __launch_bounds__(kThreads) widen_packed_kernel(const Widen p) {
  pdl_wait();
  const PackedRow at = packed_row(dtype, p.cols);
  const int64_t lanes = at.groups * 4;
  const int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= p.rows * lanes) return;
  const int64_t row = item / lanes, group = item % lanes / 4;
  const int t = static_cast<int>(item % 4);
  float w[32];
  lane_weights<dtype>(p.src + row * p.src_stride, at, group, t, w);
  T* dst = static_cast<T*>(p.dst) + row * p.cols + group * kGroup;
#pragma unroll
  for (int n = 0; n < 32; n += 4) {
    const int k = column_of(t, n / 8, n / 4 % 2, 0);
    if (group * kGroup + k < p.cols) store_four<T>(dst + k, w + n);
  }
}

template <DType dtype>
__global__ void __launch_bounds__(kThreads) widen_stored_kernel(const Widen p) {
  pdl_wait();
  const int64_t item = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= p.rows * p.cols) return;
  static_cast<float*>(p.dst)[item] = stored_at<dtype>(p.src + item / p.cols * p.src_stride, item % p.cols);
}

using WidenKernel = void (*)(const Widen);

template <class T>
WidenKernel widen_packed(DType dtype) {
  switch (dtype) {
    case DType::q4_0:
      return widen_packed_kernel<DType::q4_0, T>;
    case DType::q4_1:
      return widen_packed_kernel<DType::q4_1, T>;
    case DType::q8_0:
      return widen_packed_kernel<DType::q8_0, T>;
    case DType::q4_k:
      return widen_packed_kernel<DType::q4_k, T>;
    default:
      return widen_packed_kernel<DType::q6_k, T>;
  }
}

void widen(DType dtype, Form form, const Widen& p, const Launch& launch) {
  const bool quantised = is_quantised(dtype);
  const int64_t items = p.rows * (quantised ? packed_row(dtype, p.cols).groups * 4 : p.cols);
  const WidenKernel kernel =
      quantised             ? (form == Form::f32 ? widen_packed<float>(dtype) : widen_packed<__half>(dtype))
      : dtype == DType::f16 ? widen_stored_kernel<DType::f16>
                            : widen_stored_kernel<DType::bf16>;
  launch_kernel(launch, kernel, dim3(static_cast<unsigned>(blocks_of(items, kThreads))), dim3(kThreads), 0,
                p);
}

// ---- 4. finish ----

struct Finish {
  const float* out[2];  // (tokens, slab); the second when gated
  const float* bias[2];
  const float* unscale[2];  // null: 1
  float* dst;
  int64_t out_stride, dst_stride, rows;
  Epilogue epilogue;
};

__global__ void __launch_bounds__(kThreads) finish_kernel(const Finish p) {
  pdl_wait();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t token = blockIdx.y;
  if (row >= p.rows) return;
  float values[2] = {0.0F, 0.0F};
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    if (p.out[i] == nullptr) continue;
    const float unscale = p.unscale[i] != nullptr ? p.unscale[i][token] : 1.0F;
    const float bias = p.bias[i] != nullptr ? p.bias[i][row] : 0.0F;
    values[i] = fmaf(p.out[i][token * p.out_stride + row], unscale, bias);
  }
  float value = activate(p.epilogue, values[0]);
  if (p.out[1] != nullptr) value *= values[1];
  p.dst[token * p.dst_stride + row] = value;
}

// ---- the call ----

/// One pass over at most kMostTokens tokens.
class Pass {
 public:
  Pass(const Linear::Args& args, const Launch& launch, int64_t begin, int64_t tokens)
      : args_(args), launch_(launch), scratch_(args.problem), begin_(begin), tokens_(tokens) {}

  void run() {
    prepare();
    const bool gated = is_gated(args_.problem.epilogue);
    for (int s = 0; s < (gated ? 1 : args_.problem.segment_count); ++s) {
      const int64_t rows = args_.problem.segments[static_cast<size_t>(s)].rows;
      int64_t slab = scratch_.slab_rows(args_.problem, s);
      if (gated) slab = std::min(slab, scratch_.slab_rows(args_.problem, 1));
      for (int64_t row = 0; row < rows; row += slab) {
        const int64_t count = std::min(slab, rows - row);
        if (!gated && straight_to_dst(s, row)) {
          multiply_slab(s, row, count, dst(s, row), args_.operands[static_cast<size_t>(s)].dst_stride, 0);
          continue;
        }
        const int64_t out_stride = blocks_of(count, 4) * 4;
        multiply_slab(s, row, count, out(0), out_stride, 0);
        if (gated) multiply_slab(1, row, count, out(1), out_stride, 1);
        finish(s, row, count, out_stride);
      }
    }
  }

 private:
  std::byte* at(int64_t offset) const { return launch_.workspace + offset; }
  float* out(int i) const { return reinterpret_cast<float*>(at(scratch_.outs + i * scratch_.out_room)); }
  float* dst(int s, int64_t row) const {
    const Linear::Operand& operand = args_.operands[static_cast<size_t>(s)];
    return operand.dst + begin_ * operand.dst_stride + row;
  }
  Form form(int s) const {
    return form_of(args_.problem.segments[static_cast<size_t>(s)].weight, args_.problem.accuracy);
  }
  const float* bias(int s, int64_t row) const {
    const auto i = static_cast<size_t>(s);
    const float* bias = args_.problem.segments[i].bias ? args_.operands[i].bias : nullptr;
    return bias != nullptr ? bias + row : nullptr;
  }
  const float* unscale(int s) const {
    return form(s) == Form::f16 ? reinterpret_cast<const float*>(at(scratch_.scales)) : nullptr;
  }

  bool straight_to_dst(int s, int64_t row) const {
    return args_.problem.epilogue == Epilogue::none && bias(s, row) == nullptr && unscale(s) == nullptr &&
           args_.operands[static_cast<size_t>(s)].dst_stride % 4 == 0 && is_aligned(dst(s, row), 16);
  }

  void prepare() {
    bool done[3] = {false, false, false};
    for (int s = 0; s < args_.problem.segment_count; ++s) {
      const auto f = static_cast<int>(form(s));
      if (std::exchange(done[f], true)) continue;
      const Prepare p{args_.src + begin_ * args_.src_stride, at(scratch_.src[f]),
                      reinterpret_cast<float*>(at(scratch_.scales)), args_.src_stride, args_.problem.cols};
      const auto kernel = form(s) == Form::f16    ? prepare_kernel<Form::f16>
                          : form(s) == Form::bf16 ? prepare_kernel<Form::bf16>
                                                  : prepare_kernel<Form::f32>;
      launch_kernel(launch_, kernel, dim3(static_cast<unsigned>(tokens_)), dim3(kThreads), 0, p);
    }
  }

  /// d = src * (rows row .. row + count of segment s)^T; `slot` is the widened slab's place.
  void multiply_slab(int s, int64_t row, int64_t count, float* d, int64_t d_stride, int slot) {
    const auto i = static_cast<size_t>(s);
    const DType dtype = args_.problem.segments[i].weight;
    const int64_t stride = weight_stride(args_.problem, s);
    const int64_t cols = args_.problem.cols;
    const void* weight = static_cast<const uint8_t*>(args_.operands[i].weight) + row * stride;
    if (is_widened(dtype, form(s))) {
      void* wide = at(scratch_.weights + slot * scratch_.weight_room);
      widen(dtype, form(s), {static_cast<const uint8_t*>(weight), wide, stride, count, cols}, launch_);
      weight = wide;
    }
    multiply({.type = blas_type(form(s)),
              .a = weight,
              .b = at(scratch_.src[static_cast<int>(form(s))]),
              .d = d,
              .rows = count,
              .cols = cols,
              .tokens = tokens_,
              .most_tokens = scratch_.tokens,
              .a_stride = cols,
              .b_stride = cols,
              .d_stride = d_stride},
             launch_.workspace, launch_);
  }

  void finish(int s, int64_t row, int64_t count, int64_t out_stride) {
    const bool gated = is_gated(args_.problem.epilogue);
    const Finish p{.out = {out(0), gated ? out(1) : nullptr},
                   .bias = {bias(s, row), gated ? bias(1, row) : nullptr},
                   .unscale = {unscale(s), gated ? unscale(1) : nullptr},
                   .dst = dst(s, row),
                   .out_stride = out_stride,
                   .dst_stride = args_.operands[static_cast<size_t>(s)].dst_stride,
                   .rows = count,
                   .epilogue = args_.problem.epilogue};
    const dim3 grid(static_cast<unsigned>(blocks_of(count, kThreads)), static_cast<unsigned>(tokens_));
    launch_kernel(launch_, finish_kernel, grid, dim3(kThreads), 0, p);
  }

  const Linear::Args& args_;
  const Launch& launch_;
  Scratch scratch_;
  int64_t begin_, tokens_;
};

bool weights_are_aligned(const Linear::Args& args) {
  for (int s = 0; s < args.problem.segment_count; ++s)
    if (!is_aligned(args.operands[static_cast<size_t>(s)].weight, 16)) return false;
  return true;
}

}  // namespace

std::string supports_dense(const Linear::Problem& problem) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  if (supports_matvec(problem).empty()) return "few tokens; walking rows pays, and rounds less";
  if (problem.cols % 8 != 0) return std::to_string(problem.cols) + " columns; products take multiples of 8";
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (!is_dense(dtype) && !is_quantised(dtype)) return std::string(name_of(dtype)) + " weights";
  }
  return "";
}

size_t dense_workspace(const Linear::Problem& problem, int) {
  return static_cast<size_t>(Scratch(problem).total);
}

void run_dense(const Linear::Args& args, const Launch& launch) {
  if (!weights_are_aligned(args)) return run_general(args, launch);
  for (int64_t begin = 0; begin < args.tokens; begin += kMostTokens)
    Pass(args, launch, begin, std::min(kMostTokens, args.tokens - begin)).run();
}

}  // namespace orrery::kernels::cuda
