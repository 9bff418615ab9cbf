// The centre of the window: the model graph and the fused graph, one of them or side by side, the zoom, and
// what is loading or went wrong. Side by side, one of the two is worked in: what is chosen there is lit in
// the other.
#pragma once

#include <QCheckBox>
#include <QMap>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QWidget>
#include <array>
#include <map>
#include <set>
#include <string>

#include "ui/graph/graph_editor.h"
#include "ui/graph/graph_view.h"
#include "ui/placement/bypass_choices.h"
#include "ui/placement/place_menu.h"
#include "ui/placement/precision_menu.h"
#include "ui/session/comparison.h"
#include "ui/session/scope_values.h"
#include "ui/session/session_controller.h"
#include "ui/shell/drop_hint.h"
#include "ui/shell/graph_title.h"
#include "ui/shell/page_columns.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/segmented.h"

namespace orrery::ui {

class GraphPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  GraphPage(const Theme& theme, PlaceMenu* places, PrecisionMenu* precisions, QWidget* parent = nullptr);

  /// Whose graph is drawn. Each has views of its own, which keep what the person opened and where they were.
  void setSource(SessionController* source);
  /// The titles of the models that can be drawn, and which one is; shown where there are two.
  void setModels(const QStringList& titles, int drawn);
  SessionController* source() const { return source_; }
  void setPhase(api::Phase phase);
  void setHeatMode(HeatMode mode);
  void setRunning(bool running);
  /// Side by side, that one is worked in.
  void showTab(bool fused);
  void showSideBySide(bool both);
  bool sideBySide() const { return tabs_->currentIndex() == kBoth; }
  /// Where the splitter between both stands, as QSplitter keeps it.
  void setSplit(const QByteArray& split);
  const QByteArray& split() const { return split_; }
  /// Of the two that are side by side, the one that is worked in.
  bool fusedShown() const { return fusedShown_; }
  GraphView* view() const { return fusedShown() ? fused_ : model_; }
  GraphView* modelView() const { return model_; }
  GraphView* fusedView() const { return fused_; }
  Segmented* models() const { return models_; }
  Banner* banner() const { return banner_; }
  ProgressStrip* progress() const { return progress_; }
  DropHint* hint() const { return hint_; }
  PageColumns* columns() const { return columns_; }
  GraphTitle* title() const { return title_; }
  /// Of the model that is drawn, on both its graphs; 0: Auto.
  void setColumns(int columns);
  void arrangePages();
  /// What was edited is saved: no cell is kept free any more.
  void closeCells();
  void setParts(GraphView::Parts parts);
  void refreshGraph();
  void resetScale();
  /// Of the graph shown; of a fused node that is opened, its frame.
  void select(NodeId node);
  /// In both graphs side by side; the count is of the one that is worked in.
  int find(const QString& text);
  /// Nodes of the fused graph that are lit, and what they compute in the model graph, until something is
  /// chosen in the drawing; none: nothing is.
  void light(std::vector<NodeId> fused);
  /// Drawn in the ratio's heat mode, on both graphs.
  void setComparison(const Comparison& comparison);
  /// Drawn in the measure's heat mode, on both graphs.
  void setMeasures(const ScopeValues& values);
  /// What is chosen in the graph shown, as edits name it.
  QString chosenScopes() const;
  Bypass bypassOf(const std::vector<GraphView::Selected>& chosen) const;
  /// What bypass can do with things of the graph shown: with them, then with the scopes around a single one.
  std::vector<BypassChoice> bypasses(const std::vector<GraphView::Selected>& chosen) const;
  /// The menu of what is chosen in the graph shown.
  void showMenuOf(const std::vector<GraphView::Selected>& chosen, const QPoint& position);
  /// What was put where in the drawings, by the models' paths: read from the settings, and kept there.
  void setArrangements(const QMap<QString, QString>& arrangements) { arrangements_ = arrangements; }
  QMap<QString, QString> arrangements();
  /// Keys of the model graph and what they do, written at its upper right.
  void setHints(const std::vector<std::pair<QString, QString>>& hints);
  void setWiresByType(bool on);
  bool wiresByType() const { return byType_; }
  /// Nothing moves by itself: views change at once.
  void setReducedMotion(bool reduced);
  bool reducedMotion() const { return reducedMotion_; }
  /// Edits that are not made yet: what they would touch is marked.
  void setConsidered(const std::vector<edit::Edit>& edits);
  /// What edits changed since the model was opened is drawn, with what they deleted.
  void setDiffShown(bool shown);
  bool diffShown() const { return diff_->isChecked(); }
  /// Another model that the source's is held against where differences are shown; null: the one that it was
  /// opened as.
  void holdAgainst(SessionController* source, const graph::GraphVersion& other);
  /// The part of the context menu that edits.
  void setEditMenu(std::function<void(QMenu&)> fill) { fillEdits_ = std::move(fill); }
  void setTheme(const Theme& theme) override;

 signals:
  void nodeChosen(orrery::NodeId node, bool fused);
  void scopeChosen(const QString& scope, bool fused);
  void choiceCleared();
  void bypassAsked(const QString& scopes);
  void restoreAsked(const QString& scopes);
  void undoAsked();
  /// One gesture, undone as one.
  void editsAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);
  void editConsidered(const std::vector<orrery::edit::Edit>& edits);
  void editLeft();
  void bypassOfChosenAsked();
  void originalMenuAsked(const QPoint& position);
  void noticed(const QString& words);
  void modelAsked(int model);
  void matchesChanged(int count, int current);
  void tabChanged(bool fused);
  /// Of the graph shown.
  void placesChanged(const orrery::ui::Places& places);
  /// Asked for by the person, of the drawn model.
  void columnsChanged(int columns);
  void partsChanged(orrery::ui::GraphView::Parts shown);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum Tab { kModel, kFused, kBoth };
  /// The views of a source, in a splitter.
  struct Views {
    QSplitter* splitter = nullptr;
    GraphView *model = nullptr, *fused = nullptr;
    std::array<GraphView*, 2> both() const { return {model, fused}; }
  };
  void setupBar();
  void setupEditing(GraphView* view, bool fused);
  void showModel(const SessionPtr& session, bool fused);
  void keepArrangement(SessionController* source);
  void setupLayout();
  Views addViews();
  GraphView* addView(bool fused);
  GraphView* viewOf(bool fused) const { return fused ? fused_ : model_; }
  std::vector<bool> shownSides() const;
  void workIn(bool fused);
  void restoreSplit();
  void setOpened(const QString& path, bool open);
  void addOpening(QMenu& menu, const std::vector<GraphView::Selected>& chosen);
  void relight();
  void connectSource();
  void refreshTimings();
  void refreshComparison();
  void refreshMeasures();
  void refreshTabs();
  void refreshPage();
  void fitBar();
  void refreshPlaces();
  QStringList modelScopes(const std::vector<GraphView::Selected>& chosen) const;
  void addPlaces(QMenu& menu, const std::vector<GraphView::Selected>& chosen);
  void addBypasses(QMenu& menu, const std::vector<GraphView::Selected>& chosen);

  Theme theme_;
  PlaceMenu* places_;
  PrecisionMenu* precisions_;
  SessionController* source_ = nullptr;
  QWidget* bar_;
  QTabBar* tabs_;
  GraphTitle* title_;
  Segmented* models_;
  PageColumns* columns_;
  DropButton* wires_;
  QCheckBox* diff_;
  std::pair<SessionController*, graph::GraphVersion> held_;
  IconButton *out_, *in_;
  Text* zoom_;
  Banner* banner_;
  ProgressStrip* progress_;
  QStackedWidget* stack_;
  GraphView *model_ = nullptr, *fused_ = nullptr;
  std::map<SessionController*, Views> views_;
  std::map<SessionController*, std::set<std::string>> opened_;  // fused nodes of each source, by path
  bool fusedShown_ = false;
  bool finding_ = false;  // in the other one of the two
  QByteArray split_;
  std::vector<NodeId> lit_;  // of the fused graph, from elsewhere
  DropHint* hint_;
  api::Phase phase_ = api::Phase::decode;
  PlanPtr plans_[2];
  ComparisonIndex comparison_{{}};
  ScopeValues measures_;
  bool stale_[2] = {true, true};  // model, fused: not set since the graph changed
  graph::GraphVersion shown_[2];
  bool byType_ = false;
  bool reducedMotion_ = false;
  QMap<QString, QString> arrangements_;  // by the models' paths
  std::map<SessionController*, QString>
      arranged_;  // of each source: the model whose arrangement its view has
  std::function<void(QMenu&)> fillEdits_;
  std::vector<std::pair<QString, QString>> hints_;
};

}  // namespace orrery::ui
