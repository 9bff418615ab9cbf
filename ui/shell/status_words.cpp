#include "ui/shell/status_words.h"

#include <unistd.h>

#include <algorithm>

#include "ui/frame/device_in_use.h"
#include "ui/frame/workspace.h"
#include "ui/placement/precision_menu.h"
#include "ui/session/compare_controller.h"
#include "ui/session/model_title.h"
#include "ui/session/model_use.h"
#include "ui/session/second_device.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

double machineMemory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? static_cast<double>(pages) * static_cast<double>(size) : 0;
}

QString stateText(const SessionController& session) {
  switch (session.state()) {
    case RunState::prefill:
      return "Running, prefill";
    case RunState::decode:
      return "Running, decode";
    case RunState::classify:
      return "Classifying";
    case RunState::stopping:
      return "Stopping";
    case RunState::idle:
      break;
  }
  if (session.loading()) return "Loading " + session.loadingName();
  if (!session.session()) return "No model";
  return runs(session.session()->info()) ? "Ready" : "To look at, not to run";
}

QString cpuWords(const api::MachineLimits& limits) {
  QString words = "CPU";
  if (limits.threads > 0) words += ", " + format::counted(limits.threads, "thread");  // 0: nothing runs
  return limits.cpu.empty() ? words : words + ", " + QString::fromStdString(limits.cpu);
}

/// "CUDA 0, NVIDIA H200, 1 980 MHz, 320 W, 41 °C": what the card does not say is left out.
QString deviceWords(const DeviceLine& device) {
  const api::DeviceVitals& vitals = device.vitals;
  QStringList words{device.title, device.name};
  if (vitals.clock_mhz > 0) words += format::count(qRound64(vitals.clock_mhz)) + " MHz";
  if (vitals.power_watts > 0) words += format::count(qRound64(vitals.power_watts)) + " W";
  if (vitals.celsius > 0) words += format::count(qRound64(vitals.celsius)) + QStringLiteral(" °C");
  return words.join(", ");
}

/// "CUDA 0, ... + CUDA 1, ...".
QString devicesWords(const std::vector<DeviceLine>& devices) {
  QStringList words;
  for (const DeviceLine& device : devices) words += deviceWords(device);
  return words.join(" + ");
}

/// What the figure counts. `device` is that of the model; `cards` are all that it uses.
QString memoryWords(const Vitals& vitals, const std::string& device, const std::vector<DeviceLine>& cards) {
  const auto bytes = [](uint64_t value) { return format::bytes(static_cast<double>(value)); };
  const api::MemoryUse& use = vitals.memory;
  const QString parts = QString("weights %1, context %2, scratch %3")
                            .arg(bytes(use.weights), bytes(use.kv_cache), bytes(use.scratch));
  QString words = device == "cpu"
                      ? QString(
                            "Memory that this program holds, the window and all models together, of "
                            "this machine's.\nThe drawn model: %1")
                            .arg(parts)
                      : QString(
                            "Memory that the drawn model holds: %1.\n"
                            "This program holds %2 of this machine's.")
                            .arg(parts, bytes(use.program));
  for (const DeviceLine& card : cards)
    words += QString("\nOn %1 all programs together hold %2 of %3")
                 .arg(card.title, bytes(card.vitals.memory_used), bytes(card.vitals.memory_total));
  return words;
}

/// What the window's state is told of: the drawn model, unless only the other one does something.
const SessionController& busyOf(const Workspace& work) {
  const SessionController &drawn = *work.drawn(),
                          &other = &drawn == work.session() ? *work.classifier() : *work.session();
  const auto busy = [](const SessionController& source) { return source.running() || source.loading(); };
  return busy(other) && !busy(drawn) ? other : drawn;
}

QString stateWords(const Workspace& work) {
  if (work.comparison()->running()) return "Comparing";
  const SessionController& busy = busyOf(work);
  const QString state = stateText(busy);
  return &busy != work.drawn() && busy.running() ? busy.title() + ": " + state.toLower() : state;
}

QString editWords(const SessionController& source) {
  const auto edits = static_cast<qint64>(source.recipe().size());
  if (edits == 0) return "no edits";
  return format::counted(edits, "edit") + (source.unsaved() ? ", not saved" : "");
}

QString machineWords(const Workspace& work, const api::Session& session,
                     const std::vector<DeviceLine>& used) {
  const bool device = session.options().device != "cpu";
  QString words = device ? devicesWords(used) : cpuWords(session.limits());
  if (device && used.empty()) words = deviceTitle(session.options().device);
  if (!device && !used.empty()) words += " + " + devicesWords(used);
  const SessionPtr second = work.both()->second()->session();
  if (device && second && work.drawn() == work.session()) words += " + " + cpuWords(second->limits());
  return words;
}

}  // namespace

/// "balanced"; with how many nodes are asked for another.
QString StatusWords::precisionOf(const api::Session& session) {
  const graph::GraphVersion model = session.model_graph();
  if (!model) return modelPrecision(session);
  if (counted_.lock() == model && usual_ == session.options().precision) return precision_;
  counted_ = model;
  usual_ = session.options().precision;
  const std::string_view common = common_precision(*model);
  const auto others = std::count_if(model->order().begin(), model->order().end(), [&](NodeId id) {
    return !model->node(id).is_source() && precision_of(model->node(id)) != common;
  });
  precision_ = modelPrecision(session);
  if (others > 0) precision_ += ", " + format::counted(others, "node") + " otherwise";
  return precision_;
}

StatusFacts StatusWords::factsOf(const Workspace& work) {
  const SessionController& drawn = *work.drawn();
  StatusFacts facts;
  facts.state = stateWords(work);
  facts.live = work.running() || work.session()->loading() || work.classifier()->loading();
  const SessionPtr session = drawn.session();
  if (!session) return facts;
  const api::ModelInfo& info = session->info();
  const Vitals vitals = drawn.vitals();
  const bool device = session->options().device != "cpu";
  const std::vector<DeviceLine> used = devicesShown(work);
  facts.model = drawn.title() + "  " + QString::fromStdString(info.main_dtype);
  facts.edited = !drawn.recipe().empty();
  facts.edits = editWords(drawn);
  if (runs(info)) facts.precision = precisionOf(*session);
  facts.machine = machineWords(work, *session, used);
  const auto home = std::find_if(used.begin(), used.end(), [&](const DeviceLine& line) {
    return line.vitals.device == session->options().device;
  });
  const double of_card = home == used.end() ? 0 : static_cast<double>(home->vitals.memory_total);
  const double all = device ? of_card : machineMemory();
  facts.memory =
      format::bytes(static_cast<double>(device ? vitals.memory.session() : vitals.memory.program)) + " / " +
      format::bytes(all);
  facts.memoryTip = memoryWords(vitals, session->options().device, used);
  if (const ProfilePtr profile = drawn.profile(api::Phase::decode); profile && profile->per_second() > 0)
    facts.speed = format::rate(profile->per_second(), "tok/s");
  const int64_t limit = info.memory.context > 0 ? info.memory.context : info.context_length;
  if (writesText(info))
    facts.context = "context " + format::count(vitals.contextUsed) + " / " + format::count(limit);
  facts.profiler = work.profiled() ? "profiler " + format::percent(vitals.overheadShare) : "profiler off";
  return facts;
}

}  // namespace orrery::ui
