// The inputs that an op is tried with: sizes for what it declares, and numbers.
#pragma once

#include <string>
#include <vector>

#include "engine/custom/body.h"
#include "engine/custom/sizes.h"

namespace orrery::custom::trial {

using Bytes = std::vector<std::byte>;

struct Case {
  graph::Attributes attributes;  // those that are not the default; the call's texts are theirs
  orrery_call call{};            // completed, without data
  std::vector<Bytes> inputs;     // empty for one that is left out
  std::string words;             // "src f32[7, 5], bias f32[5]"
};

/// Those that the op takes, of the sizes that its `trial` says or, without it, of some that usually find
/// mistakes: odd ones, ones, large ones, one row; of each type that it declares; with and without what may be
/// left out. Fails where it takes none. The numbers are the same each time.
std::vector<Case> cases_of(const Body& forward);

}  // namespace orrery::custom::trial
