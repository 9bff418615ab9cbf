// The files that a graph of one's own has weights of.
#pragma once

#include "engine/own/graph_file.h"

namespace orrery::api {

/// Looks the tensors of files up; each file is opened once.
own::WeightOfFile weights_of_files();

}  // namespace orrery::api
