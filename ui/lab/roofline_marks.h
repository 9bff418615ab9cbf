// The rows in a roofline plot: squares of a card, circles of the CPU, each with its number.
#pragma once

#include <qcustomplot.h>

namespace orrery::ui {

class RooflinePlot;
struct RooflinePoint;

class RooflineMarks : public QCPLayerable {
  Q_OBJECT
 public:
  explicit RooflineMarks(RooflinePlot* plot);

 protected:
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
  void draw(QCPPainter* painter) override;

 private:
  void drawPublished(QCPPainter* painter) const;
  void drawRivals(QCPPainter* painter) const;
  void drawPoint(QCPPainter* painter, const RooflinePoint& point) const;

  RooflinePlot* plot_;
};

}  // namespace orrery::ui
