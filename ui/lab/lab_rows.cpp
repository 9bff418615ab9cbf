#include "ui/lab/lab_rows.h"

#include <algorithm>

namespace orrery::ui {
namespace {

LabMark markOf(const api::LabVersion& version, bool stored) {
  if (!version.refused.empty()) return LabMark::off;
  if (!version.ok) return LabMark::wrong;
  return stored ? LabMark::off : LabMark::verified;
}

/// Those of the run that goes on, as they are asked for.
std::vector<std::string> comingRows(const LabController& labs, const std::string& device) {
  const api::LabKernel* kernel = labs.kernel(labs.runningKernel());
  if (!kernel) return {};
  return device == "cpu" ? kernel->cpu : kernel->cuda;
}

/// As a plan asks them.
std::vector<LabRow> rowsOf(const api::LabRun& run, bool stored) {
  std::vector<LabRow> rows;
  for (const api::LabVersion& version : run.versions) {
    const bool timed = version.us > 0;
    rows.push_back({0, version.name, run.device, "", markOf(version, stored), version,
                    timed && (run.disturbed() || version.unsteady()), stored});
  }
  return rows;
}

}  // namespace

std::vector<LabRow> labRows(const LabController& labs, const std::string& kernel) {
  std::vector<LabRow> rows;
  const std::vector<api::LabRun>& runs = labs.runs(kernel);
  const bool running = labs.running() && labs.runningKernel() == kernel;
  const api::LabKernel* known = labs.kernel(kernel);
  std::vector<std::string> devices;
  for (const api::LabRun& run : runs) devices.push_back(run.device);
  if (running && std::ranges::find(devices, labs.device()) == devices.end()) devices.push_back(labs.device());
  for (const std::string& device : devices) {
    std::vector<LabRow> some;
    if (const auto run = std::ranges::find(runs, device, &api::LabRun::device); run != runs.end())
      some = rowsOf(*run, labs.stored(kernel));
    if (running && device == labs.device()) {
      std::vector<LabRow> whole;
      for (const std::string& name : comingRows(labs, device)) {
        const auto done = std::ranges::find(some, name, &LabRow::name);
        whole.push_back(done == some.end() ? LabRow{0, name, device} : *done);
        if (name == labs.row()) whole.back().mark = LabMark::timing;
      }
      some = std::move(whole);
    }
    if (!known || !known->steps) std::ranges::reverse(some);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  for (LabRow& row : rows)
    if (known)
      if (const auto library = known->libraries.find(row.name); library != known->libraries.end())
        row.library = library->second;
  std::ranges::stable_partition(rows, [](const LabRow& row) { return !row.isRival(); });
  for (size_t i = 0; i < rows.size(); ++i) rows[i].number = static_cast<int>(i) + 1;
  return rows;
}

double bestShare(const std::vector<LabRow>& rows) {
  double best = 0;
  for (const LabRow& row : rows)
    if (row.timed()) best = std::max(best, row.version->share_of_limit);
  return best;
}

QString iconOf(LabMark mark) {
  switch (mark) {
    case LabMark::waiting:
      return {};
    case LabMark::verified:
      return QStringLiteral("check");
    case LabMark::timing:
      return QStringLiteral("play");
    case LabMark::off:
      return QStringLiteral("minus");
    case LabMark::wrong:
      return QStringLiteral("error");
  }
  return {};
}

Token tokenOf(LabMark mark) {
  switch (mark) {
    case LabMark::verified:
      return Token::ok;
    case LabMark::timing:
      return Token::accent;
    case LabMark::wrong:
      return Token::error;
    case LabMark::waiting:
    case LabMark::off:
      break;
  }
  return Token::text3;
}

QString wordOf(LabMark mark) {
  switch (mark) {
    case LabMark::waiting:
      return QStringLiteral("waiting");
    case LabMark::verified:
      return QStringLiteral("verified");
    case LabMark::timing:
      return QStringLiteral("timing");
    case LabMark::off:
      return QStringLiteral("not run here");
    case LabMark::wrong:
      return QStringLiteral("wrong");
  }
  return {};
}

}  // namespace orrery::ui
