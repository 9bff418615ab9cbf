// The view's state and the steps that its public functions share. Only graph_view*.cpp and the editor's files
// (edit_desk.h) include this.
#pragma once

#include <QElapsedTimer>
#include <QPixmap>
#include <QTimer>
#include <QVariantAnimation>
#include <optional>

#include "ui/graph/arrangement.h"
#include "ui/graph/graph_editor.h"
#include "ui/graph/graph_strip.h"
#include "ui/graph/graph_view.h"
#include "ui/graph/key_hints.h"
#include "ui/graph/layout_worker.h"
#include "ui/graph/lens_painter.h"
#include "ui/graph/page_model.h"
#include "ui/graph/scene_painter.h"
#include "ui/graph/step_strip.h"

namespace orrery::ui {

inline constexpr double kGrab = 4;  // pixels from a wire that still are on it

/// A thing that find() found.
struct Match {
  int node = -1, group = -1;
};

class GraphView::Private {
 public:
  class Sheets;  // of paper
  Private(GraphView* view, const Theme& theme);

  // Layout
  void forget();
  void relayout(bool newScene, bool choose = false);
  void relayoutPages(PagePlan::Change change);  // with what is in the middle, or all of it, where it is
  void show(LayoutReply reply);
  void restoreMarks();
  void figuresChanged();
  void anchorAtCentre();
  /// The next layout keeps this thing where it is on the screen.
  void anchorAt(int group, int node = -1);

  // The camera: `scene` is drawn at `screen` (viewport coordinates).
  void setCamera(double scale, QPointF scene, QPointF screen);
  void moveCamera(double scale, QPointF centre);  // animated
  QPointF centre() const;
  QRectF visibleScene() const;
  void reveal(const Rect& box);
  void showFirst();
  void showWhole();
  /// Where all of the drawing is seen.
  struct View {
    double scale;
    QPointF centre;
  };
  View wholeView() const;
  View viewIn(const QRectF& area) const;

  // Drawing
  PaintJob job(const QRectF& visible) const;
  void heatChanged();
  void moveBar();  // on or off
  void tellPlace();

  // What stands around the drawing
  void makeStrips();
  void refreshStrips();
  void fillLegend(Legend& legend) const;
  std::vector<ShapeList::Entry> shapeEntries(const PageModel& of, const Theme& look) const;
  std::vector<ShapeList::Bar> barsOf(const PageModel& of, const PageShape& shape, const Theme& look) const;
  void refreshShapes();
  void refreshMarks();
  void placeStrips();
  void placeHints();
  void showParts(Parts shown);  // asked for by the person
  void lightShape(int shape);
  void hoverStep(int group, int node);
  std::optional<Span> spanOfChosen() const;
  std::optional<Span> spanOfHover() const;
  void fadeFromNow();
  void placeDivergence();
  void paintDivergence(QPainter& painter) const;

  // The lens
  enum class LensBy : uint8_t { rest, key, keys };  // the pointer rests, Z is held, arrows
  void makeLens();
  bool lensFits() const;
  int layerUnderPointer() const;
  void openLens(int layer, LensBy by);
  void closeLens();
  void moveLens(int step, int columns);
  void zoomToLens();
  const PageLayer* lensLayer() const;  // null: it is closed
  double lensScale() const;
  QRectF lensFrame() const;  // in the viewport
  QRectF lensScene() const;
  bool inLens(QPointF viewportPoint) const;
  Point sceneInLens(QPointF viewportPoint) const;
  void pointLens(std::optional<QPointF> point);
  bool wheelInLens(const QWheelEvent& event);
  bool keyInLens(const QKeyEvent& event);
  void releaseInLens(const QKeyEvent& event);
  void paintLens(QPainter& painter) const;

  // Choosing
  Selected thingAt(const Hit& hit) const;  // empty on the ground
  void selectHit(const Hit& hit, bool add = false);
  void setSelection(NodeId node, const std::string& scope);
  void setSelections(std::vector<Selected> chosen);  // the last one is that of the inspector
  void addToSelection(Selected added);
  void markSelection();
  Chosen chosenOf(const Selected& thing) const;
  void notifySelection();
  void setHover(const Hit& hit);
  void toggle(const Hit& hit);
  void activate(NodeId node);
  bool askOpening(const Hit& hit);
  QString scopeOf(const Hit& hit) const;
  std::pair<int, int> groupsOf(
      const QString& scope) const;  // of a stack the first and the last; -1 when absent
  void openAround(int group);
  void openGroup(int group);
  void moveSelection(int key);
  bool walkPage(int key);  // false: what is chosen is in no page, or at its end
  int layerOfHit(const Hit& hit) const;
  void chooseNear(int layer, Point place);
  void upALevel();

  // For those who listen
  class Access;
  class AccessPart;
  static void makeAccess();
  QString spokenChoice() const;  // "down_proj, layer 21, column 5, row 2, 25 µs"
  QRect onScreen(const Rect& box) const;
  QRect choiceOnScreen() const;
  void speakChoice() const;

  // Finding
  void search();
  void showMatch(int index);

  QString toolTipAt(const QPoint& position) const;
  QString nodeTip(int position) const;
  QString wireTip(const Hit& hit) const;
  QString groupTip(const Hit& hit) const;
  QString valueLine(const graph::Value& value) const;
  /// In the lens, what is seen there.
  Point toScene(QPointF viewportPoint) const;
  Hit hitAt(QPointF viewportPoint) const;

  GraphView* q;
  Theme theme;
  ScenePainter painter;
  graph::GraphVersion graph;
  QString name;
  std::unordered_set<NodeId> edited;
  std::vector<int> editedBefore;
  Bindings bindings{{kTokens, 1}, {kSequences, 1}, {kOutputs, 1}};
  Drawing drawing;
  std::shared_ptr<const Arrangement> arrangement = std::make_shared<const Arrangement>();
  PagePlan plan;
  PageModel pages;
  EditedNodes edits;
  QTimer settled;        // after the view's size has changed
  std::string litLayer;  // one of the shape that is lit; empty: none is
  int litShape = -1;
  std::unordered_set<std::string> open, onceOpened;
  bool everShown = false, touched = false;  // touched: the person moved the camera
  bool fitted = false;                      // all of it is seen, and is to be when the view's size changes
  HeatModel heat;
  PlaceModel places;
  Marks marks;
  Selected selected;  // the last chosen, which the inspector shows
  std::vector<Selected> alsoSelected;
  std::vector<NodeId> lit;
  std::unordered_set<std::string> openedNodes;
  std::unordered_map<NodeId, double> shares;  // of what is in those
  Detail detail = Detail::near;
  bool blocks = false;  // layers of a page are
  double scale = 1;

  struct Lens {
    int group = -1;
    double scale = 1;  // that was asked for
    bool pinned = false, held = false;
  };
  /// Layers on their way to other cells.
  struct Motion {
    std::vector<Point> from;  // by layer: how far it has to go, in the scene
    QVariantAnimation run;
  };
  Motion motion;
  std::unordered_map<std::string, QPointF> layersOnScreen() const;
  void beginMotion(bool wasPaged, const std::unordered_map<std::string, QPointF>& seen);

  std::optional<Lens> lens;
  std::optional<QPointF> pointer;  // in the viewport
  QTimer lensRest;
  QVariantAnimation lensFade;

  struct Anchor {
    std::string scope;
    NodeId node;
    QPointF screen;
  };
  std::optional<Anchor> anchor;
  std::optional<std::pair<NodeId, std::string>> revealAfter;

  QString needle;
  std::vector<Match> matches;
  int match = -1;
  std::unordered_set<std::string> openedByFind;

  bool running = false, reducedMotion = false, dragging = false, pressed = false;
  bool pansNow = true, spaceHeld = false, spaceUsed = false;  // what a drag does
  QPoint pressedAt, lastDrag;
  QElapsedTimer clock;
  QTimer repaint, bar;
  qint64 repaintedAt = 0;
  QVariantAnimation camera, fade;
  double cameraScale[2] = {1, 1};
  QPointF cameraCentre[2];
  QPixmap faded;

  Parts parts = Part::minimap | Part::strip | Part::step | Part::lens;
  GraphStrip* strip;
  StepStrip* step;
  KeyHints* hints;
  DivergenceCard* divergenceCard;
  std::optional<Divergence> divergence;
  std::unique_ptr<GraphEditor> editor;
  std::unique_ptr<LayoutWorker> worker;  // last: stops before the rest goes
};

}  // namespace orrery::ui
