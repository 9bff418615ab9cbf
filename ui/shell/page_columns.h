// How many columns an open run of layers goes in: one, so many, or as many as show it the largest.
#pragma once

#include "ui/graph/graph_view.h"
#include "ui/widgets/segmented.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class PageColumns : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit PageColumns(const Theme& theme, QWidget* parent = nullptr);

  /// What was asked for, 0 being Auto, and what is drawn; no columns: nothing that could be a page is open.
  void setShown(int columns, const GraphView::PageSize& size);
  /// In a narrow bar the choice has to do.
  void setBrief(bool brief);
  void setTheme(const Theme& theme) override;

 signals:
  void asked(int columns);

 private:
  enum Choice { one, wrap, automatic };

  Theme theme_;
  Text *caption_, *size_;
  Segmented* choice_;
  QMenu* numbers_;
  bool brief_ = false;
};

}  // namespace orrery::ui
