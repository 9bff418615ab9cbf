// Sizes and numbers to try an op of one's own with: for what its signature names, or as its `trial` says.
#pragma once

#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "engine/custom/signature.h"

namespace orrery::custom {

using SizeNames = std::map<std::string, int64_t, std::less<>>;

/// Sizes by the order in which names come; ... stands for the leading ones.
struct SizePlan {
  std::vector<int64_t> sizes, leading;
  SizeNames named = {};  // by the op's `trial`
};

/// "rows=4, cols=9; rows=1, cols=3", each on top of `otherwise`. Refused: another form.
Result<std::vector<SizePlan>> plans_of(std::string_view trial, const SizePlan& otherwise);

/// The type and sizes of an input by a plan, where `names` have theirs; new ones are added. `variant`: which
/// of its types.
orrery_tensor planned_tensor(const InputPort& port, const SizePlan& plan, SizeNames& names, size_t variant);

/// The whole attributes that names say.
graph::Attributes planned_attributes(const Signature& signature, const SizeNames& names);

/// Random elements: floats from -2 to 2, whole numbers from 0 to 9, bytes of any value.
std::vector<std::byte> random_elements(const orrery_tensor& tensor, std::mt19937& random);

/// The element of a tensor as a number.
double element_at(const std::byte* data, int32_t dtype, size_t i);

/// How far an output may be from what is expected, of its largest number: what the op says, or what its type
/// lets one hope for.
double tolerance_of(double declared, int32_t dtype);

}  // namespace orrery::custom
