// The graph, drawn: groups that open and fold, heat, edges; pan, zoom, find, select. Shows immutable graph
// versions; the layout is made on a worker thread and a late one is dropped. Emits what the person asks for
// and changes nothing itself.
#pragma once

#include <QGraphicsView>
#include <QString>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/graph/graph.h"
#include "ui/graph/divergence_card.h"
#include "ui/graph/figures.h"
#include "ui/placement/places.h"
#include "ui/theme/side_look.h"

namespace orrery::ui {

class GraphEditor;

class GraphView : public QGraphicsView {
  Q_OBJECT

 public:
  explicit GraphView(const Theme& theme, QWidget* parent = nullptr);
  ~GraphView() override;

  /// Shows a version; place, zoom, open groups and the selection stay as far as they still exist. `name` is
  /// the root's name in the breadcrumb. Null clears.
  void setGraph(graph::GraphVersion graph, std::unordered_set<NodeId> edited = {}, const QString& name = {});
  /// Painted as it comes, ten times a second at most.
  void setTimings(Figures figures);
  /// Where nodes run: drawn where several devices are in use, or one is not the one asked for.
  void setPlaces(Places places);
  /// A new run begins: the colour scale may shrink.
  void resetScale();
  void setHeatMode(HeatMode mode);
  HeatMode heatMode() const;
  /// The sides of the ratio's mode, and there the first node that differs, if any.
  void setSides(const SideLooks& sides, const std::optional<Divergence>& divergence);
  const std::optional<Divergence>& divergence() const;
  void setRunning(bool running);
  void setReducedMotion(bool reduced);
  void setTheme(const Theme& theme);
  /// What stands around the drawing: the strip under it and the minimap in that, the step at its right; and
  /// the lens. M, Shift+M and the minimap's cross hide them, the keys show them again.
  enum class Part { minimap = 1, strip = 2, step = 4, lens = 8 };
  Q_DECLARE_FLAGS(Parts, Part)
  void setParts(Parts shown);
  Parts parts() const;

  /// Nodes and scopes whose path, op, shape or tensor holds the text (case ignored; * and ? are wild cards).
  /// The first match is selected and brought into view. Returns how many; 0 for an empty text, which clears.
  int find(const QString& text);
  int findNext();  // index of the shown match, from 0; -1 without matches
  int findPrevious();
  int matchCount() const;

  /// All of it.
  void fit();

  /// Runs of open layers are pages of so many columns, 1 to 24; 0: as many as show the page the largest.
  void setColumns(int columns);
  int columns() const;
  /// Of the largest page: its columns, its rows and its layers; none: no run of layers is open.
  struct PageSize {
    int columns = 0, rows = 0, layers = 0;
    friend bool operator==(const PageSize&, const PageSize&) = default;
  };
  PageSize pageSize() const;
  /// "30 layers, 244 nodes, all open"; empty without a graph.
  QString summary() const;
  /// Sends placeChanged() again.
  void tellPlace();
  /// Puts layers into columns anew: no cell is kept free, Auto chooses again.
  void arrangePages();
  /// Takes out the cells that are kept free, as when what was edited is saved.
  void closeCells();
  /// Of each edit the nodes that it touched.
  void setEdits(std::vector<std::unordered_set<NodeId>> edits);

  void zoomIn();
  void zoomOut();
  void zoomTo(double scale);  // about the centre; 1 is 100 %
  double zoom() const;

  void expandScope(const QString& scope);
  void collapseScope(const QString& scope);
  void toggleScope(const QString& scope);
  void expandAll();
  /// Opens all layers of the run that a layer or a stack belongs to.
  void openPage(const QString& scope);
  /// There is such a run, long enough for a page.
  bool canBePage(const QString& scope) const;
  void collapseAll();
  bool isExpanded(const QString& scope) const;

  /// A node, or a scope: "layers.12", "layers.0-11".
  struct Selected {
    NodeId node;
    QString scope;
    bool empty() const { return !node.valid() && scope.isEmpty(); }
    friend bool operator==(const Selected&, const Selected&) = default;
  };
  /// All that is chosen (with Ctrl, several), the last one at the end. The functions below tell of that one.
  std::vector<Selected> selection() const;
  /// Opens the groups around it and brings it into view when it is not.
  void select(NodeId node);
  void selectScope(const QString& scope);
  void clearSelection();
  NodeId selectedNode() const;    // invalid when a scope or nothing is selected
  QString selectedScope() const;  // "layers.12", "layers.0-11"; empty when a node or nothing is selected

  /// Drawn as chosen too, because what is chosen elsewhere belongs to them; no signal is emitted. Those that
  /// a folded group hides light it. Nodes that are not there are left out, and come back with the graph that
  /// has them.
  void light(std::vector<NodeId> nodes);
  const std::vector<NodeId>& lit() const;
  /// Brings the first of them into view, or the group that hides it.
  void revealLit();

  /// Scopes that stand for one node each, which was opened into what it computes (opened_nodes.h), and the
  /// part of its work of each node in them: folding one is asked for, not done. Before setGraph() with such a
  /// graph.
  void setOpenedNodes(std::unordered_set<std::string> scopes, std::unordered_map<NodeId, double> shares);

  /// Editing by hand; without edit calls the graph is only looked at.
  GraphEditor* editor() const;

  /// Chosen by the suffix: png, svg or pdf. The whole graph as it is open now, light theme. False with
  /// `reason`.
  bool exportImage(const QString& path, QString* reason = nullptr);

  /// The pages for paper, in landscape and in the light theme: as many columns as it has room for, over
  /// several sheets where the words would become too small. svg, a file for each sheet ("name-2.svg"), or
  /// pdf.
  enum class Paper { a4, a3 };
  bool exportPaper(const QString& path, Paper paper, QString* reason = nullptr);

  /// Waits for a layout under way (tests, export). False when it took longer.
  bool waitForLayout(int ms = 5000);

  class Private;  // graph_view_private.h

 signals:
  void nodeSelected(orrery::NodeId node);
  void scopeSelected(const QString& scope);
  void selectionCleared();
  /// A node, by a double click or Enter.
  void nodeActivated(orrery::NodeId node);
  /// A node that stands for several is to be opened into them, or folded again.
  void openingAsked(const QString& path, bool open);
  void zoomChanged(double scale);
  void layoutFinished();
  /// Layers have become pages, or other ones.
  void pagesChanged();
  /// Right button or menu key, on what selection() tells.
  void contextMenuAsked(const QPoint& globalPos);
  void matchesChanged(int count, int current);
  /// By the person.
  void partsChanged(orrery::ui::GraphView::Parts shown);
  /// Where we are: the scopes around what is chosen, outermost first, and where each leads; the last is here.
  void placeChanged(const QStringList& parts, const QStringList& scopes);

 protected:
  void drawBackground(QPainter* painter, const QRectF& rect) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dragMoveEvent(QDragMoveEvent* event) override;
  void dragLeaveEvent(QDragLeaveEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  friend struct EditDesk;
  std::unique_ptr<Private> d_;
};

Q_DECLARE_OPERATORS_FOR_FLAGS(GraphView::Parts)

}  // namespace orrery::ui
