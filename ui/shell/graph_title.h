// What is drawn, in the bar over the graph: the model and how much of it is open, or where in it the person
// is.
#pragma once

#include "ui/graph/breadcrumb.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class GraphTitle : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit GraphTitle(const Theme& theme, QWidget* parent = nullptr);

  void setPlace(const QStringList& parts, const QStringList& scopes);
  /// "30 layers, 244 nodes, all open"
  void setSummary(const QString& summary);
  void setTheme(const Theme& theme) override;
  QSize minimumSizeHint() const override { return {0, 0}; }

 signals:
  /// Empty: the whole model.
  void scopeAsked(const QString& scope);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void place();

  Theme theme_;
  Breadcrumb* place_;
  Text* summary_;
  bool inside_ = false;
};

}  // namespace orrery::ui
