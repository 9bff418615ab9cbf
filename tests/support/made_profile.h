// A profile with the times that a test gives the nodes of a graph.
#pragma once

#include <cmath>
#include <utility>

#include "engine/api/profile.h"

namespace orrery::api::testing {

class MadeProfile {
 public:
  explicit MadeProfile(size_t runs = 1, Phase phase = Phase::decode) : totals_(runs) {
    profile_.phase = phase;
    profile_.generation = 1;
    profile_.model = profile_.fused = NodeTimes(runs);
  }

  /// The node took `us`, in both graphs: the same in each run, or growing by a tenth from run to run.
  MadeProfile& add(NodeId node, double us, NodeTimes::Row row = {}, bool grows = false) {
    std::vector<int64_t> times(totals_.size());
    for (size_t run = 0; run < times.size(); ++run) {
      times[run] = std::llround(us * 1e3 * (grows ? 1 + 0.1 * static_cast<double>(run) : 1));
      totals_[run] += times[run];
    }
    row.node = node;
    profile_.model.add(node, times, 1, row);
    profile_.fused.add(node, times, 1, row);
    return *this;
  }

  ProfilePtr make() {
    profile_.step = summarise(totals_, profile_.phase);
    return std::make_shared<const Profile>(profile_);
  }
  Profile& profile() { return profile_; }

 private:
  Profile profile_;
  std::vector<int64_t> totals_;
};

}  // namespace orrery::api::testing
