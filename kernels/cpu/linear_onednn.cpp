// Rows cpu.onednn.f32 and cpu.onednn.bf16: dense weights packed into oneDNN's blocked form.
//   packed weight, rows padded to 64 with zeros, cols % 16 == 0 (bf16: 32):
//     f32 [rows / 64][cols / 16][16][64]        bf16 [rows / 64][cols / 32][16][64][2]
//   Threads own whole panels of 64 rows; tiles of up to 256 tokens x 2 panels, or 4 of few columns (few
//   tokens: up to 16, so that a call into the library carries enough work) are multiplied into thread-local
//   scratch and finished on their way to dst.
//   bf16: src may be stored rounded, else all threads first round it in the workspace; dst may be, so that
//   the next matmul reads half the bytes and rounds nothing.
//   f32: arithmetic is float32; f16 and bf16 weights are packed as f32 exactly.
//   workspace: src as the element type when it must be converted or made dense, then per thread: two
//   tiles, oneDNN's scratch
//   traffic: packed weights once per 256 tokens (from L2), src once per panel
#include "kernels/cpu/linear_onednn.h"

#include <cstring>

#include "kernels/cpu/linear_share.h"
#include "kernels/cpu/storage.h"
#include "kernels/half.h"

namespace orrery::kernels {
namespace {

using onednn::Element;

constexpr int64_t kFewTokens = 8;
constexpr int64_t kTileRows = 256;          // most weight rows of a tile with more than kFewTokens
constexpr int64_t kFewTileRows = 1024;      // of a tile with no more
constexpr int64_t kPanelBytes = 512 << 10;  // of weights that stay in L2 for all tokens

DType dtype_of(Element element) { return element == Element::f32 ? DType::f32 : DType::bf16; }

int64_t element_bytes(Element element) { return element == Element::f32 ? 4 : 2; }

/// Enough for a call into the library, and no more than L2 keeps while the tokens go by.
int64_t tile_rows(Element element, int64_t tokens, int64_t cols) {
  if (tokens > kFewTokens)
    return kTileRows * cols * element_bytes(element) <= kPanelBytes ? kTileRows : kTileRows / 2;
  return kFewTileRows;
}

int64_t padded_rows(int64_t rows) {
  return (rows + onednn::kPanelRows - 1) / onednn::kPanelRows * onednn::kPanelRows;
}

int64_t column_block(Element element) { return element == Element::f32 ? 16 : 32; }

/// Where element (row, col) of a weight lies in the packed form, in elements.
int64_t packed_index(Element element, int64_t row, int64_t col, int64_t cols) {
  const int64_t panel = row / 64 * 64 * cols;
  if (element == Element::f32) return panel + col * 64 + row % 64;
  return panel + col / 2 * 128 + row % 64 * 2 + col % 2;
}

size_t packed_bytes(Element element, int64_t rows, int64_t cols) {
  return static_cast<size_t>(padded_rows(rows) * cols) * element_bytes(element);
}

void pack_row(Element element, const float* values, int64_t row, int64_t cols, void* packed) {
  for (int64_t k = 0; k < cols; ++k) {
    const int64_t at = packed_index(element, row, k, cols);
    if (element == Element::f32) {
      static_cast<float*>(packed)[at] = values[k];
    } else {
      static_cast<uint16_t*>(packed)[at] = bf16_from_float(values[k]);
    }
  }
}

template <Element element>
size_t packing_bytes(DType, int64_t rows, int64_t cols) {
  return packed_bytes(element, rows, cols);
}

template <Element element>
void pack(const void* stored, DType dtype, int64_t rows, int64_t cols, void* packed, ThreadTeam& team) {
  const size_t stored_bytes = row_bytes(dtype, cols).value_or(0);
  std::vector<float> all_values(static_cast<size_t>(cols * team.size()));
  team.run(padded_rows(rows), onednn::kPanelRows, [&](ThreadTeam::Range chunk, int thread) {
    float* values = all_values.data() + cols * thread;
    for (int64_t r = chunk.begin; r < chunk.end; ++r) {
      if (r < rows) {
        dequantise_row(dtype, static_cast<const std::byte*>(stored) + static_cast<size_t>(r) * stored_bytes,
                       cols, values);
      } else {
        std::fill_n(values, cols, 0.0F);
      }
      pack_row(element, values, r, cols, packed);
    }
  });
}

constexpr WeightPacking kPackF32{"f32 blocked for oneDNN", packing_bytes<Element::f32>, pack<Element::f32>};
constexpr WeightPacking kPackBf16{"bf16 blocked for oneDNN", packing_bytes<Element::bf16>,
                                  pack<Element::bf16>};

/// Why the problem is none of those that are computed on packed weights, whatever the machine.
std::string form_refusal(Element element, const Linear::Problem& problem) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[s].weight;
    if (!is_dense(dtype) && !is_f8(dtype)) return std::string(name_of(dtype)) + " weights are not dense";
  }
  if (element == Element::bf16)
    if (std::string reason = too_coarse(problem.precision, Rounded::bf16); !reason.empty()) return reason;
  if (problem.cols % column_block(element) != 0) {
    return std::to_string(problem.cols) + " columns; the blocked form takes multiples of " +
           std::to_string(column_block(element));
  }
  return "";
}

/// Weights that would be packed as twice what they are stored in.
std::string memory_refusal(const Linear::Problem& problem, const Machine& machine) {
  if (problem.precision == Precision::exact || machine.cpu.features.has(kAvx512Bf16)) return "";
  for (int s = 0; s < problem.segment_count; ++s)
    if (const DType dtype = problem.segments[s].weight; dtype != DType::f32)
      return std::string(name_of(dtype)) + " weights would take the memory of f32; they are read as stored";
  return "";
}

std::string supports(Element element, const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = form_refusal(element, problem); !reason.empty()) return reason;
  const bool bf16 = element == Element::bf16;
  if (std::string reason = missing(bf16 ? kAvx512Bf16 : kAvx512, machine); !reason.empty()) return reason;
  if (!bf16)
    if (std::string reason = memory_refusal(problem, machine); !reason.empty()) return reason;
  const bool elsewhere = !(machine.cpu == this_machine().cpu);  // where the library cannot be asked
  const int64_t tokens = onednn::tokens_of_call(problem.tokens);
  if (!elsewhere && onednn::matmul({element, tokens, onednn::kPanelRows, problem.cols}) == nullptr) {
    return "oneDNN has no fast matmul for this machine";
  }
  return "";
}

/// Where things lie in the workspace of one call.
struct Scratch {
  size_t source = 0;  // bytes of the converted src
  size_t tile_bytes;
  size_t thread_bytes;

  Scratch(Element element, const Linear::Problem& problem, int64_t tokens) {
    const int64_t elements = tokens * problem.cols;
    tile_bytes = sizeof(float) * static_cast<size_t>(std::max(std::min(tokens, onednn::kTokens) * kTileRows,
                                                              kFewTokens * kFewTileRows));
    thread_bytes = 2 * tile_bytes + onednn::kScratchBytes;
    source = (static_cast<size_t>(elements) * element_bytes(element) + 63) / 64 * 64;
  }
  std::byte* of_thread(std::byte* workspace, int thread) const {
    return workspace + source + thread_bytes * static_cast<size_t>(thread);
  }
};

size_t workspace(Element element, const Linear::Problem& problem, int threads) {
  const Scratch scratch(element, problem, problem.tokens);
  return scratch.source + scratch.thread_bytes * static_cast<size_t>(threads);
}

/// The same product by plain loops, for the day when the library fails in the middle of a run.
void plain_tile(Element element, const onednn::Shape& shape, const void* src, const void* weight,
                float* tile) {
  const auto at = [element](const void* p, int64_t i) {
    return element == Element::f32 ? static_cast<const float*>(p)[i]
                                   : float_from_bf16(static_cast<const uint16_t*>(p)[i]);
  };
  for (int64_t t = 0; t < shape.tokens; ++t) {
    for (int64_t r = 0; r < shape.rows; ++r) {
      float sum = 0.0F;
      for (int64_t k = 0; k < shape.cols; ++k) {
        sum += at(src, t * shape.cols + k) * at(weight, packed_index(element, r, k, shape.cols));
      }
      tile[t * shape.rows + r] = sum;
    }
  }
}

/// One call of Linear.
class Run {
 public:
  Run(Element element, const Linear::Args& args, const Launch& launch)
      : element_(element),
        args_(args),
        launch_(launch),
        scratch_(element, args.problem, args.tokens),
        converted_(dtype_of(element) != args.problem.src || args.src_stride != args.problem.cols) {}

  void operator()() {
    if (converted_) split_tokens(args_, launch_, [this](ThreadTeam::Range tokens) { convert(tokens); });
    split_rows(args_, launch_, onednn::kPanelRows, [this](int segment, ThreadTeam::Range chunk, int thread) {
      const onednn::OneThread one;
      std::byte* own = scratch_.of_thread(launch_.workspace, thread);
      const int64_t tile = tile_rows(element_, args_.tokens, args_.problem.cols),
                    end = padded_rows(chunk.end);
      for (int64_t r = chunk.begin; r < end; r += tile) rows(segment, r, std::min(r + tile, end), own);
    });
  }

 private:
  void convert(ThreadTeam::Range tokens) {
    const int64_t cols = args_.problem.cols;
    const auto bytes = static_cast<size_t>(cols * element_bytes(element_));
    const auto* all = reinterpret_cast<const std::byte*>(args_.src);
    for (int64_t t = tokens.begin; t < tokens.end; ++t) {
      const std::byte* src = all + t * args_.src_stride * dtype_info(args_.problem.src).block_bytes;
      std::byte* row = launch_.workspace + static_cast<size_t>(t) * bytes;
      if (args_.problem.src == dtype_of(element_)) {
        std::memcpy(row, src, bytes);
      } else {
        table_.to_bf16(reinterpret_cast<const float*>(src), cols, reinterpret_cast<uint16_t*>(row));
      }
    }
  }

  const std::byte* source(int64_t token) const {
    const auto* all = converted_ ? launch_.workspace : reinterpret_cast<const std::byte*>(args_.src);
    return all + static_cast<size_t>(token * args_.problem.cols) * element_bytes(element_);
  }

  /// Padded rows [begin, end) of a segment, all tokens.
  void rows(int segment, int64_t begin, int64_t end, std::byte* own) {
    auto* tile = reinterpret_cast<float*>(own);
    auto* up = reinterpret_cast<float*>(own + scratch_.tile_bytes);
    const int64_t count = std::min(end, args_.problem.segments[segment].rows) - begin;
    for (int64_t t = 0, tokens = 0; t < args_.tokens; t += tokens) {
      tokens = onednn::tokens_of_call(args_.tokens - t);
      const onednn::Shape shape{element_, tokens, end - begin, args_.problem.cols};
      LinearFinish finish = finish_of(args_, segment, begin, count);
      multiply(shape, segment, begin, t, tile, own + 2 * scratch_.tile_bytes);
      if (is_gated(args_.problem.epilogue)) {
        multiply(shape, 1, begin, t, up, own + 2 * scratch_.tile_bytes);
        finish.up = up;
        finish.up_stride = shape.rows;
      }
      finish.src = tile;
      finish.src_stride = shape.rows;
      finish.rounded = args_.problem.dst == DType::bf16;
      finish.dst = element_of(args_.operands[segment].dst, args_.problem.dst,
                              t * args_.operands[segment].dst_stride + begin);
      finish.tokens = tokens;
      table_.finish(finish);
    }
  }

  void multiply(const onednn::Shape& shape, int segment, int64_t row, int64_t token, float* tile,
                std::byte* scratch) {
    const auto* weight = static_cast<const std::byte*>(args_.operands[segment].weight) +
                         static_cast<size_t>(row * shape.cols) * element_bytes(element_);
    const auto matmul = onednn::matmul(shape);
    if (matmul != nullptr && onednn::run(*matmul, source(token), weight, tile, scratch)) return;
    plain_tile(element_, shape, source(token), weight, tile);
  }

  Element element_;
  const Linear::Args& args_;
  const Launch& launch_;
  Scratch scratch_;
  bool converted_;
  const LinearTable& table_ = avx512::kLinear;
};

}  // namespace

std::string dense_bf16_refusal(const Linear::Problem& p) { return form_refusal(Element::bf16, p); }
std::string supports_onednn_f32(const Linear::Problem& p, const Machine& m) {
  return supports(Element::f32, p, m);
}
std::string supports_onednn_bf16(const Linear::Problem& p, const Machine& m) {
  return supports(Element::bf16, p, m);
}
size_t onednn_f32_workspace(const Linear::Problem& p, const Machine&, int threads) {
  return workspace(Element::f32, p, threads);
}
size_t onednn_bf16_workspace(const Linear::Problem& p, const Machine&, int threads) {
  return workspace(Element::bf16, p, threads);
}
const WeightPacking* onednn_f32_packing(const Linear::Problem&) { return &kPackF32; }
const WeightPacking* onednn_bf16_packing(const Linear::Problem&) { return &kPackBf16; }
void run_onednn_f32(const Linear::Args& a, const Launch& l) { Run(Element::f32, a, l)(); }
void run_onednn_bf16(const Linear::Args& a, const Launch& l) { Run(Element::bf16, a, l)(); }

}  // namespace orrery::kernels
