#include "ui/frame/workspace.h"

#include <QTimer>

#include "ui/placement/menu_edits.h"
#include "ui/placement/place_menu.h"
#include "ui/placement/precision_menu.h"
#include "ui/placement/scope_words.h"
#include "ui/session/attribution_controller.h"
#include "ui/session/compare_controller.h"
#include "ui/session/depth_controller.h"
#include "ui/session/diff_controller.h"
#include "ui/session/edit_previews.h"
#include "ui/session/graph_controller.h"
#include "ui/session/lab_controller.h"
#include "ui/session/memory_estimates.h"
#include "ui/session/model_use.h"
#include "ui/session/own_op_controller.h"
#include "ui/session/own_ops_first.h"
#include "ui/session/recipe_shelf.h"
#include "ui/session/second_device.h"
#include "ui/session/sweep_controller.h"
#include "ui/session/trace_saver.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

constexpr int kTickMilliseconds = 250;

/// "Cosine 0.99981 with what is computed now (61 tokens)".
QString wordsOf(const api::MeasuredChange& change) {
  const QString read = format::counted(change.tokens, "token");
  if (change.cosine)
    return QString("cosine %1 with what it gives now, over %2").arg(*change.cosine, 0, 'f', 6).arg(read);
  return QString("KL %1 and the same likeliest token at %2 of %3 places, over %4")
      .arg(change.kl.value_or(0), 0, 'g', 2)
      .arg(format::percent(change.top1_agreement.value_or(0)))
      .arg(change.positions)
      .arg(read);
}

}  // namespace

Workspace::Workspace(const Theme& theme, const Services& services, const WindowSettings& settings,
                     const api::OpenOptions& options, QObject* parent)
    : QObject(parent),
      theme_(theme),
      settings_(settings),
      options_(options),
      traces_(new TraceSaver(this)),
      services_(afterOwnOps(traces_->watching(services))),
      session_(new SessionController(services_, this)),
      classifier_(new SessionController(services_, this)),
      comparison_(new CompareController(services_, this)),
      both_(new SecondDevice(session_, services_, this)),
      sweeps_(new SweepController(session_, this)),
      depths_(new DepthController(session_, this)),
      attributions_(new AttributionController(session_, this)),
      diffs_(new DiffController(session_, this)),
      graphs_(new GraphController(session_, this)),
      labs_(new LabController(services_, this)),
      ownOps_(new OwnOpController(services_, this)),
      estimates_(new MemoryEstimates(services_, this)),
      places_(new PlaceMenu(this)),
      precisions_(new PrecisionMenu(this)),
      previews_(new EditPreviews(services_, this)),
      recipes_(new RecipeShelf(services_.recipes, this)),
      drawn_(session_),
      fusion_(options.fusion) {
  watch(session_);
  watch(classifier_);
  connect(both_->second(), &SessionController::stateChanged, this, &Workspace::changed);
  connect(both_, &SecondDevice::changed, this, [this] {
    both_->second()->setProfiling(profiled_);
    emit changed();
  });
  connect(both_, &SecondDevice::failed, this, &Workspace::failed);
  connect(comparison_, &CompareController::started, this, &Workspace::changed);
  connect(comparison_, &CompareController::ended, this, &Workspace::changed);
  connect(graphs_, &GraphController::changed, this, &Workspace::changed);
  connect(labs_, &LabController::changed, this, &Workspace::changed);
  connect(ownOps_, &OwnOpController::changed, this, &Workspace::changed);
  connect(ownOps_, &OwnOpController::opsChanged, this, &Workspace::opsChanged);
  connect(ownOps_, &OwnOpController::opsChanged, labs_, &LabController::lookAgain);
  connect(this, &Workspace::turnedTo, this, [this](const QString& page) {
    front_ = page;
    emit changed();
  });
  connect(this, &Workspace::nodeChosen, this, &Workspace::changed);
  connect(this, &Workspace::scopeChosen, this, &Workspace::changed);
  connect(this, &Workspace::choiceCleared, this, &Workspace::changed);
  connect(traces_, &TraceSaver::failed, this, &Workspace::failed);
  connect(traces_, &TraceSaver::saved, this, [this](const QString& path) {
    emit noticed("Saved " + path.section('/', -1) + "; ui.perfetto.dev opens it");
  });
  connect(places_, &PlaceMenu::chosen, this,
          [this](const QString& scopes, const QString& device) { edit("place", scopes, device); });
  connect(precisions_, &PrecisionMenu::chosen, this,
          [this](const QString& scopes, const QString& precision) { edit("precision", scopes, precision); });
  connect(precisions_, &PrecisionMenu::measureAsked, this,
          [this](const QString& scopes, const QString& precision) {
            drawn_->measure(editOf("precision", scopes, precision));
          });
  connect(this, &Workspace::editConsidered, previews_,
          [this](const std::vector<edit::Edit>& edits) { previews_->ask(drawn_->session(), edits); });
  connect(this, &Workspace::editLeft, previews_, &EditPreviews::forget);
  connect(this, &Workspace::graphShown, previews_, &EditPreviews::forget);
  connect(previews_, &EditPreviews::failed, this, &Workspace::failed);
  auto* tick = new QTimer(this);
  tick->setInterval(kTickMilliseconds);
  connect(tick, &QTimer::timeout, this, [this] {
    pollDevices();
    emit ticked();
  });
  tick->start();
  ownOps_->look();
}

Workspace::~Workspace() {
  // Pages listen to the sessions until all have joined their threads.
  delete previews_;
  delete comparison_;
  delete both_;
  delete sweeps_;
  delete depths_;
  delete attributions_;
  delete diffs_;
  delete graphs_;
  delete labs_;
  delete classifier_;
  delete session_;
}

void Workspace::watch(SessionController* source) {
  connect(source, &SessionController::opened, this, [this, source] { source->setProfiling(profiled_); });
  connect(source, &SessionController::loadStarted, this, &Workspace::changed);
  connect(source, &SessionController::loadEnded, this, &Workspace::changed);
  connect(source, &SessionController::stateChanged, this, &Workspace::changed);
  connect(source, &SessionController::profileChanged, this, [this, source] {
    if (source == drawn_) emit profileChanged();
    emit changed();
  });
  connect(source, &SessionController::edited, this, &Workspace::changed);
  connect(source, &SessionController::editFailed, this, &Workspace::failed);
  connect(source, &SessionController::measured, this,
          [this](const edit::Edit& edit, const api::MeasuredChange& change) {
            emit noticed(QString::fromStdString(edit.to_string()) + ": " + wordsOf(change));
          });
  connect(source, &SessionController::planFailed, this, &Workspace::failed);
  connect(source, &SessionController::devicesScanned, this, &Workspace::takeDevices);
}

/// What can be offered, or why there is no CUDA device.
void Workspace::takeDevices(const Devices& devices) {
  QString refusal = QString::fromStdString(services_.cudaRefusal);
  for (const api::DeviceEntry& device : devices) {
    if (device.device == "cpu") continue;
    refusal = QString::fromStdString(device.refusal);
    break;
  }
  places_->setDevices(devices, refusal);
  estimates_->setDevices(devices);
  emit devicesListed(devices, refusal);
}

/// What the cards in use say of themselves.
void Workspace::pollDevices() {
  for (SessionController* source : {session_, classifier_, both_->second()}) source->pollDevice();
  if (comparison_->running()) comparison_->pollDevice();
}

void Workspace::draw(SessionController* source) {
  if (drawn_ == source) return;
  drawn_ = source;
  attributions_->setSource(source);
  emit sourceChanged(source);
}

api::Phase Workspace::phase() const {
  const SessionPtr session = drawn_->session();
  return session ? phaseShown(session->info(), phase_) : phase_;
}

void Workspace::edit(const QString& verb, const QString& scopes, const QString& word) {
  drawn_->apply(editOf(verb, scopes, word));
}

QString Workspace::pathInModel(NodeId node, bool fused) const {
  const SessionPtr session = session_->session();
  if (!session || drawn_ != session_) return {};
  const graph::GraphVersion model = session->model_graph();
  const graph::GraphVersion shown = fused ? session->fused_graph() : model;
  const graph::Node* chosen = shown->find(node);
  if (!chosen) return {};
  const graph::Node* origin = chosen->origins.empty() ? nullptr : model->find(chosen->origins.front().node);
  return QString::fromStdString((origin ? *origin : *chosen).path());
}

void Workspace::setProfiled(bool profiled) {
  profiled_ = profiled;
  for (SessionController* source : {session_, classifier_, both_->second()}) source->setProfiling(profiled);
  emit changed();
}

void Workspace::setFusion(bool fusion) {
  fusion_ = fusion;
  drawn_->setFusion(fusion);
  if (drawn_ == session_) both_->second()->setFusion(fusion);
}

bool Workspace::running() const {
  return session_->running() || classifier_->running() || comparison_->running() || both_->running() ||
         graphs_->running() || labs_->running();
}

void Workspace::stop() {
  session_->stop();
  classifier_->stop();
  comparison_->stop();
  both_->second()->stop();
  graphs_->stop();
  labs_->stop();
}

}  // namespace orrery::ui
