#include "ui/inspector/edit_fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/graph/qt_values.h"
#include "ui/placement/scope_words.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

const QString kSet = QStringLiteral("set");
/// That a person types elsewhere: on the drawing, in the menus "Run on" and "Compute in", by a button.
constexpr std::string_view kElsewhere[] = {"bypass", "frame", "note", "place", "precision", "rename", "set"};

QString textOf(std::string_view words) {
  return QString::fromUtf8(words.data(), static_cast<qsizetype>(words.size()));
}

QString firstSentence(const QString& doc) {
  QString sentence = doc.section(". ", 0, 0);
  if (sentence.endsWith('.')) sentence.chop(1);
  return sentence;
}

/// "1 … 2", "at least 0"; empty where anything goes.
QString rangeOf(const edit::Field& field) {
  const bool below = field.least != std::numeric_limits<double>::lowest(),
             above = field.most != std::numeric_limits<double>::max();
  const auto written = [&](double limit) {
    return field.kind == edit::FieldKind::integer ? format::count(static_cast<qint64>(limit))
                                                  : format::number(limit);
  };
  if (below && above) return QString("%1 \u2026 %2").arg(written(field.least), written(field.most));
  if (below) return "\u2265 " + written(field.least);
  return {};
}

/// How many heads an attention node has; 0: it is none.
int headsOf(const graph::Node& node) {
  const auto heads = node.attributes.find("heads");
  if (node.op->family != graph::OpFamily::attention || heads == node.attributes.end()) return 0;
  const auto* count = std::get_if<int64_t>(&heads->second);
  return count ? static_cast<int>(*count) : 0;
}

FormField fieldOf(const edit::Verb& verb, const edit::Field& field, const graph::Node* node) {
  FormField made;
  made.name = textOf(field.name);
  made.help = firstSentence(textOf(field.doc));
  made.before = textOf(field.fallback);
  made.range = rangeOf(field);
  made.required = field.required;
  made.field = &field;
  for (const std::string_view choice : field.choices) made.choices += textOf(choice);
  if (field.kind == edit::FieldKind::choice) made.kind = FormField::Kind::choice;
  if (field.kind == edit::FieldKind::flag) {
    made.kind = FormField::Kind::flag;
    made.choices = {"true", "false"};
  }
  if (!node) return made;
  if (field.kind == edit::FieldKind::ranges && field.name == "heads" && headsOf(*node) > 0) {
    made.kind = FormField::Kind::heads;
    made.heads = headsOf(*node);
    made.zeroes = verb.name == "zero";
    made.help = "click one to set what it gives to zero";
    return made;
  }
  if (const auto now = node->attributes.find(field.name); now != node->attributes.end())
    made.before = attributeText(now->second);
  return made;
}

std::optional<FormVerb> verbOf(const edit::Verb& verb, const graph::Node* node) {
  if (std::find(std::begin(kElsewhere), std::end(kElsewhere), verb.name) != std::end(kElsewhere))
    return std::nullopt;
  const edit::Field& first = verb.fields.front();
  const bool takes = first.kind == edit::FieldKind::scopes || (node && first.kind == edit::FieldKind::node);
  if (!takes) return std::nullopt;
  const bool attends = node && headsOf(*node) > 0;
  if (node && verb.name == "attention" && !attends) return std::nullopt;
  FormVerb made{textOf(verb.name), firstSentence(textOf(verb.doc)), textOf(first.name)};
  for (const edit::Field& field : verb.fields.subspan(1)) made.fields.push_back(fieldOf(verb, field, node));
  return made;
}

/// The node's own attributes.
FormVerb setVerb(const graph::Node& node) {
  FormVerb verb{kSet, "another value for an attribute of the node", {}};
  for (const auto& [name, value] : node.attributes) {
    if (graph::is_common_attribute(name) || std::holds_alternative<std::vector<double>>(value)) continue;
    FormField field;
    field.name = QString::fromStdString(name);
    field.before = attributeText(value);
    field.attribute = value;
    field.range = textOf(graph::name_of(static_cast<graph::AttributeType>(value.index())));
    if (std::holds_alternative<bool>(value)) {
      field.kind = FormField::Kind::flag;
      field.choices = {"true", "false"};
    }
    const auto spec =
        std::find_if(node.op->attributes.begin(), node.op->attributes.end(),
                     [&name = name](const graph::AttributeSpec& one) { return one.name == name; });
    if (spec != node.op->attributes.end()) field.help = firstSentence(QString::fromStdString(spec->doc));
    verb.fields.push_back(std::move(field));
  }
  return verb;
}

bool isWhole(const QString& text) {
  bool ok = false;
  (void)text.trimmed().toLongLong(&ok);
  return ok;
}

bool isList(QString text) {
  text.remove('[').remove(']');
  const QStringList numbers = text.split(',');
  return text.trimmed().isEmpty() || std::all_of(numbers.begin(), numbers.end(), isWhole);
}

bool fits(const graph::Attribute& attribute, const QString& text) {
  bool ok = false;
  if (std::holds_alternative<int64_t>(attribute)) return isWhole(text);
  if (std::holds_alternative<double>(attribute)) return std::isfinite(text.toDouble(&ok)) && ok;
  if (std::holds_alternative<bool>(attribute)) return text == "true" || text == "false";
  return !std::holds_alternative<std::vector<int64_t>>(attribute) || isList(text);
}

}  // namespace

QString everyLayer(const graph::Graph& model, const QString& target) {
  QStringList parts = target.split('.');
  const auto number = std::find_if(parts.begin(), parts.end(), isWhole);
  if (number == parts.end()) return {};
  *number = "*";
  const QString every = parts.join('.');
  return nodesIn(model, every).size() > nodesIn(model, target).size() ? every : QString();
}

QString rangesOf(const std::vector<int>& numbers) {
  QStringList parts;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts += last == i ? QString::number(numbers[i]) : QString("%1-%2").arg(numbers[i]).arg(numbers[last]);
    i = last + 1;
  }
  return parts.join(',');
}

QString FormField::reason(const QString& text) const {
  if (!field) return fits(attribute, text) ? QString() : "it is to be " + range;
  if (text.isEmpty()) return required ? QString("it is needed") : QString();
  const Result<void> can = edit::check_field(*field, text.toStdString());
  return can.ok()
             ? QString()
             : QString::fromStdString(can.error().advice.empty() ? can.error().what : can.error().advice);
}

std::vector<FormVerb> formVerbs(const graph::Graph& model, NodeId id) {
  const graph::Node* node = id.valid() ? model.find(id) : nullptr;
  std::vector<FormVerb> verbs;
  if (node && node->is_source()) return verbs;
  const bool attends = node && headsOf(*node) > 0;
  for (const edit::Verb& verb : edit::verbs())
    if (auto made = verbOf(verb, node)) {
      const bool best = attends && verb.name == "attention";
      verbs.insert(best ? verbs.begin() : verbs.end(), std::move(*made));
    }
  if (!node) return verbs;
  if (FormVerb set = setVerb(*node); !set.fields.empty())
    verbs.insert(attends ? verbs.begin() + 1 : verbs.begin(), std::move(set));
  return verbs;
}

std::vector<edit::Edit> editsOf(const FormVerb& verb, const QString& target, const TypedFields& typed) {
  std::vector<edit::Edit> edits;
  edit::Edit whole{verb.name.toStdString(), {{verb.target.toStdString(), target.toStdString()}}};
  bool complete = true;
  for (const FormField& field : verb.fields) {
    const auto found = typed.find(field.name);
    const bool changed = found != typed.end() && found->second != field.before;
    if (changed && verb.target.isEmpty())
      edits.push_back({"set",
                       {{"node", target.toStdString()},
                        {"attribute", field.name.toStdString()},
                        {"value", found->second.toStdString()}}});
    if (changed && !found->second.isEmpty())
      whole.fields[field.name.toStdString()] = found->second.toStdString();
    if (!changed && field.required) complete = false;
  }
  if (verb.target.isEmpty()) return edits;
  const bool asks = std::any_of(verb.fields.begin(), verb.fields.end(), [](const FormField& field) {
    return field.required || field.before.isEmpty();
  });  // else it says all by its name, as delete does
  if (!complete || (asks && whole.fields.size() == 1)) return edits;
  edits.push_back(std::move(whole));
  return edits;
}

}  // namespace orrery::ui
