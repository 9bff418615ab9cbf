// Row cuda.dense: many tokens, by cuBLASLt with float32 sums.
//   dst = epilogue(src * w^T + bias), at most pass_tokens() tokens at a time, and rows of w in slabs where
//   something is widened or finished:
//
//   1. prepare   bf16 src is read where it is; f32 src to f16 times a power of two per token (its largest
//   magnitude becomes 2^13 to 2^14, so
//                nothing overflows, and what is lost lies 2^-37 below it), to bf16 (bf16 weights), or f32,
//                which is read where it is if it can be
//   2. widen     quantised weights of the slab to f16; where less may be rounded to f32, as are f16 and bf16
//   3. product   (tokens, slab) f32 and the bias, into dst
//   4. finish    where there are scales, an activation or a gate: in place, from the cache
//
// Workspace: cuBLASLt's, src in each form that the segments need, scales, then widened slab(s) and products
// that cannot go to dst: a gate's factor, and rows of dst that are not 16-byte aligned.
//
// Preconditions: cols a multiple of 8; weights 16-byte aligned. bf16 dst is what a finish stores: of an
// activation or a gate.
//
// Bytes beyond the product's own: quantised weights once, 2 (4) B written and read an element; src 4 + 2 B an
// element; what is finished 8 B an element, most of it in the cache.
#include <algorithm>
#include <utility>

#include "kernels/cuda/linear_blas.h"
#include "kernels/cuda/linear_dense.cuh"
#include "kernels/cuda/tile_config.h"

namespace orrery::kernels::cuda {
namespace {

using dense::element_bytes;
using dense::Form;

constexpr int64_t kLeastTokens = 2048, kMostTokens = 8192;  // in one pass
constexpr int64_t kPassBytes = int64_t{64} << 20;           // of prepared src
constexpr int64_t kSlabBytes = int64_t{64} << 20;           // of widened weights; gated: of both

Form form_of(DType weight, Precision precision) {
  if (weight == DType::f32) return Form::f32;
  if (weight == DType::bf16) return allows(precision, Rounded::bf16) ? Form::bf16 : Form::f32;
  return allows(precision, Rounded::f16) ? Form::f16 : Form::f32;
}

Form form_of(const Linear::Problem& p, int s) {
  return form_of(p.segments[static_cast<size_t>(s)].weight, p.precision);
}

cudaDataType_t blas_type(Form form) {
  return form == Form::f32 ? CUDA_R_32F : form == Form::bf16 ? CUDA_R_16BF : CUDA_R_16F;
}

bool is_widened(DType weight, Form form) {
  return is_packed(weight) || (form == Form::f32 && weight != DType::f32);
}

constexpr int64_t align256(int64_t bytes) { return (bytes + 255) / 256 * 256; }

/// Tokens of the largest pass.
int64_t pass_tokens(const Linear::Problem& p) {
  const int64_t fitting = kPassBytes / (p.cols * 4) / 256 * 256;
  return std::min(p.tokens, std::clamp(fitting, kLeastTokens, kMostTokens));
}

/// Where things lie in the workspace; depends on problem and card alone, so that smaller calls fit.
struct Scratch {
  int64_t tokens = 0;
  int64_t cached = 0;          // bytes of products that are finished
  int64_t src[3] = {0, 0, 0};  // by form
  int64_t scales = 0, weights = 0, outs = 0, total = 0;
  int64_t weight_room = 0, out_room = 0;  // bytes of each of the one or two (gated) slabs

  Scratch(const Linear::Problem& p, const CardMachine& card)
      : tokens(pass_tokens(p)), cached(cached_bytes(card)) {
    int64_t at = static_cast<int64_t>(kBlasWorkspace);
    const auto take = [&](int64_t bytes) { return std::exchange(at, at + align256(bytes)); };
    bool needs[3] = {false, false, false};
    for (int s = 0; s < p.segment_count; ++s) {
      const Form form = form_of(p, s);
      needs[static_cast<int>(form)] = true;
      const int64_t rows = slab_rows(p, s);
      if (is_widened(p.segments[static_cast<size_t>(s)].weight, form))
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
    const int64_t slabs = is_gated(p.epilogue) ? 2 : 1;
    const Form form = form_of(p, s);
    const bool finished = form == Form::f16 || p.epilogue != Epilogue::none;
    int64_t most = (finished ? cached : kSlabBytes / slabs) / (tokens * 4);
    if (is_widened(segment.weight, form))
      most = std::min(most, kSlabBytes / slabs / (p.cols * element_bytes(form)));
    most = std::max<int64_t>(64, most / 64 * 64);
    return std::min(most, blocks_of(segment.rows, 4) * 4);
  }
};

/// A matrix of activations: (tokens, cols) of one form.
struct Source {
  const void* data;
  int64_t stride;  // elements
};

/// A product's place: (tokens, rows).
struct Place {
  float* data;
  int64_t stride;  // elements
};

/// One pass over at most Scratch::tokens tokens.
class Pass {
 public:
  Pass(const Linear::Args& args, const Launch& launch, int64_t begin, int64_t tokens)
      : args_(args),
        launch_(launch),
        scratch_(args.problem, current_card()),
        begin_(begin),
        tokens_(tokens) {}

  void run() {
    prepare();
    const Linear::Problem& problem = args_.problem;
    const bool gated = is_gated(problem.epilogue);
    for (int s = 0; s < (gated ? 1 : problem.segment_count); ++s) {
      const int64_t rows = problem.segments[static_cast<size_t>(s)].rows;
      int64_t slab = scratch_.slab_rows(problem, s);
      if (gated) slab = std::min(slab, scratch_.slab_rows(problem, 1));
      for (int64_t row = 0; row < rows; row += slab) run_slab(s, row, std::min(slab, rows - row));
    }
  }

 private:
  std::byte* at(int64_t offset) const { return launch_.workspace + offset; }
  float* scales() const { return reinterpret_cast<float*>(at(scratch_.scales)); }
  const Linear::Operand& operand(int s) const { return args_.operands[static_cast<size_t>(s)]; }
  const Linear::Segment& segment(int s) const { return args_.problem.segments[static_cast<size_t>(s)]; }
  Form form(int s) const { return form_of(args_.problem, s); }

  Place dst(int s, int64_t row) const {
    const Linear::Operand& to = operand(s);
    return {to.dst + begin_ * to.dst_stride + row, to.dst_stride};
  }
  /// Where the results of a segment's rows go, of the type that dst has.
  void* results(int s, int64_t row) const {
    if (args_.problem.dst == DType::f32) return dst(s, row).data;
    return reinterpret_cast<uint16_t*>(operand(s).dst) + begin_ * operand(s).dst_stride + row;
  }
  /// Where the product goes: to dst if cuBLASLt can write there.
  Place place(int s, int64_t row, int64_t count) const {
    if (s == 0 || !is_gated(args_.problem.epilogue)) {
      if (const Place to = dst(s, row);
          args_.problem.dst == DType::f32 && is_aligned(to.data, 16) && to.stride % 4 == 0)
        return to;
      return {reinterpret_cast<float*>(at(scratch_.outs)), blocks_of(count, 4) * 4};
    }
    return {reinterpret_cast<float*>(at(scratch_.outs + scratch_.out_room)), blocks_of(count, 4) * 4};
  }
  const float* bias(int s, int64_t row) const {
    const float* bias = segment(s).bias ? operand(s).bias : nullptr;
    return bias != nullptr ? bias + row : nullptr;
  }

  Form stored() const { return args_.problem.src == DType::bf16 ? Form::bf16 : Form::f32; }
  const void* src() const {
    return reinterpret_cast<const std::byte*>(args_.src) +
           begin_ * args_.src_stride * element_bytes(stored());
  }
  /// What is of the product's type and can be multiplied where it is.
  bool stays(Form form) const {
    return form == stored() && is_aligned(args_.src, 16) && args_.src_stride * element_bytes(form) % 16 == 0;
  }
  Source source(Form form) const {
    if (stays(form)) return {src(), args_.src_stride};
    return {at(scratch_.src[static_cast<int>(form)]), args_.problem.cols};
  }

  void prepare() {
    bool done[3] = {false, false, false};
    for (int s = 0; s < args_.problem.segment_count; ++s) {
      const Form to = form(s);
      if (std::exchange(done[static_cast<int>(to)], true) || stays(to)) continue;
      if (to == stored()) {
        gather_rows(to);
        continue;
      }
      dense::prepare(to,
                     {.src = static_cast<const float*>(src()),
                      .dst = at(scratch_.src[static_cast<int>(to)]),
                      .unscale = scales(),
                      .src_stride = args_.src_stride,
                      .cols = args_.problem.cols,
                      .tokens = tokens_},
                     launch_);
    }
  }

  /// Rows that cuBLASLt could not read where they are, side by side.
  void gather_rows(Form form) const {
    const auto bytes = static_cast<size_t>(args_.problem.cols * element_bytes(form));
    check(cudaMemcpy2DAsync(at(scratch_.src[static_cast<int>(form)]), bytes, src(),
                            static_cast<size_t>(args_.src_stride * element_bytes(form)), bytes,
                            static_cast<size_t>(tokens_), cudaMemcpyDeviceToDevice, stream_of(launch_)),
          "copying the activations");
  }

  void run_slab(int s, int64_t row, int64_t count) {
    const Epilogue epilogue = args_.problem.epilogue;
    dense::Finish last{.dst = results(s, row),
                       .dst_type = args_.problem.dst,
                       .dst_stride = operand(s).dst_stride,
                       .rows = count,
                       .tokens = tokens_};
    multiply_slab(s, row, count, last, 0);
    if (is_gated(epilogue)) multiply_slab(1, row, count, last, 1);
    const bool done = last.out[0] == last.dst && last.unscale[0] == nullptr && last.bias[0] == nullptr;
    if (!done || epilogue != Epilogue::none) dense::finish(epilogue, last, launch_);
  }

  /// Rows row .. row + count of segment s times src; what is left to be done with the product goes to `last`.
  void multiply_slab(int s, int64_t row, int64_t count, dense::Finish& last, int slot) {
    const Form by = form(s);
    const DType dtype = segment(s).weight;
    const int64_t stride = weight_stride(args_.problem, s);
    const int64_t cols = args_.problem.cols;
    const void* weight = static_cast<const uint8_t*>(operand(s).weight) + row * stride;
    if (is_widened(dtype, by)) {
      void* wide = at(scratch_.weights + slot * scratch_.weight_room);
      dense::widen(dtype, by, {static_cast<const uint8_t*>(weight), wide, stride, count, cols}, launch_);
      weight = wide;
    }
    const Source src = source(by);
    const Place to = place(s, row, count);
    const float* addend = bias(s, row);
    const bool with_bias = addend != nullptr && by != Form::f16 && is_aligned(addend, 16);
    const bool added = multiply({.type = blas_type(by),
                                 .a = weight,
                                 .b = src.data,
                                 .d = to.data,
                                 .bias = with_bias ? addend : nullptr,
                                 .rows = count,
                                 .cols = cols,
                                 .tokens = tokens_,
                                 .most_tokens = scratch_.tokens,
                                 .a_stride = cols,
                                 .b_stride = src.stride,
                                 .d_stride = to.stride},
                                launch_.workspace, launch_);
    last.out[slot] = to.data;
    last.out_stride[slot] = to.stride;
    last.bias[slot] = with_bias && added ? nullptr : addend;
    last.unscale[slot] = by == Form::f16 ? scales() : nullptr;
  }

  const Linear::Args& args_;
  const Launch& launch_;
  Scratch scratch_;
  int64_t begin_, tokens_;
};

}  // namespace

std::string supports_dense(const Linear::Problem& problem, const Machine&) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  if (!problem.aligned) return kUnalignedWeights;
  if (problem.cols % 8 != 0) return std::to_string(problem.cols) + " columns; products take multiples of 8";
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[static_cast<size_t>(s)].weight;
    if (!is_dense(dtype) && !is_packed(dtype)) return std::string(name_of(dtype)) + " weights";
  }
  return "";
}

DType dense_reads(const Linear::Problem& problem) {
  for (int s = 0; s < problem.segment_count; ++s)
    if (form_of(problem, s) != Form::bf16) return DType::f32;
  return DType::bf16;
}

DType dense_writes(const Linear::Problem& problem) {
  const bool finished = problem.epilogue != Epilogue::none && allows(problem.precision, Rounded::bf16);
  return finished ? DType::bf16 : DType::f32;
}

Rounding dense_rounding(const Linear::Problem& problem, int segment) {
  switch (form_of(problem, segment)) {
    case Form::f32:
      return {};
    case Form::bf16:
      return {Rounded::bf16, Rounded::bf16};
    case Form::f16:
      break;
  }
  return {Rounded::f16, Rounded::f16};
}

size_t dense_workspace(const Linear::Problem& problem, const Machine& machine, int) {
  return static_cast<size_t>(Scratch(problem, machine.card).total);
}

/// Passes of even length, so that none is short.
void run_dense(const Linear::Args& args, const Launch& launch) {
  require_aligned(weights_are_aligned(args));
  const int64_t passes = blocks_of(args.tokens, pass_tokens(args.problem));
  for (int64_t pass = 0; pass < passes; ++pass) {
    const int64_t begin = args.tokens * pass / passes, end = args.tokens * (pass + 1) / passes;
    Pass(args, launch, begin, end - begin).run();
  }
}

}  // namespace orrery::kernels::cuda
