// Gestures on the drawing in the words of the verbs (engine/edit/verb.h).
#pragma once

#include <QString>
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "ui/session/services.h"

namespace orrery::ui {

/// What a gesture asks for: all of it or nothing, with the name that undo tells.
struct EditRequest {
  std::vector<edit::Edit> edits;
  QString name;
  bool empty() const { return edits.empty(); }
};

/// "layers.0.mlp.mul.b"; the place's number where several places have one name.
std::string inputPath(const graph::Node& node, int input);
/// The value of a path as Graph::value_path writes it; none when absent.
ValueId findValue(const graph::Graph& graph, const std::string& path);
/// A path in the scope that nothing has: the name, else with a number: "rms_norm_2".
std::string freePath(const graph::Graph& graph, const std::string& scope, const std::string& name);

/// A node that reads these values, by the names of its inputs. `after`: all readers of the value read the new
/// node's first output instead, and its first input reads the value.
edit::Edit insertEdit(const std::string& op, const std::string& path,
                      const std::map<std::string, std::string>& inputs, const graph::Attributes& attributes,
                      const std::string& after = {});
edit::Edit connectEdit(const graph::Graph& graph, const graph::Use& reader, const std::string& value);
edit::Edit disconnectEdit(const graph::Graph& graph, const graph::Use& reader);
edit::Edit verbEdit(const char* verb, const char* field, const QString& value);

/// "mul.b": a place as a person calls it.
QString placeName(const graph::Graph& graph, const graph::Use& reader);
/// Attributes as a JSON object: {"eps": 1e-05}.
std::string attributesText(const graph::Attributes& attributes);

}  // namespace orrery::ui
