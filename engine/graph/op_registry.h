// The ops that graphs may use, by name. Ops join and leave at run time, from any thread. A node holds its op:
// one that leaves stays as it is in the graphs, journals and plans that have it, and nothing new is made of
// it.
#pragma once

#include <map>
#include <shared_mutex>

#include "engine/graph/op_schema.h"

namespace orrery::graph {

class OpRegistry {
 public:
  /// Of ops that add() would take, in this order.
  explicit OpRegistry(std::vector<OpSchema> ops);

  OpPtr find(std::string_view name) const;  // null when there is none
  std::vector<OpPtr> all() const;           // in the order in which they joined

  /// Refused, with what is wrong, when the name is taken or the op does not hold together.
  Result<OpPtr> add(OpSchema op);
  /// Gives the op back; another of its name may join then. Refused when there is none of this name.
  Result<OpPtr> remove(std::string_view name);

 private:
  std::vector<OpPtr>::const_iterator place_of(std::string_view name) const;

  mutable std::shared_mutex mutex_;
  std::vector<OpPtr> ops_;
  std::map<std::string, uint32_t, std::less<>> left_;  // by name: how many have left
};

}  // namespace orrery::graph
