#include "engine/api/weight_distance.h"

#include <unordered_map>

#include "engine/api/guard.h"
#include "engine/api/session_impl.h"
#include "engine/compile/source_slots.h"
#include "engine/weights/distance.h"

namespace orrery::api {
namespace {

/// A side's weights that something reads, by the paths of their nodes.
class SideWeights {
 public:
  explicit SideWeights(const SessionImpl& session) : session_(session), graph_(session.model_graph()) {
    const std::vector<bool> live = graph_->live();
    for (size_t i = 0; i < live.size(); ++i) {
      const graph::Node& node = graph_->node(graph_->order()[i]);
      if (!live[i] || !is_weight(node)) continue;
      nodes_.push_back(&node);
      by_path_.emplace(node.path(), &node);
    }
  }

  const std::vector<const graph::Node*>& nodes() const { return nodes_; }
  const graph::Node* find(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : found->second;
  }
  Result<weights::WeightTensor> tensor(const graph::Node& node, kernels::ThreadTeam& team) const {
    ORRERY_ASSIGN(auto tensor, session_.weights().tensor(compile::view_of(node), team));
    ORRERY_TRY(io::check_runnable(*tensor, session_.source().file->path));
    return tensor;
  }
  WeightDistance::Stored stored(const graph::Node& node) const {
    const graph::ValueType& type = graph_->value(node.outputs.front()).type;
    return {std::string(name_of(type.dtype)), type.shape,
            static_cast<uint64_t>(graph::bytes_of(type, Bindings{}))};
  }
  std::vector<std::string> readers(const graph::Node& node) const {
    std::vector<std::string> paths;
    for (const graph::Use& use : graph_->users(node.outputs.front()))
      paths.push_back(graph_->node(use.node).path());
    return paths;
  }

 private:
  bool is_weight(const graph::Node& node) const {
    return !node.outputs.empty() && graph_->value(node.outputs.front()).kind == graph::ValueKind::weight;
  }

  const SessionImpl& session_;
  graph::GraphVersion graph_;
  std::vector<const graph::Node*> nodes_;
  std::unordered_map<std::string, const graph::Node*> by_path_;
};

class Measuring {
 public:
  Measuring(const SessionImpl& a, const SessionImpl& b, const std::stop_token& stop, int threads)
      : a_(a), b_(b), stop_(stop), team_(threads) {}

  Result<WeightDistances> run(const ProgressCallback& progress) {
    WeightDistances all;
    for (const graph::Node* node : a_.nodes()) {
      if (stop_.stop_requested()) return cancelled_error();
      if (progress) progress("Comparing the weights", all.weights.size() + all.only_a, a_.nodes().size());
      const graph::Node* other = b_.find(node->path());
      if (!other) {
        ++all.only_a;
        continue;
      }
      ORRERY_ASSIGN(WeightDistance distance, measured(*node, *other));
      all.weights.push_back(std::move(distance));
    }
    all.only_b = b_.nodes().size() - all.weights.size();
    return all;
  }

 private:
  /// What keeps one weight from being compared does not keep the others.
  Result<WeightDistance> measured(const graph::Node& node, const graph::Node& other) {
    WeightDistance distance{node.path(), a_.stored(node), b_.stored(other)};
    distance.readers = a_.readers(node);
    if (distance.a.shape != distance.b.shape) {
      distance.refusal = "other shapes";
      return distance;
    }
    const auto a = a_.tensor(node, team_), b = b_.tensor(other, team_);
    if (!a.ok() || !b.ok()) {
      const Error& error = a.ok() ? b.error() : a.error();
      if (error.code == ErrorCode::out_of_memory) return error;
      distance.refusal = error.to_string();
      return distance;
    }
    if (a.value()->shape != b.value()->shape) {
      distance.refusal = "other shapes";
      return distance;
    }
    const auto [relative, cosine, max_abs] = weights::distance_of(**a, **b, team_, stop_);
    if (stop_.stop_requested()) return cancelled_error();
    distance.relative = relative;
    distance.cosine = cosine;
    distance.max_abs = max_abs;
    return distance;
  }

  SideWeights a_, b_;
  const std::stop_token& stop_;
  kernels::ThreadTeam team_;
};

}  // namespace

Result<WeightDistances> weight_distances(const Session& a, const Session& b, const ProgressCallback& progress,
                                         std::stop_token stop) {
  return guarded([&]() -> Result<WeightDistances> {
    const auto* side_a = dynamic_cast<const SessionImpl*>(&a);
    const auto* side_b = dynamic_cast<const SessionImpl*>(&b);
    for (const auto& [side, session] : {std::pair(side_a, &a), std::pair(side_b, &b)})
      if (!side)
        return Error{ErrorCode::unsupported, "The weights of a file that cannot run are not compared",
                     session->info().path, session->info().cannot_run};
    const int threads = side_a->engine().scheduler.threads();
    return Measuring(*side_a, *side_b, stop, threads).run(progress);
  });
}

}  // namespace orrery::api
