// The samplers of a reply, one per row in the order in which they run: rows are dragged, or moved with Alt
// and the arrow keys, and those that are not checked do not run.
#pragma once

#include <QListWidget>

namespace orrery::ui {

class SamplerOrder : public QListWidget {
  Q_OBJECT
 public:
  explicit SamplerOrder(QWidget* parent = nullptr);

  /// As the sampling node writes it: "top_k,temperature".
  QString order() const;
  /// Those that are named come first, in that order and checked.
  void setOrder(const QString& order);

 signals:
  void changed();  // by the person

 protected:
  void showEvent(QShowEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void moveCurrent(int rows);
};

}  // namespace orrery::ui
