// What limits a row, as far as its time and the roofs of its device tell: how near it comes to each of them,
// and how its calls and samples lie. Hardware counters are not read, as that takes privileges most programs
// lack.
#pragma once

#include "ui/lab/lab_rows.h"

namespace orrery::ui {

/// Bytes a second of the smallest cache that holds what a call moves; 0: none does.
double cacheSpeed(const api::LabRun& run);
/// Bytes a second of memory; 0: not known.
double memorySpeed(const api::LabRun& run);

struct LabLimits {
  struct Roof {
    QString name;  // "memory, 37.1 GB/s"
    double share = 0;
    bool nearest = false;
  };
  struct Fact {
    QString name, value;  // "flops a byte", "3.2"
  };
  std::vector<Roof> roofs = {};  // of reading, then of what it multiplies in
  QString verdict = {};          // a sentence
  bool far = false;              // from all of them
  std::vector<Fact> facts = {};
};

/// `before`: the row before it on its device; null: none. Empty where the row has no time.
LabLimits limitsOf(const LabRow& row, const api::LabRun& run, const LabRow* before);

}  // namespace orrery::ui
