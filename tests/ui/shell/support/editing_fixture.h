// The window on the real engine and the default model, with hands: presses, drags and keys on the model
// graph, at the places where things are drawn.
#pragma once

#include <QTest>

#include "support/real_services.h"
#include "support/window_fixture.h"
#include "ui/graph/edit_cards.h"
#include "ui/graph/graph_editor.h"
#include "ui/graph/inline_field.h"
#include "ui/graph/pick_palette.h"
#include "ui/graph/selection_bar.h"

namespace orrery::ui::testing {

/// Nodes of the default model that gestures go to.
inline constexpr const char* kMul = "layers.0.mlp.gate";
inline constexpr const char* kGate = "layers.0.mlp.gate_proj";

class EditingTest : public WindowTest {
 protected:
  void SetUp() override;
  void open(ThemeChoice theme);

  GraphView* view() const { return window_->graphPage()->modelView(); }
  GraphEditor* editor() const { return view()->editor(); }
  QWidget* ground() const { return view()->viewport(); }
  graph::GraphVersion model() const { return window_->session()->session()->model_graph(); }
  NodeId node(const QString& path) const { return model()->find_path(path.toStdString()); }
  /// "insert as=... ; connect ..."
  QString recipe() const;
  bool recipeBecomes(const QString& words);
  /// Nothing is under way any more, and all is drawn.
  void settle();
  /// Brings a node or a scope into view at 100 %.
  void bring(const QString& thing);

  /// Where a node's port is, in the view.
  QPoint portAt(const QString& node, const QString& port);
  /// Of the whole box.
  QRect boxOf(const QString& node);
  /// On the words of the box, aside of its ports.
  QPoint wordsOf(const QString& node) { return boxOf(node).topLeft() + QPoint(40, 12); }
  /// On the wire that arrives at the port, so many pixels before its end.
  QPoint wireAt(const QString& node, const QString& port, int before = 14);
  /// Where nothing is drawn, below `around`.
  QPoint free(const QString& around);

  void press(QPoint at, Qt::KeyboardModifiers keys = {});
  void moveTo(QPoint at, Qt::KeyboardModifiers keys = {});
  void release(QPoint at, Qt::KeyboardModifiers keys = {});
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers keys = {});
  void click(QPoint at, Qt::KeyboardModifiers keys = {});
  void key(Qt::Key key, Qt::KeyboardModifiers keys = {});
  void type(QWidget* field, const QString& text);
  void focus();
  /// In the dark theme and, with "-light" after the name, in the light one; what is under way goes on.
  void takePictures(const QString& name);

  std::unique_ptr<MainWindow> window_;
};

}  // namespace orrery::ui::testing
