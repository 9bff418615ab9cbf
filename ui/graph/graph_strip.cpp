#include "ui/graph/graph_strip.h"

#include <QPainter>
#include <algorithm>

namespace orrery::ui {

GraphStrip::GraphStrip(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      legend_(new Legend(theme, this)),
      shapes_(new ShapeList(theme, this)),
      marks_(new MarkLegend(theme, this)),
      devices_(new DeviceLegend(theme, this)),
      wires_(new WireLegend(theme, this)),
      minimap_(new Minimap(theme, this)) {
  setAccessibleName(tr("Legend"));
}

void GraphStrip::setTheme(const Theme& theme) {
  theme_ = theme;
  for (StripSection* section : {static_cast<StripSection*>(legend_), static_cast<StripSection*>(shapes_),
                                static_cast<StripSection*>(marks_), static_cast<StripSection*>(devices_),
                                static_cast<StripSection*>(wires_), static_cast<StripSection*>(minimap_)})
    section->setTheme(theme);
  place();
}

void GraphStrip::setMinimapShown(bool shown) {
  minimapShown_ = shown;
  place();
}

void GraphStrip::setPaged(bool paged) {
  paged_ = paged;
  marks_->setPaged(paged);
  place();
}

void GraphStrip::place() {
  int left = width();
  const auto take = [&left](QWidget* section, int wanted, bool asked) {
    const bool shown = asked && wanted <= left;
    section->setVisible(shown);
    if (shown) left -= wanted;
    return shown ? wanted : 0;
  };
  // By what a person misses first.
  const int legend = take(legend_, legend_->sizeHint().width(), true);
  const int minimap = take(minimap_, minimap_->sizeHint().width(), minimapShown_);
  const int devices = take(devices_, devices_->sizeHint().width(), devices_->tellsAnything());
  const int wires = take(wires_, wires_->sizeHint().width(), wires_->tellsAnything());
  int shapes = take(shapes_, shapes_->minimumSizeHint().width(), paged_);
  const int marks = take(marks_, marks_->sizeHint().width(), true);
  if (shapes > 0) shapes += std::min(left, std::max(0, shapes_->sizeHint().width() - shapes));
  int x = 0;
  const std::pair<QWidget*, int> row[] = {
      {legend_, legend}, {shapes_, shapes}, {marks_, marks}, {devices_, devices}, {wires_, wires}};
  for (const auto& [section, taken] : row) {
    section->setGeometry(x, 0, taken, height());
    x += taken;
  }
  minimap_->setGeometry(width() - minimap, 0, minimap, height());
  update();
}

void GraphStrip::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme_(Token::panel));
  painter.setPen(theme_(Token::border));
  const double top = theme_.scaled(12), foot = theme_.scaled(84);
  for (const QWidget* section :
       {static_cast<QWidget*>(shapes_), static_cast<QWidget*>(marks_), static_cast<QWidget*>(devices_),
        static_cast<QWidget*>(wires_), static_cast<QWidget*>(minimap_)})
    if (section->isVisible() && section->x() > 0)
      painter.drawLine(QPointF(section->x() + 0.5, top), QPointF(section->x() + 0.5, foot));
}

void GraphStrip::resizeEvent(QResizeEvent*) { place(); }

}  // namespace orrery::ui
