// Scopes as people and recipes write them: "layers.3", "layers.4-7", "layers.*.mlp", "layers.0-3,head".
#pragma once

#include <QString>
#include <QStringList>
#include <vector>

#include "engine/graph/graph.h"

namespace orrery::ui {

/// The nodes (no sources) that are in one of the scopes or are named themselves, in the order of the graph.
std::vector<NodeId> nodesIn(const graph::Graph& graph, const QString& scopes);
/// Whether the scope is one of them, or is meant by one.
bool namesScope(const QString& scopes, const QString& scope);
/// One word for several scopes and nodes, for an edit; the views' en dashes become plain ones.
QString scopeWord(const QStringList& scopes);
/// "layers.3" of "layers.3.mlp"; empty of the outermost.
QString outerScope(const QString& scope);
/// The nodes of the model graph that a node of the graph shown (the model graph, or the fused one) stands
/// for, as paths. None for a transfer.
QStringList modelPaths(const graph::Graph& model, const graph::Graph& shown, NodeId node);

}  // namespace orrery::ui
