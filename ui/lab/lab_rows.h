// The rows of a kernel as they are shown: slow to fast by the plan's order, or the steps of a ladder in
// theirs, numbered alike in table, plot and bars, those that are still to come among them.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "ui/session/lab_controller.h"
#include "ui/theme/theme.h"

namespace orrery::ui {

/// waiting: its turn comes; off: refused, not run, or a time of an earlier start.
enum class LabMark { waiting, verified, timing, off, wrong };

struct LabRow {
  int number = 0;  // from 1
  std::string name, device;
  std::string library = {};  // it calls that one, and is the rival of the steps; empty: it is a step
  LabMark mark = LabMark::waiting;
  std::optional<api::LabVersion> version = {};
  bool busy = false;    // the machine was, while it was timed
  bool stored = false;  // of an earlier start

  bool timed() const { return version && version->us > 0; }
  /// What all are held against: no step of a ladder, wherever it stands.
  bool isReference() const { return name == "cpu.reference"; }
  bool isRival() const { return !library.empty(); }
  bool onCard() const { return device != "cpu"; }
  Token token() const { return onCard() ? Token::cuda : Token::cpu; }
};

/// Of what is shown of the kernel, a device after another; rivals come last, so that the steps' numbers go
/// on.
std::vector<LabRow> labRows(const LabController& labs, const std::string& kernel);
/// The best share of its limit; 0: none is known.
double bestShare(const std::vector<LabRow>& rows);

/// The icon of resources/icons that stands for it, and its colour; empty: none.
QString iconOf(LabMark mark);
Token tokenOf(LabMark mark);
/// "verified", "timing".
QString wordOf(LabMark mark);

}  // namespace orrery::ui
