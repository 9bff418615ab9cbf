// The first node whose values differ between two sides: a card over the graph that names it and how far its
// values are apart. A click goes to the node.
#pragma once

#include <QAbstractButton>

#include "engine/base/ids.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

struct Divergence {
  NodeId node;   // of the graph that is drawn
  QString path;  // of the model graph
  double maxAbs = 0, nmse = 0, cosine = 1;
};

class DivergenceCard : public QAbstractButton {
  Q_OBJECT

 public:
  explicit DivergenceCard(const Theme& theme, QWidget* parent);
  void setTheme(const Theme& theme);
  void setDivergence(const Divergence& divergence);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent*) override;

 private:
  Theme theme_;
  Divergence shown_;
};

}  // namespace orrery::ui
