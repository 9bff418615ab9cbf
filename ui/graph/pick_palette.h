// A list to choose from that opens in the drawing: ops, or values for an input. Typing narrows it; what does
// not fit stands last and says why. Lies over the view and goes with the focus.
#pragma once

#include "engine/graph/op_schema.h"
#include "ui/widgets/search_popup.h"

namespace orrery::ui {

struct Pick {
  QString key, name, help;
  QString refusal;  // why it does not fit; empty: it does
  graph::OpFamily family = graph::OpFamily::custom;
};
using Picks = std::vector<Pick>;

/// The picks whose name, help or family hold all the words typed; those that begin with them first, and what
/// does not fit last.
class PickModel : public QAbstractListModel {
  Q_OBJECT
 public:
  using QAbstractListModel::QAbstractListModel;
  /// In the order in which they are best.
  void setPicks(Picks picks);
  void setWords(const QString& typed);
  /// Whether what does not fit stands last, or where it belongs.
  void setFiltered(bool filtered);
  bool filtered() const { return filtered_; }
  size_t fitting() const;
  const Picks& picks() const { return picks_; }
  const Pick& at(int row) const { return picks_[rows_[static_cast<size_t>(row)]]; }
  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  void rank();

  Picks picks_;
  QString typed_;
  bool filtered_ = true;
  std::vector<size_t> rows_;
};

class PickPalette : public SearchPopup {
  Q_OBJECT
 public:
  PickPalette(const Theme& theme, QWidget* view);

  /// `takes`: what is asked to fit: "[1, 576] f32"; empty: nothing, and no word of a filter.
  void open(Picks picks, const QString& placeholder, const QString& takes, const QPoint& at);
  using SearchPopup::leave;
  PickModel* model() const { return model_; }
  void setTheme(const Theme& theme) override;

 signals:
  /// `connected`: false with Alt, which leaves it unconnected.
  void chosen(const QString& key, bool connected);
  /// Would be chosen by Enter; empty: nothing.
  void considered(const QString& key);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void narrow() override;
  void take(const QModelIndex& row, Qt::KeyboardModifiers modifiers) override;

 private:
  void note();
  QRectF allOps() const;

  PickModel* model_;
  QString takes_;
};

}  // namespace orrery::ui
