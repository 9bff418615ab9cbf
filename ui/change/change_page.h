// What the edit that is considered will change: while a wire is dragged, an op is chosen, a form is filled
// in.
#pragma once

#include "ui/change/change_card.h"
#include "ui/widgets/text.h"

namespace orrery::ui {

class ChangePage : public QWidget, public Themed {
  Q_OBJECT
 public:
  explicit ChangePage(const Theme& theme, QWidget* parent = nullptr);

  /// An edit is considered; what it will change is not known yet, and what is shown stays.
  void ask(const std::vector<edit::Edit>& edits);
  void show(const graph::Graph& graph, const std::vector<edit::Edit>& edits, const api::Preview& preview,
            bool writes);
  /// Nothing is considered.
  void clear();
  QString title() const { return title_->text(); }
  const ChangeCard* card() const { return card_; }
  const RefusalCard* refusal() const { return refusal_; }
  void setTheme(const Theme& theme) override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  Theme theme_;
  Text *title_, *hint_;
  ChangeCard* card_;
  RefusalCard* refusal_;
};

}  // namespace orrery::ui
