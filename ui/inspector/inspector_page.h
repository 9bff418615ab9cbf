// The chosen node or scope: what it is, what it costs, which kernel runs it and which were refused, its
// tensors.
#pragma once

#include <QScrollArea>
#include <QTimer>
#include <QWidget>

#include "ui/inspector/attribution_section.h"
#include "ui/inspector/edit_form.h"
#include "ui/inspector/inspector_placement.h"
#include "ui/inspector/inspector_precision.h"
#include "ui/inspector/inspector_rows.h"
#include "ui/placement/bypass_choices.h"
#include "ui/session/comparison.h"
#include "ui/session/session_controller.h"
#include "ui/widgets/buttons.h"
#include "ui/widgets/section.h"

namespace orrery::ui {

class InspectorPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  InspectorPage(const Theme& theme, SessionController* session, PlaceMenu* places, PrecisionMenu* precisions,
                AttributionController* attributions, QWidget* parent = nullptr);

  /// Whose graph is drawn: what is shown is of this model.
  void setSource(SessionController* source);
  void showNode(NodeId node, bool fused);
  void showScope(const QString& scope, bool fused);
  void clear();
  void setPhase(api::Phase phase);
  /// What either side has of what is shown; none: the section goes.
  void setComparison(const Comparison& comparison);
  /// While locked, a new selection is not followed.
  void setLocked(bool locked) { locked_ = locked; }
  /// What was foretold of edits that are considered, wherever they come from.
  void setForetold(const std::vector<edit::Edit>& edits, bool refused);
  /// Null: it is folded, or nothing can be done to what is shown.
  EditForm* form() const { return form_; }
  /// Of the drawn model, whatever is chosen; the last one.
  AttributionSection* attribution() const { return attribution_; }
  Section* editSection() const { return edit_; }
  QWidget* corner() const { return corner_; }
  void setTheme(const Theme& theme) override;

 signals:
  void bypassAsked(const QString& scopes);
  void restoreAsked(const QString& scopes);
  void undoAsked();
  void nodeAsked(orrery::NodeId node, bool fused);
  void editConsidered(const std::vector<orrery::edit::Edit>& edits);
  void editLeft();
  void editsAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void connectSession();
  void rebuild();
  void buildNode(const NodeFacts& facts);
  void buildTensor(const NodeFacts& facts);
  void buildScope(const ScopeFacts& facts);
  void buildEmpty();
  void addHead(const QString& icon, std::optional<graph::OpFamily> family, const QString& name,
               const QString& path);
  void addChips(const std::vector<std::pair<QString, Token>>& chips, const QString& firstIcon);
  void addDoc(const QString& text);
  void addEdit(NodeId node, const QString& target);
  void fillEdit();
  void keepDraft();
  void addTime();
  void addSides();
  void addPlace(const NodeFacts& facts);
  void addPlaces();
  void addPrecision(const NodeFacts& facts, const api::PlanStep* step);
  void addPrecisions();
  void addKernel(const api::PlanStep* step, const NodePlace& place);
  void addValues(const NodeFacts& facts);
  void addAttributes(const NodeFacts& facts);
  void addOrigins(const NodeFacts& facts);
  void addEditButtons(const QString& name, const QStringList& scopes, const QString& around = {});
  void addButton(Button* button);
  void connectSource();
  std::vector<NodeId> chosenNodes(const graph::Graph& shown) const;
  void showTime();
  Section* addSection(const QString& title);

  Theme theme_;
  SessionController* session_;
  PlaceMenu* menu_;
  PrecisionMenu* precisionMenu_;
  Places places_;  // of the graph that the chosen thing is in
  QScrollArea* scroll_;
  QWidget *content_ = nullptr, *corner_;
  QVBoxLayout* column_ = nullptr;
  AttributionSection* attribution_;  // outlives what is built anew
  Section* time_ = nullptr;
  Text* runs_ = nullptr;  // what the section's figures are of
  RateRow memory_, compute_, share_;
  Section* edit_ = nullptr;
  EditForm* form_ = nullptr;
  NodeId editNode_;  // of the model graph; invalid: a scope is edited
  QString editTarget_;
  EditDraft draft_;
  bool editOpen_ = false, considering_ = false, applying_ = false;
  NodeId node_;
  QString scope_;
  bool fused_ = false, locked_ = false;
  api::Phase phase_ = api::Phase::decode;
  PlanPtr plans_[2];
  ComparisonIndex comparison_{{}};
  QTimer rebuildSoon_;
};

}  // namespace orrery::ui
