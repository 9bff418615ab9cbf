#include "ui/shell/graph_figures.h"

#include <QRegularExpression>

namespace orrery::ui {
namespace {

struct Kernel {
  QString name, device;
};
using Kernels = std::unordered_map<NodeId, Kernel>;

/// By the node shown: a node of the model graph has the kernel of the fused node that it went into.
Kernels kernelsOf(const api::PlanReport& plan, const graph::Graph* fused, bool ofFused) {
  Kernels kernels;
  for (const api::PlanStep& step : plan.steps) {
    const Kernel kernel{QString::fromStdString(step.kernel), QString::fromStdString(step.device)};
    kernels[step.node] = kernel;
    const graph::Node* node = ofFused || !fused ? nullptr : fused->find(step.node);
    if (!node) continue;
    for (const graph::Origin& origin : node->origins) kernels[origin.node] = kernel;
  }
  return kernels;
}

/// "layers.4-7" and "layers.*" as a pattern of scopes and what is below them.
QRegularExpression scopePattern(const QString& scope) {
  static const QRegularExpression range("^(\\d+)-(\\d+)$");
  QStringList parts;
  for (const QString& part : scope.split('.')) {
    if (const QRegularExpressionMatch match = range.match(part); match.hasMatch()) {
      QStringList numbers;
      for (int i = match.captured(1).toInt(); i <= match.captured(2).toInt() && numbers.size() < 4096; ++i)
        numbers += QString::number(i);
      parts += "(?:" + numbers.join('|') + ")";
    } else {
      parts += QRegularExpression::escape(part).replace("\\*", "[^.]*");
    }
  }
  return QRegularExpression("^" + parts.join("\\.") + "(?:\\..*)?$");
}

}  // namespace

Figures figuresOf(const api::Profile& profile, const api::PlanReport* plan, const graph::Graph* fused,
                  bool ofFused) {
  Figures figures;
  const Kernels kernels = plan ? kernelsOf(*plan, fused, ofFused) : Kernels();
  for (const auto& [node, kernel] : kernels) {
    figures[node].kernel = kernel.name;
    figures[node].device = kernel.device;
  }
  if (profile.generation == 0) return figures;
  for (const api::NodeTiming& timing : ofFused ? profile.fused : profile.model) {
    NodeFigures& node = figures[timing.node];
    node.us = timing.mean_us;
    node.estimated = timing.estimated;
    node.bytes = timing.bytes;
  }
  return figures;
}

std::unordered_set<NodeId> editedNodes(const graph::Graph& model, const std::vector<edit::Edit>& recipe) {
  std::unordered_set<NodeId> edited;
  for (const edit::Edit& edit : recipe) {
    for (const char* field : {"scope", "node", "as"}) {
      const auto value = edit.fields.find(field);
      if (value == edit.fields.end()) continue;
      const QRegularExpression pattern = scopePattern(QString::fromStdString(value->second));
      for (const NodeId id : model.order()) {
        const graph::Node& node = model.node(id);
        if (!node.is_source() && pattern.match(QString::fromStdString(node.path())).hasMatch())
          edited.insert(id);
      }
    }
  }
  return edited;
}

std::unordered_set<NodeId> editedFused(const graph::Graph& fused, const std::unordered_set<NodeId>& edited) {
  std::unordered_set<NodeId> result;
  for (const NodeId id : fused.order()) {
    if (edited.contains(id)) result.insert(id);
    for (const graph::Origin& origin : fused.node(id).origins)
      if (edited.contains(origin.node)) result.insert(id);
  }
  return result;
}

}  // namespace orrery::ui
