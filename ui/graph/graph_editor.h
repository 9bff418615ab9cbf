// Editing by hand on a drawing: ports and wires, the palette of ops, cutting, copying, frames, notes, places.
// Asks for edits and changes no graph; what is not complete yet lives here as drafts. A view whose graph is
// only to be looked at says so.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "ui/graph/annotations.h"
#include "ui/graph/drafts.h"
#include "ui/graph/edit_words.h"
#include "ui/graph/graph_diff.h"
#include "ui/graph/ports.h"

class QDropEvent;
class QKeyEvent;
class QMouseEvent;
class QPainter;

namespace orrery::ui {

class GraphView;
class InlineField;
class PickPalette;
class RefusalCard;
class SelectionBar;
class Theme;
class WireCard;
struct EditDesk;

class GraphEditor : public QObject {
  Q_OBJECT
 public:
  explicit GraphEditor(GraphView* view);
  ~GraphEditor() override;

  /// What can be asked of an edit before it is made. Without: the graph is only looked at, for this reason.
  void setCalls(const EditCalls& calls);
  void setReadOnly(const QString& reason);
  bool editable() const;
  /// The graph that edits are made of, where more is drawn.
  void setModel(graph::GraphVersion model);
  /// What edits changed since the model was opened; null: it is not told.
  void setDiff(DiffPtr diff);
  const WireChanges* wireChanges() const;
  /// Written on nodes that edits made otherwise than they were.
  void setChangeWords(ChangeWords words);
  const ChangeWords* changeWords() const;
  /// Wires in the colours of what they carry.
  void setWiresByType(bool on);
  bool wiresByType() const;
  /// Keys and what they do, written at the upper right.
  void setHints(std::vector<std::pair<QString, QString>> hints);
  /// What edits that are not made yet would touch.
  void setPending(std::vector<NodeId> nodes);
  const std::vector<NodeId>& pending() const;
  /// The last value's range of a value, where it is kept: "−3.1 … 4.8".
  void setRanges(std::function<QString(ValueId)> rangeOf);

  // What a person asks for by menus and keys, on what is chosen.
  void openPalette();
  void remove(bool reconnect);
  void copy();
  void cut();
  void paste(bool withInputs);
  void duplicate();
  void frame();
  void note();
  void rename();
  void chooseAll();
  /// What the chosen nodes make is a result of the graph, or no more.
  void output();
  /// Forgets what was dragged and kept.
  void arrange();
  /// Until the key is let go of, or Esc: a stroke cuts the wires that it crosses.
  void beginCut();
  bool canPaste() const;
  /// Puts a node of the op down in the middle of the view, as a drop of it does where the pointer is.
  void insert(const QString& op);

  /// The engine does not make what was asked for last; told on the drawing.
  void refuse(const Error& error);
  /// Of a node: why what it was to do failed.
  void showFailure(const QString& title, const Error& error, NodeId node);
  /// Of a model, to be kept with it; "" where nothing was put anywhere.
  QString arrangement() const;
  void setArrangement(const QString& text);
  /// The same in the file of a graph of one's own.
  api::Places filePlaces() const;
  void setFilePlaces(const api::Places& places);

  const std::vector<FrameMark>& frames() const;
  const std::vector<NoteMark>& notes() const;
  PickPalette* palette() const;
  RefusalCard* refusalCard() const;
  WireCard* wireCard() const;
  InlineField* field() const;
  SelectionBar* bar() const;
  const Drafts& drafts() const;
  /// The ports of a node, a folded group or a stack, in the view's coordinates.
  std::vector<std::pair<Port, QPointF>> portsAt(NodeId node) const;
  QRectF boxOfDraft(int draft) const;

  // Called by the view. True: it was the editor's.
  bool beginDrag(const QPoint& pressed, const QPoint& now, Qt::KeyboardModifiers keys);
  bool dragging() const;
  void drag(const QPoint& position, Qt::KeyboardModifiers keys);
  bool drop();
  bool click(const QPoint& position, Qt::KeyboardModifiers keys);
  bool doubleClick(const QPoint& position);
  void hover(const QPoint& position);
  void leave();
  bool keyPress(QKeyEvent* event);
  bool keyRelease(QKeyEvent* event);
  /// Whether Esc is the editor's now.
  bool busy() const;
  bool dragOver(QDropEvent* event);
  void dragLeft();
  bool dropped(QDropEvent* event);
  /// Nothing is drawn there, nor a wire near it.
  bool isFreeAt(const QPoint& position) const;
  void paint(QPainter& painter);
  void sceneChanged();
  /// Another model is drawn.
  void forget();
  void selectionChanged();
  void cameraMoved();
  void setTheme(const Theme& theme);

 signals:
  void editsAsked(const std::vector<orrery::edit::Edit>& edits, const QString& name);
  void editConsidered(const std::vector<orrery::edit::Edit>& edits);
  void editLeft();
  void bypassAsked();
  /// Of what is chosen: the menu of a notch.
  void originalMenuAsked(const QPoint& globalPos);
  void arrangementChanged();
  /// A word for the person: why a gesture does nothing.
  void noticed(const QString& words);

 private:
  friend struct EditDesk;
  void beginThingDrag(const QPoint& pressed, Point point, Qt::KeyboardModifiers keys);
  bool escape();
  void openPaletteAt(const QPoint& position, bool byKeys = false);
  void insertAt(const QString& op, QPointF position);
  void cutPort();
  void renameFrame(const FrameMark& mark);

  std::unique_ptr<EditDesk> d_;
};

}  // namespace orrery::ui
