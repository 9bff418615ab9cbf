// Row cpu.onednn.f32: dense weights packed into oneDNN's blocked form, f16 and bf16 as f32 exactly.
//   packed weight, rows padded to 64 with zeros, cols % 16 == 0: [rows / 64][cols / 16][16][64]
//   Threads own whole panels of 64 rows; tiles of up to 256 tokens x 2 panels, or 4 of few columns (few
//   tokens: up to 16, so that a call into the library carries enough work) are multiplied into thread-local
//   scratch and finished on their way to dst.
//   workspace: src where it must be made dense, then per thread: two tiles, oneDNN's scratch
//   traffic: packed weights once per 256 tokens (from L2), src once per panel
#include "kernels/cpu/linear_onednn.h"

#include <cstring>

#include "kernels/cpu/linear_share.h"
#include "kernels/cpu/storage.h"

namespace orrery::kernels {
namespace {

constexpr int64_t kFewTokens = 8;
constexpr int64_t kTileRows = 256;          // most weight rows of a tile with more than kFewTokens
constexpr int64_t kFewTileRows = 1024;      // of a tile with no more
constexpr int64_t kPanelBytes = 512 << 10;  // of weights that stay in L2 for all tokens
constexpr int64_t kColumnBlock = 16;

/// Enough for a call into the library, and no more than L2 keeps while the tokens go by.
int64_t tile_rows(int64_t tokens, int64_t cols) {
  if (tokens > kFewTokens)
    return kTileRows * cols * int64_t{sizeof(float)} <= kPanelBytes ? kTileRows : kTileRows / 2;
  return kFewTileRows;
}

int64_t padded_rows(int64_t rows) {
  return (rows + onednn::kPanelRows - 1) / onednn::kPanelRows * onednn::kPanelRows;
}

/// Where element (row, col) of a weight lies in the packed form, in elements.
int64_t packed_index(int64_t row, int64_t col, int64_t cols) {
  return row / 64 * 64 * cols + col * 64 + row % 64;
}

size_t packed_bytes(DType, int64_t rows, int64_t cols) {
  return static_cast<size_t>(padded_rows(rows) * cols) * sizeof(float);
}

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
      for (int64_t k = 0; k < cols; ++k) static_cast<float*>(packed)[packed_index(r, k, cols)] = values[k];
    }
  });
}

constexpr WeightPacking kPacking{"f32 blocked for oneDNN", packed_bytes, pack};

/// Weights that would be packed as twice what they are stored in.
std::string memory_refusal(const Linear::Problem& problem, const Machine& machine) {
  if (problem.precision == Precision::exact || machine.cpu.features.has(kAvx512Bf16)) return "";
  for (int s = 0; s < problem.segment_count; ++s)
    if (const DType dtype = problem.segments[s].weight; dtype != DType::f32)
      return std::string(name_of(dtype)) + " weights would take the memory of f32; they are read as stored";
  return "";
}

/// Where things lie in the workspace of one call.
struct Scratch {
  size_t source;  // bytes of the dense src
  size_t tile_bytes;
  size_t thread_bytes;

  Scratch(const Linear::Problem& problem, int64_t tokens) {
    const int64_t elements = tokens * problem.cols;
    tile_bytes = sizeof(float) * static_cast<size_t>(std::max(std::min(tokens, onednn::kTokens) * kTileRows,
                                                              kFewTokens * kFewTileRows));
    thread_bytes = 2 * tile_bytes + onednn::kScratchBytes;
    source = (static_cast<size_t>(elements) * sizeof(float) + 63) / 64 * 64;
  }
  std::byte* of_thread(std::byte* workspace, int thread) const {
    return workspace + source + thread_bytes * static_cast<size_t>(thread);
  }
};

/// The same product by plain loops, for the day when the library fails in the middle of a run.
void plain_tile(const onednn::Shape& shape, const float* src, const float* weight, float* tile) {
  for (int64_t t = 0; t < shape.tokens; ++t) {
    for (int64_t r = 0; r < shape.rows; ++r) {
      float sum = 0.0F;
      for (int64_t k = 0; k < shape.cols; ++k)
        sum += src[t * shape.cols + k] * weight[packed_index(r, k, shape.cols)];
      tile[t * shape.rows + r] = sum;
    }
  }
}

/// One call of Linear.
class Run {
 public:
  Run(const Linear::Args& args, const Launch& launch)
      : args_(args),
        launch_(launch),
        scratch_(args.problem, args.tokens),
        copied_(args.src_stride != args.problem.cols) {}

  void operator()() {
    if (copied_) split_tokens(args_, launch_, [this](ThreadTeam::Range tokens) { copy(tokens); });
    split_rows(args_, launch_, onednn::kPanelRows, [this](int segment, ThreadTeam::Range chunk, int thread) {
      const onednn::OneThread one;
      std::byte* own = scratch_.of_thread(launch_.workspace, thread);
      const int64_t tile = tile_rows(args_.tokens, args_.problem.cols), end = padded_rows(chunk.end);
      for (int64_t r = chunk.begin; r < end; r += tile) rows(segment, r, std::min(r + tile, end), own);
    });
  }

 private:
  float* dense() const { return reinterpret_cast<float*>(launch_.workspace); }

  void copy(ThreadTeam::Range tokens) {
    const int64_t cols = args_.problem.cols;
    for (int64_t t = tokens.begin; t < tokens.end; ++t)
      std::memcpy(dense() + t * cols, args_.src + t * args_.src_stride,
                  static_cast<size_t>(cols) * sizeof(float));
  }

  const float* source(int64_t token) const {
    return (copied_ ? dense() : args_.src) + token * args_.problem.cols;
  }

  /// Padded rows [begin, end) of a segment, all tokens.
  void rows(int segment, int64_t begin, int64_t end, std::byte* own) {
    auto* tile = reinterpret_cast<float*>(own);
    auto* up = reinterpret_cast<float*>(own + scratch_.tile_bytes);
    const int64_t count = std::min(end, args_.problem.segments[segment].rows) - begin;
    for (int64_t t = 0, tokens = 0; t < args_.tokens; t += tokens) {
      tokens = onednn::tokens_of_call(args_.tokens - t);
      const onednn::Shape shape{tokens, end - begin, args_.problem.cols};
      LinearFinish finish = finish_of(args_, segment, begin, count);
      multiply(shape, segment, begin, t, tile, own + 2 * scratch_.tile_bytes);
      if (is_gated(args_.problem.epilogue)) {
        multiply(shape, 1, begin, t, up, own + 2 * scratch_.tile_bytes);
        finish.up = up;
        finish.up_stride = shape.rows;
      }
      finish.src = tile;
      finish.src_stride = shape.rows;
      finish.dst += t * finish.dst_stride;
      finish.tokens = tokens;
      avx512::kLinear.finish(finish);
    }
  }

  void multiply(const onednn::Shape& shape, int segment, int64_t row, int64_t token, float* tile,
                std::byte* scratch) {
    const auto* weight = static_cast<const float*>(args_.operands[segment].weight) + row * shape.cols;
    const auto matmul = onednn::matmul(shape);
    if (matmul != nullptr && onednn::run(*matmul, source(token), weight, tile, scratch)) return;
    plain_tile(shape, source(token), weight, tile);
  }

  const Linear::Args& args_;
  const Launch& launch_;
  Scratch scratch_;
  bool copied_;
};

}  // namespace

std::string packed_refusal(const Linear::Problem& problem, int64_t column_block) {
  if (std::string reason = linear_refusal(problem); !reason.empty()) return reason;
  for (int s = 0; s < problem.segment_count; ++s) {
    const DType dtype = problem.segments[s].weight;
    if (!is_dense(dtype) && !is_f8(dtype)) return std::string(name_of(dtype)) + " weights are not dense";
  }
  if (problem.cols % column_block == 0) return "";
  return std::to_string(problem.cols) + " columns; the blocked form takes multiples of " +
         std::to_string(column_block);
}

std::string supports_onednn(const Linear::Problem& problem, const Machine& machine) {
  if (std::string reason = packed_refusal(problem, kColumnBlock); !reason.empty()) return reason;
  if (std::string reason = missing(kAvx512, machine); !reason.empty()) return reason;
  if (std::string reason = memory_refusal(problem, machine); !reason.empty()) return reason;
  const bool elsewhere = !(machine.cpu == this_machine().cpu);  // where the library cannot be asked
  const int64_t tokens = onednn::tokens_of_call(problem.tokens);
  if (!elsewhere && onednn::matmul({tokens, onednn::kPanelRows, problem.cols}) == nullptr)
    return "oneDNN has no fast matmul for this machine";
  return "";
}

size_t onednn_workspace(const Linear::Problem& problem, const Machine&, int threads) {
  const Scratch scratch(problem, problem.tokens);
  return scratch.source + scratch.thread_bytes * static_cast<size_t>(threads);
}

const WeightPacking* onednn_packing(const Linear::Problem&) { return &kPacking; }

void run_onednn(const Linear::Args& args, const Launch& launch) { Run(args, launch)(); }

}  // namespace orrery::kernels
