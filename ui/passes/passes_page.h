// The passes of the drawn model in the order they run: each is switched off and on, measured, and shows the
// nodes that it made.
#pragma once

#include "ui/passes/pass_row.h"
#include "ui/widgets/ground_scroll.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class PassesPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  PassesPage(const Theme& theme, PassGains* gains, QWidget* parent = nullptr);
  void setSource(SessionController* source);
  /// The row of that pass; null: there is none.
  PassRowView* row(const QString& pass) const;
  std::vector<PassRowView*> rows() const { return rows_; }
  Button* all() const { return all_; }
  /// Something else is chosen now.
  void leaveChoice();
  void setTheme(const Theme& theme) override;
  /// With room for the gains.
  QSize sizeHint() const override;

 signals:
  /// The nodes of the fused graph that the chosen pass made; none: no pass is chosen.
  void nodesLit(const std::vector<orrery::NodeId>& fused);
  void wordsChanged(const QString& words);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void refresh();
  PassRowView* addRow();
  void choose(const std::string& pass);
  void tellLit();

  Theme theme_;
  PassGains* gains_;
  SessionController* source_ = nullptr;
  Text* words_;
  Button* all_;
  PassHead* head_;
  GroundScroll* scroll_;
  Text* hint_;
  std::vector<PassRowView*> rows_;
  std::string chosen_;
  std::vector<NodeId> lit_;
};

}  // namespace orrery::ui
