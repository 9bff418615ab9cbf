#include "ui/widgets/ground_scroll.h"

#include "ui/widgets/themed.h"

namespace orrery::ui {

GroundScroll::GroundScroll(const Theme& theme, Token ground, QWidget* parent) : QScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* content = new Ground(theme, ground);
  column_ = new QVBoxLayout(content);
  column_->setContentsMargins(0, 0, 0, 0);
  setWidget(content);
}

}  // namespace orrery::ui
