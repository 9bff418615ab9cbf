// What can be typed of the chosen thing: the verbs that are done to it with their fields, from the schema of
// verbs (engine/edit/verb.h) and the node's own attributes. Values; no widgets.
#pragma once

#include <QString>
#include <QStringList>
#include <map>
#include <vector>

#include "engine/api/history.h"

namespace orrery::ui {

struct FormField {
  enum class Kind : uint8_t { text, choice, flag, heads };
  QString name, help;
  QString before;  // what holds now; empty: nothing, or not known
  QString range;   // "1 ... 2", "a whole number"
  Kind kind = Kind::text;
  QStringList choices = {};
  int heads = 0;        // of the node, where it is a list of them
  bool zeroes = false;  // heads that are named are zero; else the others are
  bool required = false;
  const edit::Field* field = nullptr;  // of a verb; null: an attribute of the node
  graph::Attribute attribute = {};     // of which type such a one is

  /// Why it cannot be this; empty: it can.
  QString reason(const QString& text) const;
};

struct FormVerb {
  QString name, help;
  QString target;  // the field that names what it is done to; empty: each field is an edit, "set"
  std::vector<FormField> fields = {};
};

/// Texts by the names of fields; those that are not there are as they were.
using TypedFields = std::map<QString, QString>;

/// Of a node of the model graph, or where it is none, of a scope. The verb that suits best is first.
std::vector<FormVerb> formVerbs(const graph::Graph& model, NodeId node);
/// What they ask for; none: nothing is changed. `target`: the path of the node, or the scope.
std::vector<edit::Edit> editsOf(const FormVerb& verb, const QString& target, const TypedFields& typed);
/// The same thing of every layer, "layers.*.attention.sdpa"; empty: there is no other one.
QString everyLayer(const graph::Graph& model, const QString& target);
/// "0-3,7".
QString rangesOf(const std::vector<int>& numbers);

}  // namespace orrery::ui
