// What the verb quantise calls the types that it stores in.
#pragma once

#include <optional>
#include <string_view>

#include "kernels/dtype.h"

namespace orrery::edit {

/// Of "q4_0"; none of "file", and of a word that is no type of the verb's.
std::optional<DType> quantised_type(std::string_view word);

}  // namespace orrery::edit
