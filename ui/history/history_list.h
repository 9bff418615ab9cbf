// The rows of the history: dots on a line, the state that is there now, times. A click or Enter goes to a
// state, the arrows walk.
#pragma once

#include <QListView>

#include "ui/history/history_model.h"
#include "ui/widgets/themed.h"

namespace orrery::ui {

class HistoryList : public QListView, public Themed {
  Q_OBJECT
 public:
  HistoryList(const Theme& theme, HistoryModel* model, QWidget* parent = nullptr);
  void setTheme(const Theme& theme) override;

 signals:
  void jumpAsked(int steps);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void jumpTo(const QModelIndex& index);
};

}  // namespace orrery::ui
