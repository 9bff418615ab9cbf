// What the window does with models: opens them, shows their graphs and figures, edits them.
#include <unistd.h>
#include <QFileInfo>

#include "ui/placement/scope_words.h"
#include "ui/session/model_use.h"
#include "ui/shell/graph_figures.h"
#include "ui/shell/main_window.h"
#include "ui/shell/openable.h"
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

/// What the figure counts. `card` is empty where the model runs on the CPU.
QString memoryWords(const Vitals& vitals, const QString& card) {
  const auto bytes = [](uint64_t value) { return format::bytes(static_cast<double>(value)); };
  const api::MemoryUse& use = vitals.memory;
  const QString parts = QString("weights %1, context %2, scratch %3")
                            .arg(bytes(use.weights), bytes(use.kv_cache), bytes(use.scratch));
  if (card.isEmpty())
    return QString(
               "Memory that this program holds, the window and all models together, of this machine's.\n"
               "The drawn model: %1")
        .arg(parts);
  return QString(
             "Memory of %1 that the drawn model holds: %2.\n"
             "All programs together hold %3 there; this program holds %4 of this machine's.")
      .arg(card, parts, bytes(vitals.device.memory_used), bytes(use.program));
}

/// In a question: by `name`, else by the file.
QString calledIn(const api::OpenOptions& options, const QString& name) {
  return name.isEmpty() ? QFileInfo(QString::fromStdString(options.model)).fileName() : name;
}

}  // namespace

void MainWindow::openModel(const QString& model, const QString& adapter, const QString& recipe) {
  api::OpenOptions options = optionsFor(model, adapter);
  options.recipe = recipe.toStdString();
  openModel(options);
}

void MainWindow::openModel(const api::OpenOptions& options, const QString& name) {
  const QString model = QString::fromStdString(options.model);
  unlessLost(session_, calledIn(options, name), [=, this] {
    opening_ = model;
    session_->open(options, name);
  });
}

void MainWindow::openClassifier(const api::OpenOptions& options, const QString& name) {
  unlessLost(classifier_, calledIn(options, name), [=, this] { classify_->openModel(options, name); });
}

api::OpenOptions MainWindow::optionsFor(const QString& model, const QString& adapter) const {
  api::OpenOptions options = options_.open;
  options.model = model.toStdString();
  options.adapter = adapter.toStdString();
  return options;
}

void MainWindow::openPaths(const QStringList& paths) {
  const OpenPlan plan = planOf(paths, graph_->source()->title());
  if (!plan.possible) return graph_->banner()->showWarning(plan.title, plan.body);
  if (!plan.model.isEmpty()) return openModel(plan.model, plan.adapter, plan.recipe);
  if (!plan.table.isEmpty()) {
    showPage("classify");
    return classify_->openCsv(plan.table);
  }
  if (graph_->source()->loading())
    return graph_->banner()->showWarning(graph_->source()->loadingName() + " is being loaded",
                                         "Wait until it is there, or cancel it above.");
  plan.adapter.isEmpty() ? openRecipe(plan.recipe) : putOn(plan.adapter);
}

/// The model that is drawn, with its edits and its chat.
void MainWindow::putOn(const QString& adapter) {
  api::OpenOptions options = graph_->source()->session()->options();
  options.adapter = adapter.toStdString();
  graph_->source()->reopen(options);
}

/// What the tool bar and Compare can offer, or why there is no CUDA device.
void MainWindow::takeDevices(const Devices& devices) {
  devices_ = devices;
  QString refusal = QString::fromStdString(services_.cudaRefusal);
  for (const api::DeviceEntry& device : devices) {
    if (device.device == "cpu") continue;
    refusal = QString::fromStdString(device.refusal);
    break;
  }
  tools_->setDevices(devices, refusal);
  compare_->setDevices(devices);
  places_->setDevices(devices, refusal);
  estimates_->setDevices(devices);
  if (std::exchange(options_.both, false) && refusal.isEmpty()) both_->open(tools_->cuda());
}

void MainWindow::takeModel() {
  const SessionPtr session = session_->session();
  options_.open.device = session->options().device;
  addRecent(opening_);
  session->set_profiling(do_.profiler->isChecked());
  inspector_->clear();
  showGraphOf(session_);
  showPageOf(session->info());
  if (!runs(session->info()))
    graph_->banner()->showWarning(session_->title() + " can be looked at, not run",
                                  QString::fromStdString(session->info().cannot_run) + ".", {"Open another"});
}

void MainWindow::takeGraph() {
  const SessionPtr session = graph_->source()->session();
  graph::GraphVersion shown;
  std::unordered_set<NodeId> edited;
  QString name;
  if (session) {
    const graph::GraphVersion model = session->model_graph();
    const bool fused = graph_->fusedShown();
    shown = fused ? session->fused_graph() : model;
    if (model) edited = editedNodes(*model, graph_->source()->recipe());
    if (fused && shown) edited = editedFused(*shown, edited);
    name = graph_->source()->title();
  }
  outline_->setGraph(shown, edited, name);
  if (compared_) showComparisonInOutline();
  showPhase();
  refreshActions();
  refreshStatus();
}

api::Phase MainWindow::phaseDrawn() const {
  const SessionPtr session = graph_->source()->session();
  return session ? phaseShown(session->info(), phase_) : phase_;
}

void MainWindow::showPhase() {
  const SessionPtr session = graph_->source()->session();
  const bool encodes = session && session->info().task != api::Task::generate;
  const api::Phase phase = phaseDrawn();
  tools_->setPhase(phase, !encodes);
  graph_->setPhase(phase);
  inspector_->setPhase(phase);
  dock("latency")->title()->setSubtitle(encodes ? "per text" : "per token");
  dock("outline")->title()->setSubtitle(encodes                       ? "last step"
                                        : phase == api::Phase::decode ? "decode, p50"
                                                                      : "prefill, last step");
  takeProfile();
}

void MainWindow::takeProfile() {
  const SessionPtr session = graph_->source()->session();
  if (!session || compared_) return;
  outline_->setTimings(
      figuresOf(graph_->source()->profile(phaseDrawn()), nullptr, nullptr, graph_->fusedShown()));
}

void MainWindow::applyEdit(const QString& verb, const QString& scope, const QString& device) {
  edit::Edit edit;
  edit.op = verb.toStdString();
  edit.fields["scope"] = scopeWord({scope}).toStdString();
  if (!device.isEmpty()) edit.fields["device"] = device.toStdString();
  graph_->source()->apply(edit);
}

void MainWindow::noteEdit(const api::EditRecord& record, EditKind kind) {
  const QString name = QString::fromStdString(record.name);
  const QString done = (kind == EditKind::undone ? "Undone: " : "Done: ") + name;
  graph_->banner()->showNotice(done + (record.kv_kept ? "; the next message runs on it"
                                                      : "; the context is read again at the next message"));
  refreshActions();
  refreshStatus();
}

void MainWindow::refreshActions() {
  if (!tools_) return;
  SessionController* shown = graph_->source();
  const bool chats = session_->session() && writesText(session_->session()->info());
  const bool running =
      session_->running() || classifier_->running() || comparison_->running() || both_->running();
  do_.undo->setEnabled(shown->canUndo());
  do_.redo->setEnabled(shown->canRedo());
  do_.saveRecipe->setEnabled(shown->canUndo());
  const std::vector<BypassChoice> bypasses = graph_->bypasses(graph_->view()->selection());
  do_.bypass->setEnabled(!bypasses.empty());
  do_.bypass->setText(!bypasses.empty() && bypasses.front().restores ? "&Restore the selection"
                                                                     : "&Bypass the selection");
  do_.regenerate->setEnabled(chat_->canRegenerate());
  do_.exportGraph->setEnabled(shown->session() != nullptr);
  do_.saveTrace->setEnabled(session_->session() || classifier_->session());
  do_.metadata->setEnabled(hasMetadata());
  do_.stop->setEnabled(running);
  do_.run->setEnabled(chats && !running);
  tools_->setRunning(running, chats);
}

/// What the window's state is told of: the model that is drawn, unless only the other one does something.
const SessionController* MainWindow::busy() const {
  const SessionController *drawn = graph_->source(), *other = drawn == session_ ? classifier_ : session_;
  const auto busy = [](const SessionController& source) { return source.running() || source.loading(); };
  return busy(*other) && !busy(*drawn) ? other : drawn;
}

void MainWindow::refreshStatus() {
  StatusFacts facts;
  const SessionController *drawn = graph_->source(), *busy = this->busy();
  const SessionPtr session = drawn->session();
  facts.state = stateText(*busy);
  if (busy != drawn && busy->running()) facts.state = busy->title() + ": " + facts.state.toLower();
  if (comparison_->running()) facts.state = "Comparing";
  facts.live = session_->running() || classifier_->running() || comparison_->running() || both_->running() ||
               session_->loading() || classifier_->loading();
  if (session) {
    const api::ModelInfo& info = session->info();
    const Vitals vitals = drawn->vitals();
    facts.model = drawn->title() + "  " + QString::fromStdString(info.main_dtype);
    const size_t edits = drawn->recipe().size();
    facts.edited = edits > 0;
    facts.edits = edits == 0 ? "no edits"
                             : format::counted(static_cast<qint64>(edits), "edit") +
                                   (drawn->unsaved() ? ", not saved" : "");
    const bool device = session->options().device != "cpu";
    const DeviceLine used = deviceShown();
    facts.machine = device ? deviceWords(used) : cpuWords(session->limits());
    if (!device && !used.title.isEmpty()) facts.machine += " + " + deviceWords(used);
    if (const SessionPtr second = both_->second()->session(); device && second && drawn == session_)
      facts.machine += " + " + cpuWords(second->limits());
    const double all = device ? static_cast<double>(vitals.device.memory_total) : machineMemory();
    facts.memory =
        format::bytes(static_cast<double>(device ? vitals.memory.session() : vitals.memory.program)) + " / " +
        format::bytes(all);
    facts.memoryTip = memoryWords(vitals, device ? used.title : QString());
    if (const ProfilePtr profile = drawn->profile(api::Phase::decode); profile && profile->per_second() > 0)
      facts.speed = format::rate(profile->per_second(), "tok/s");
    const int64_t limit = info.memory.context > 0 ? info.memory.context : info.context_length;
    if (writesText(info))
      facts.context = "context " + format::count(vitals.contextUsed) + " / " + format::count(limit);
    facts.profiler =
        do_.profiler->isChecked() ? "profiler " + format::percent(vitals.overheadShare) : "profiler off";
  }
  status_->setFacts(facts);
}

void MainWindow::find(const QString& text) {
  const int found = graph_->view()->find(text);
  tools_->find()->setNote(text.isEmpty() ? QString() : found == 0 ? "none" : QString("1 of %1").arg(found));
}

void MainWindow::nextMatch(bool forward) {
  GraphView* view = graph_->view();
  const int current = forward ? view->findNext() : view->findPrevious();
  if (current >= 0) tools_->find()->setNote(QString("%1 of %2").arg(current + 1).arg(view->matchCount()));
}

}  // namespace orrery::ui
