// What a graph of one's own asks to be given.
#pragma once

#include "engine/own/sizes.h"

namespace orrery::api {

using GraphInput = own::Input;
using own::inputs_of;

}  // namespace orrery::api
