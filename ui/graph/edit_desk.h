// What the editor and its gestures share: the view's drawing, drafts and cards, and the steps from a gesture
// to an edit. Only the editor's files include this.
#pragma once

#include <QTimer>

#include "ui/graph/arrangement.h"
#include "ui/graph/edit_cards.h"
#include "ui/graph/edit_layer.h"
#include "ui/graph/gesture.h"
#include "ui/graph/graph_editor.h"
#include "ui/graph/graph_view_private.h"
#include "ui/graph/inline_field.h"
#include "ui/graph/op_fit.h"
#include "ui/graph/pick_palette.h"
#include "ui/graph/selection_bar.h"
#include "ui/graph/source_words.h"

namespace orrery::ui {

inline constexpr double kHitPort = 12, kSnap = 24;  // pixels on the screen

/// A place for a node that is to be chosen, and what it will be connected to.
struct InsertSpot {
  Point at;                         // scene coordinates: the middle of its top
  std::string scope;                // that it will be in
  std::optional<Port> giver;        // that it reads
  std::vector<graph::Use> readers;  // that read it instead of what they read
  bool rewires = false;             // all readers of what the giver gives do
};

/// What was refused, until the next edit.
struct RefusedTry {
  std::vector<Point> wire;   // that was tried; may be empty
  std::optional<Port> port;  // that refused it
  Rect box;                  // of the thing that it is about
};

struct EditDesk {
  EditDesk(GraphEditor* editor, GraphView* view);

  // Where things are.
  Point toScene(QPointF position) const { return view->toScene(position); }
  QPointF toView(Point point) const;
  double reach(double pixels) const { return pixels / view->scale; }
  bool near() const { return view->detail == Detail::near; }
  Hit hitAt(QPointF position) const;
  std::vector<Port> portsNear(Point point, double reach) const;
  std::optional<Port> portAt(QPointF position) const;
  std::vector<Port> portsOfDraft(const Draft& draft) const;
  Rect boxOfDraft(const Draft& draft) const;
  const Draft* draftAt(Point point) const;
  /// The innermost open group around a point: its index, 0 on the ground.
  int groupAt(Point point) const;
  std::string scopeAt(Point point, const std::string& otherwise) const;
  std::vector<Rect> boxesAround(const Rect& area) const;
  /// The place of a node's top that is nearest below where nothing is drawn.
  Point freeBelow(Point top) const;
  std::vector<Point> routeTo(const Port& from, Point to, const Port* target) const;

  // What is chosen.
  std::vector<std::string> chosenPaths() const;
  /// After the selection or the drawing changed: looks chosenThings up, which every frame asks for.
  void findChosen();
  size_t chosenCount() const;
  std::optional<Rect> boundsOf(const std::vector<Hit>& things) const;
  QString chosenName() const;

  // From a gesture to an edit.
  const graph::Graph* model() const { return modelVersion().get(); }
  graph::GraphVersion modelVersion() const { return ownModel ? ownModel : view->graph; }
  const OpFitter& fitter() const;
  std::string valueOf(const Port& giver) const;
  std::optional<graph::ValueType> typeOf(const Port& giver) const;
  std::optional<graph::ValueType> takenBy(const Port& reader) const;
  Result<void> canConnect(const Port& giver, const Port& reader) const;
  EditRequest connecting(const Port& giver, const Port& reader, const std::optional<Port>& moved) const;
  void connect(const Port& giver, const Port& reader, const std::optional<Port>& moved);
  void ask(EditRequest request, const Rect& about);
  void consider(const EditRequest& request);
  void leaveConsidered();
  void refuse(Refusal refusal, RefusedTry tried);
  Refusal refusalOfWire(const Port& giver, const Port& reader, const Error& error) const;
  void forgetRefusal();
  bool mayEdit();

  // Nodes that are put down.
  void openPalette(InsertSpot spot, QPointF at);
  void openValues(const Port& reader, QPointF at);
  void pick(const QString& key, bool connected);
  Draft draftFor(const graph::OpSchema& op, const InsertSpot& spot, bool connected) const;
  void putDown(Draft draft, Point middleOfTop);
  void putSource(const std::string& op, const InsertSpot& spot);
  void askSource(SourceRequest made, const InsertSpot& spot);
  void tryDraft(int draft);
  void put(const std::string& scope, const std::string& path, Rect scene);
  std::optional<InsertSpot> spotOnWire(const Hit& wire, Point at) const;
  Picks picksFor(const InsertSpot& spot) const;

  // Cards and fields.
  void annotate();
  void tellLegend() const;
  void placeCards();
  void showWireCard();
  WireFacts factsOf(ValueId value, const QString& ends) const;
  QString portWords(const Port& port) const;
  void edit(const Rect& box, const QString& text, InlineField::Kind kind,
            std::function<void(const QString&)> done);
  void update() const { view->q->viewport()->update(); }
  void begin(std::unique_ptr<Gesture> next);

  // Ports by keyboard.
  bool walkPorts(int key);
  bool pressPort();
  std::vector<Port> walkablePorts() const;
  void wireByKeys(const Port& to);

  GraphEditor* q;
  GraphView::Private* view;
  std::optional<EditCalls> calls;
  QString whyReadOnly;
  graph::GraphVersion ownModel, settled;       // settled: that the drafts were brought up to date with
  mutable std::unique_ptr<OpFitter> opFitter;  // of modelVersion()
  Drafts drafts;
  int chosenDraft = 0;
  EditLayer layer;
  std::unique_ptr<Gesture> gesture;
  QPointF pointer;
  bool cutting = false;

  std::vector<FrameMark> frames;
  std::vector<NoteMark> notes;
  std::vector<NodeId> pending;
  DiffPtr diff;
  WireChanges changes;
  ChangeWords words;
  bool byType = false;
  std::function<QString(ValueId)> rangeOf;

  std::vector<Hit> chosenThings;
  std::vector<Port> hoverPorts, chosenPorts;
  std::optional<Port> hoverPort, focusPort, wireFrom;  // focusPort, wireFrom: by keyboard
  std::optional<RefusedTry> tried;
  std::optional<InsertSpot> spot;  // of the palette
  std::optional<Hit> dropWire;     // that a dragged op is over
  std::optional<Port> valueFor;    // the palette chooses a value for it
  Rect askedAbout;
  QString askedName;
  std::vector<std::pair<std::string, std::string>>
      askedPuts;  // group and path of what an asked edit will make
  bool considered = false;

  RefusalCard* refusalCard;
  WireCard* wireCard;
  PickPalette* palette;
  InlineField* field;
  SelectionBar* bar;
  QTimer wireTimer, scrollTimer;
  Hit wireHit;
  std::function<void(const QString&)> fieldDone;
};

// The gestures.
std::unique_ptr<Gesture> wireDrag(EditDesk& desk, const Port& fixed, const std::optional<Port>& moved);
std::unique_ptr<Gesture> nodeDrag(EditDesk& desk, std::vector<Hit> things, Point grabbed);
std::unique_ptr<Gesture> draftDrag(EditDesk& desk, int draft, Point grabbed);
std::unique_ptr<Gesture> noteDrag(EditDesk& desk, NodeId node, Point grabbed);
std::unique_ptr<Gesture> marquee(EditDesk& desk, Point from, Qt::KeyboardModifiers keys);
std::unique_ptr<Gesture> cutStroke(EditDesk& desk, Point from);

/// What a thing that is drawn, or a draft, would do on a wire; with the edits, or why not.
struct OnWire {
  EditRequest request;
  std::optional<Error> refusal;
};
OnWire onWire(const EditDesk& desk, const Hit& thing, const Hit& wire);

}  // namespace orrery::ui
