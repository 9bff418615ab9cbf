// The ops by family, with their help: dragged onto the drawing, or put down by Enter.
#pragma once

#include <QTreeView>
#include <QWidget>

#include "ui/ops/ops_model.h"
#include "ui/widgets/search_field.h"

namespace orrery::ui {

class OpsPage : public QWidget, public Themed {
  Q_OBJECT
 public:
  OpsPage(const Theme& theme, QWidget* parent = nullptr);
  void setOps(const std::vector<graph::OpPtr>& ops);
  /// The key that opens the palette.
  void setPaletteKey(const QString& key) { field_->setKey(key); }
  SearchField* field() const { return field_; }
  QTreeView* tree() const { return tree_; }
  OpsModel* model() const { return model_; }
  void setTheme(const Theme& theme) override;

 signals:
  void opAsked(const QString& op);
  void countChanged(int ops);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void narrow(const QString& typed);

  SearchField* field_;
  OpsModel* model_;
  QTreeView* tree_;
};

}  // namespace orrery::ui
