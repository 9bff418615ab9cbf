#include "ui/placement/precision_menu.h"

#include "ui/placement/menu_edits.h"
#include "ui/placement/scope_words.h"

namespace orrery::ui {
namespace {

struct Choice {
  const char *precision, *words;
};
constexpr Choice kChoices[] = {
    {"balanced", "balanced: bf16 for dense weights, int16 for quantised ones"},
    {"exact", "exact: float32"},
    {"bf16", "bf16: 8 bits of each number"},
    {"int16", "int16: 15 bits of a block's largest"},
    {"int8", "int8: 7 bits of a block's largest"},
};

/// What all of the nodes are asked for: empty for the model's own, nothing when they differ.
std::optional<std::string> precisionAskedOf(const graph::Graph& model, const QString& scopes) {
  std::optional<std::string> asked;
  for (const NodeId id : nodesIn(model, scopes)) {
    const std::string precision(graph::precision_of(model.node(id)));
    if (asked && *asked != precision) return std::nullopt;
    asked = precision;
  }
  return asked;
}

}  // namespace

QString modelPrecision(const api::Session& session) {
  const graph::GraphVersion model = session.model_graph();
  const std::string common(model ? graph::common_precision(*model) : std::string_view());
  return QString::fromStdString(common.empty() ? session.options().precision : common);
}

void PrecisionMenu::fill(QMenu* menu, const api::Session& session, const QString& scopes) {
  const graph::GraphVersion model = session.model_graph();
  const std::optional<std::string> asked = model ? precisionAskedOf(*model, scopes) : std::nullopt;
  const auto add = [&](QMenu* to, const QString& words, const QString& precision, bool measured) {
    QAction* action = to->addAction(words, this, [this, scopes, precision, measured] {
      measured ? emit measureAsked(scopes, precision) : emit chosen(scopes, precision);
    });
    carry(action, {editOf("precision", scopes, precision)});
    if (measured) return;
    const std::string own = precision == "default" ? std::string() : precision.toStdString();
    action->setCheckable(true);
    action->setChecked(asked == own);
    action->setEnabled(asked != own);
  };
  for (const Choice& choice : kChoices) add(menu, choice.words, choice.precision, false);
  menu->addSeparator();
  add(menu, "As opened (" + QString::fromStdString(session.options().precision) + ")", "default", false);
  menu->addSeparator();
  QMenu* measured = menu->addMenu("Measure what it would change");
  for (const Choice& choice : kChoices)
    if (asked != choice.precision) add(measured, choice.precision, choice.precision, true);
}

}  // namespace orrery::ui
