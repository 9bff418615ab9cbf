// A random linear problem with its data, run by any row; and the activations as the integer rows round them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

#include "kernels/half.h"
#include "kernels/linear.h"
#include "row_testing.h"

namespace orrery::kernels::testing {

/// Where the scales of a format's blocks lie that quantise_row does not write, and what they are for elements
/// of deviation 1 from random bits.
struct RandomScales {
  size_t d_at;
  float d;
  size_t m_at = 0;
  float m = 0.0F;  // 0: the format has none
};
inline std::optional<RandomScales> random_scales(DType dtype) {
  switch (dtype) {
    case DType::q4_k:
      return RandomScales{0, 1.0F / 250.0F, 2, 1.0F / 30.0F};  // d s q - m n: about 32 * 8 each
    case DType::q5_k:
      return RandomScales{0, 1.0F / 500.0F, 2, 1.0F / 30.0F};
    case DType::q6_k:
    case DType::q3_k:
      return RandomScales{dtype == DType::q6_k ? size_t{208} : 108,
                          dtype == DType::q6_k ? 1.0F / 1300.0F : 0.025F};
    case DType::q2_k:
      return RandomScales{80, 0.1F, 82, 0.1F};
    case DType::q5_0:
      return RandomScales{0, 0.1F};
    case DType::q5_1:
      return RandomScales{0, 0.1F, 2, -1.5F};
    case DType::iq4_nl:
      return RandomScales{0, 1.0F / 70.0F};
    case DType::iq4_xs:
      return RandomScales{0, 1.0F / 1300.0F};
    default:
      return std::nullopt;
  }
}

/// The exponent byte of 2^n with the given bias, at least 0, for elements of `deviation`.
inline int exponent_of(float deviation, int bias) { return std::max(0, std::ilogb(deviation) + bias); }

/// Random bits become a number of about `deviation`: sign and fraction stay, the exponent is one of three.
inline std::byte random_f8(uint32_t bits, DType dtype, float deviation) {
  const bool e4m3 = dtype == DType::f8_e4m3;
  const int exponent = std::max(0, exponent_of(deviation, e4m3 ? 7 : 15) - static_cast<int>(bits >> 8) % 3);
  const uint32_t kept = bits & (e4m3 ? 0x87U : 0x83U);
  return static_cast<std::byte>(kept | static_cast<uint32_t>(exponent) << (e4m3 ? 3 : 2));
}

/// Random stored rows of about N(0, 1 / cols) elements; random bits with fitting scales where a format is
/// read only.
inline std::vector<std::byte> random_weights(DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
  const size_t bytes = row_bytes(dtype, cols).value();
  std::vector<std::byte> stored(bytes * static_cast<size_t>(rows));
  const float deviation = 1.0F / std::sqrt(static_cast<float>(cols));
  std::mt19937 engine(seed);
  if (is_f8(dtype)) {
    for (std::byte& b : stored) b = random_f8(engine(), dtype, deviation);
    return stored;
  }
  const std::optional<RandomScales> scales = random_scales(dtype);
  if (!scales && dtype != DType::mxfp4) {
    const std::vector<float> values = random_floats(static_cast<size_t>(rows * cols), seed, deviation);
    for (int64_t r = 0; r < rows; ++r) {
      quantise_row(dtype, values.data() + r * cols, cols, stored.data() + static_cast<size_t>(r) * bytes);
    }
    return stored;
  }
  for (std::byte& b : stored) b = static_cast<std::byte>(engine() & 255);
  const auto size = static_cast<size_t>(dtype_info(dtype).block_bytes);
  for (size_t at = 0; at < stored.size(); at += size) {
    if (!scales) {
      stored[at] =
          static_cast<std::byte>(exponent_of(deviation / 5.0F, 128) + static_cast<int>(engine() % 3) - 1);
      continue;
    }
    const auto put = [&](size_t offset, float value) {
      const uint16_t half = f16_from_float(value * deviation);
      std::memcpy(stored.data() + at + offset, &half, sizeof half);
    };
    const float jitter = 0.5F + static_cast<float>(engine() % 1000) / 1000.0F;
    put(scales->d_at, scales->d * jitter);
    if (scales->m != 0.0F) put(scales->m_at, scales->m * jitter);
  }
  return stored;
}

/// x as the rows with integer activations see it: per block d = max |x| / 32639 and d * round(x / d).
inline std::vector<float> rounded_activations(const std::vector<float>& src, int64_t block) {
  std::vector<float> rounded(src.size());
  for (size_t at = 0; at < src.size(); at += static_cast<size_t>(block)) {
    float most = 0.0F;
    for (int64_t i = 0; i < block; ++i) most = std::max(most, std::fabs(src[at + static_cast<size_t>(i)]));
    const float d = most / 32639.0F;
    const float inverse = d > 0.0F ? 1.0F / d : 0.0F;
    for (size_t i = at; i < at + static_cast<size_t>(block); ++i)
      rounded[i] = d * std::nearbyint(src[i] * inverse);
  }
  return rounded;
}

/// x as f16 times the power of two that brings a token's largest magnitude to [2^13, 2^14).
inline std::vector<float> scaled_to_f16(const std::vector<float>& src, int64_t cols) {
  std::vector<float> rounded(src.size());
  for (size_t at = 0; at < src.size(); at += static_cast<size_t>(cols)) {
    float most = 0.0F;
    for (int64_t i = 0; i < cols; ++i) most = std::max(most, std::fabs(src[at + static_cast<size_t>(i)]));
    const int exponent = most > 0.0F ? std::clamp(13 - std::ilogb(most), -114, 126) : 0;
    for (size_t i = at; i < at + static_cast<size_t>(cols); ++i)
      rounded[i] = std::ldexp(float_from_f16(f16_from_float(std::ldexp(src[i], exponent))), -exponent);
  }
  return rounded;
}

struct SegmentSpec {
  int64_t rows;
  DType dtype;
  bool bias = false;
};

/// Activations between guards, stored as a problem says: f32 or bf16.
class Activations {
 public:
  Activations(DType dtype, const std::vector<float>& values, Guard guard) {
    if (dtype == DType::f32) {
      floats_.emplace(values, guard);
      return;
    }
    std::vector<uint16_t> halves(values.size());
    std::transform(values.begin(), values.end(), halves.begin(), bf16_from_float);
    halves_.emplace(halves, guard);
  }
  /// As Args point at them.
  float* data() { return floats_ ? floats_->data() : reinterpret_cast<float*>(halves_->data()); }
  std::vector<float> values() const {
    if (floats_) return floats_->values();
    const std::vector<uint16_t> halves = halves_->values();
    std::vector<float> values(halves.size());
    std::transform(halves.begin(), halves.end(), values.begin(), float_from_bf16);
    return values;
  }

 private:
  std::optional<Guarded<float>> floats_;
  std::optional<Guarded<uint16_t>> halves_;
};

/// Data of one problem. dst rows are `kGap` elements apart and the gap is checked; all operands are
/// guarded.
class LinearCase {
 public:
  static constexpr int64_t kGap = 3;
  static constexpr float kUntouched = -7776.0F;  // a bf16 too

  LinearCase(int64_t tokens, int64_t cols, const std::vector<SegmentSpec>& segments,
             Epilogue epilogue = Epilogue::none, Linear::Accuracy accuracy = Linear::Accuracy::fast)
      : src(random_floats(static_cast<size_t>(tokens * cols), 11)) {
    problem.tokens = tokens;
    problem.min_tokens = tokens;
    problem.cols = cols;
    problem.segment_count = static_cast<int>(segments.size());
    problem.epilogue = epilogue;
    problem.accuracy = accuracy;
    for (size_t s = 0; s < segments.size(); ++s) {
      problem.segments[s] = {segments[s].rows, segments[s].dtype, segments[s].bias};
      weights.push_back(
          random_weights(segments[s].dtype, segments[s].rows, cols, static_cast<uint32_t>(100 + s)));
      biases.push_back(random_floats(static_cast<size_t>(segments[s].rows), static_cast<uint32_t>(200 + s)));
    }
  }

  int outputs() const { return problem.epilogue >= Epilogue::silu_mul ? 1 : problem.segment_count; }

  /// dst of each output, (tokens, rows) without the gap.
  std::vector<std::vector<float>> run(const Row<Linear>& row, int threads, const std::vector<float>& source,
                                      Guard guard = Guard::after) const {
    ThreadTeam team(threads);
    return run(row, team, source, guard);
  }

  std::vector<std::vector<float>> run(const Row<Linear>& row, ThreadTeam& team,
                                      const std::vector<float>& source, Guard guard = Guard::after) const {
    guard = placed(row, guard);
    Linear::Args args;
    args.problem = problem;
    args.tokens = static_cast<int64_t>(source.size()) / problem.cols;
    args.src_stride = problem.cols + src_gap;
    Activations src_memory(problem.src, spread(source, problem.cols, src_gap), guard);
    args.src = src_memory.data();
    std::deque<GuardedBytes> weight_memory;
    std::deque<Guarded<float>> bias_memory;
    std::deque<Activations> dst_memory;
    for (size_t s = 0; s < weights.size(); ++s) {
      const int64_t rows = problem.segments[s].rows;
      const bool output = static_cast<int>(s) < outputs();
      pack(row, s, team, guard, weight_memory);
      bias_memory.emplace_back(biases[s], guard);
      const auto elements = static_cast<size_t>(output ? args.tokens * (rows + kGap) - kGap : 0);
      dst_memory.emplace_back(problem.dst, std::vector<float>(elements, kUntouched), guard);
      args.operands[s] = {weight_memory.back().data(),
                          problem.segments[s].bias ? bias_memory.back().data() : nullptr,
                          output ? dst_memory.back().data() : nullptr, rows + kGap};
    }
    run_row(row, problem, args, team, guard);
    std::vector<std::vector<float>> dst;
    for (size_t s = 0; s < static_cast<size_t>(outputs()); ++s) {
      dst.push_back(gathered(dst_memory[s].values(), problem.segments[s].rows, args.tokens));
    }
    return dst;
  }

  /// |x_t| |w_r| for each output element: what rounding errors scale with. Gated: the product of both.
  std::vector<float> scales(int output, const std::vector<float>& source) const {
    const auto rows = static_cast<size_t>(problem.segments[static_cast<size_t>(output)].rows);
    const size_t tokens = source.size() / static_cast<size_t>(problem.cols);
    std::vector<float> result(tokens * rows);
    const std::vector<float> first = norms(output);
    const std::vector<float> second =
        problem.epilogue >= Epilogue::silu_mul ? norms(1) : std::vector<float>{};
    for (size_t t = 0; t < tokens; ++t) {
      const float x = norm(source.data() + t * static_cast<size_t>(problem.cols));
      for (size_t r = 0; r < rows; ++r) {
        result[t * rows + r] = 1e-3F + x * first[r];
        if (!second.empty()) result[t * rows + r] *= 2.0F + 2.0F * x * second[r];
      }
    }
    return result;
  }

  Linear::Problem problem;
  int64_t src_gap = 0;  // NaNs between the rows of src when it is run
  std::vector<float> src;
  std::vector<std::vector<std::byte>> weights;
  std::vector<std::vector<float>> biases;

 private:
  /// A segment's weight as the row wants it, exactly as many bytes as stored or as the packing says. What a
  /// device's rows read is packed here, between guards too, and then sent.
  void pack(const Row<Linear>& row, size_t s, ThreadTeam& team, Guard guard,
            std::deque<GuardedBytes>& memory) const {
    const Linear::Segment& segment = problem.segments[s];
    const Guard here = guard == Guard::device ? Guard::after : guard;
    memory.emplace_back(weights[s].size(), here, 1, weights[s].data());
    size_t bytes = weights[s].size();
    if (const WeightPacking* packing = row.packing != nullptr ? row.packing(problem) : nullptr) {
      const std::byte* stored = memory.back().data();
      bytes = packing->bytes(segment.weight, segment.rows, problem.cols);
      packing->pack(stored, segment.weight, segment.rows, problem.cols,
                    memory.emplace_back(bytes, here, 64).data(), team);
    }
    if (guard != Guard::device) return;
    const std::byte* packed = memory.back().data();
    memory.emplace_back(bytes, Guard::device, 1, packed);
  }

  /// Rows of `width` elements with `gap` elements between them, none behind the last.
  static std::vector<float> spread(const std::vector<float>& rows, int64_t width, int64_t gap) {
    std::vector<float> result;
    for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(width)) {
      if (at > 0) result.insert(result.end(), static_cast<size_t>(gap), NAN);
      result.insert(result.end(), rows.begin() + static_cast<int64_t>(at),
                    rows.begin() + static_cast<int64_t>(at) + width);
    }
    return result;
  }

  /// dst without its gaps, which must be untouched.
  static std::vector<float> gathered(const std::vector<float>& dst, int64_t rows, int64_t tokens) {
    std::vector<float> result;
    for (int64_t t = 0; t < tokens; ++t) {
      const auto row = dst.begin() + t * (rows + kGap);
      result.insert(result.end(), row, row + rows);
      for (int64_t g = 0; t + 1 < tokens && g < kGap; ++g) {
        EXPECT_EQ(row[rows + g], kUntouched) << "wrote between rows";
      }
    }
    return result;
  }

  float norm(const float* x) const {
    double sum = 0.0;
    for (int64_t k = 0; k < problem.cols; ++k) sum += static_cast<double>(x[k]) * x[k];
    return static_cast<float>(std::sqrt(sum));
  }

  std::vector<float> norms(int segment) const {
    const auto s = static_cast<size_t>(segment);
    const size_t bytes = row_bytes(problem.segments[s].weight, problem.cols).value();
    std::vector<float> row(static_cast<size_t>(problem.cols));
    std::vector<float> result;
    for (int64_t r = 0; r < problem.segments[s].rows; ++r) {
      dequantise_row(problem.segments[s].weight, weights[s].data() + static_cast<size_t>(r) * bytes,
                     problem.cols, row.data());
      result.push_back(norm(row.data()));
    }
    return result;
  }
};

}  // namespace orrery::kernels::testing
