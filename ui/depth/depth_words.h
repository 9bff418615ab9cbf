// Depths as a person types and reads them, and what was measured at them as a file.
#pragma once

#include <QString>
#include <vector>

#include "ui/session/depth_controller.h"

namespace orrery::ui {

inline constexpr const char* kFirstDepths = "1000, 3000, 10000, 30000, 100000";

/// "1000, 10k": rising, each once. Refused: what is no number from 1 to 1048576.
Result<std::vector<int64_t>> depthsOf(const QString& words);
/// "1000, 10000"
QString wordsOf(const std::vector<int64_t>& depths);
/// A line of names, then one a point, side by side.
QByteArray depthsCsv(const std::vector<DepthCurve>& curves);

/// Where an axis from `low` to `high` has numbers: powers of ten, and in few decades 2 and 5 times them.
std::vector<double> axisTicks(double low, double high);
/// The least and the most of an axis about values: a decade or more, so that what is flat looks flat.
std::pair<double, double> axisRange(double low, double high);

}  // namespace orrery::ui
