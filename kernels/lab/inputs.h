// What the operands of a problem hold: random by seed, so that every machine and every run sees the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/dtype.h"

namespace orrery::kernels::lab {

/// normal: mean 0, deviation 1      uniform: in [-1, 1)
/// heavy: Student's t with 3 degrees of freedom, whose largest values lie far from the rest
/// masked: normal, but -infinity for a quarter      broken: masked, with a NaN among 64 and an infinity
///   among 256
enum class Distribution : uint8_t { normal, uniform, heavy, masked, broken };
inline constexpr std::string_view kDistributionNames[] = {"normal", "uniform", "heavy", "masked", "broken"};

/// All times `scale`.
std::vector<float> random_floats(size_t count, uint32_t seed, float scale = 1.0F,
                                 Distribution distribution = Distribution::normal);

/// Elements of an is_element type or e4m3: floats as above, whole numbers in [-2^15, 2^15) or as far as the
/// type goes.
std::vector<std::byte> random_elements(DType dtype, size_t count, uint32_t seed,
                                       Distribution distribution = Distribution::normal);
/// Elements of any stored type as float32.
std::vector<float> as_floats(DType dtype, const std::vector<std::byte>& elements);

/// Stored rows of about N(0, 1 / cols) elements; random bits with fitting scales where a format is read only.
/// Rows repeat after `period` of them; 0: they do not.
std::vector<std::byte> random_weights(DType dtype, int64_t rows, int64_t cols, uint32_t seed,
                                      int64_t period = 0);

/// Activations as a row that rounds them sees them:
/// by block of columns d = max |x| / largest (32639, 127) and d * round(x / d);
std::vector<float> rounded_to_integers(const std::vector<float>& src, int64_t block, int largest);
/// as f16 times the power of two that brings a token's largest magnitude to [2^13, 2^14);
std::vector<float> rounded_to_f16(const std::vector<float>& src, int64_t cols);
/// as bf16.
std::vector<float> rounded_to_bf16(std::vector<float> src);

}  // namespace orrery::kernels::lab
