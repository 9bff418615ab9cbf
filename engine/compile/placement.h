// Which device each node of a graph runs on.
#pragma once

#include <string>

#include "engine/base/ids.h"

namespace orrery::compile {

/// A node that runs elsewhere than it was asked to.
struct Moved {
  NodeId node;  // of the graph that runs
  std::string asked, device;
  std::string reason;  // for a person
};

}  // namespace orrery::compile
