// Pages of columns on sheets of paper: how large, how many columns on each, what is written around them.
#pragma once

#include <QPainter>
#include <QString>
#include <vector>

#include "ui/graph/page_model.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// Of a sheet in landscape, in pixels of 96 to the inch.
struct SheetSize {
  double width = 0, height = 0;
  static constexpr double kMargin = 34, kTitle = 26, kLegend = 96;
  double roomWide() const { return width - 2 * kMargin; }
  double roomHigh() const { return height - 2 * kMargin - kTitle - kLegend; }
};

/// All columns of a page, and how many of them go on a sheet.
struct SheetPlan {
  int columns = 1, perSheet = 1;
  double scale = 1;
};

/// One sheet where its words can be read, else as many columns a sheet as have room.
SheetPlan planSheets(const PageMeasure& measure, const SheetSize& sheet);

/// Where the stream leaves a sheet and comes onto the next one: "to layers.40", "from layers.39".
void paintLeaving(QPainter& painter, const Theme& theme, const PageModel& model, const PagePlace& page,
                  int column, double scale);
void paintArriving(QPainter& painter, const Theme& theme, const PageModel& model, const PagePlace& page,
                   int column, double scale);

}  // namespace orrery::ui
