#include "ui/shell/opening.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

#include "ui/exporter/export_dialog.h"
#include "ui/library/open_dialog.h"
#include "ui/metadata/metadata_editor.h"
#include "ui/session/graph_controller.h"
#include "ui/session/model_use.h"
#include "ui/session/trace_saver.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/openable.h"
#include "ui/shell/questions.h"

namespace orrery::ui {
namespace {

/// In a question: by `name`, else by the file.
QString calledIn(const api::OpenOptions& options, const QString& name) {
  return name.isEmpty() ? QFileInfo(QString::fromStdString(options.model)).fileName() : name;
}

}  // namespace

Opening::Opening(Workspace& work, GraphPage* graph, Questions* questions, QWidget* window)
    : QObject(window),
      work_(work),
      graph_(graph),
      questions_(questions),
      window_(window),
      recentMenu_(new QMenu("Open &recent", window)) {
  connectWork();
  connectGraphs();
}

void Opening::connectWork() {
  connect(&work_, &Workspace::openAsked, this,
          [this](const QString& path, const QString& adapter, const QString& title) {
            openModel(optionsFor(path, adapter), title);
          });
  connect(&work_, &Workspace::optionsAsked, this,
          [this](const QString& path, const QString& adapter, const QString& title) {
            askOptions(optionsFor(path, adapter), {}, title);
          });
  connect(&work_, &Workspace::fileAsked, this, &Opening::askFile);
  connect(&work_, &Workspace::recipeSaveAsked, this, [this](const std::vector<edit::Edit>& recipe) {
    if (const SessionPtr session = work_.drawn()->session()) saveRecipe(*session, recipe);
  });
  connect(&work_, &Workspace::recipeAsked, this, &Opening::takeRecipe);
  connect(&work_, &Workspace::metadataAsked, this, &Opening::editMetadata);
  connect(&work_, &Workspace::classifierAsked, this,
          [this](const api::OpenOptions& options, const QString& name) {
            questions_->unlessLost(work_.classifier(), calledIn(options, name),
                                   [=, this] { emit work_.classifierChosen(options, name); });
          });
  connect(work_.session(), &SessionController::opened, this, &Opening::takeModel);
  connect(work_.session(), &SessionController::loadFailed, this, &Opening::showFailure);
}

void Opening::connectGraphs() {
  GraphController* graphs = work_.graphs();
  connect(&work_, &Workspace::newGraphAsked, this, [this, graphs] {
    questions_->unlessLost(work_.session(), "a new graph", [this, graphs] {
      opening_.clear();
      graphs->make(work_.options());
    });
  });
  connect(graphs, &GraphController::canvasRead, this, [this](const api::Canvas& canvas) {
    if (work_.drawn() == work_.session()) graph_->modelView()->editor()->setFilePlaces(canvas.places);
  });
  // The page reports a failure; one of a node is shown at the node as well.
  connect(graphs, &GraphController::failed, this, [this](const Error& error) {
    const SessionPtr session = work_.session()->session();
    if (work_.drawn() != work_.session() || !session) return;
    const NodeId node = session->model_graph()->find_path(error.where.substr(0, error.where.find(',')));
    graph_->modelView()->editor()->showFailure("It did not run", error, node);
  });
}

CommandList Opening::commands() {
  const auto open = [this] { return work_.drawn()->session() != nullptr; };
  const auto own = [this] { return work_.drawn() == work_.session() && work_.graphs()->own(); };
  return {{.id = "file.new",
           .text = "&New graph",
           .menu = Menu::file,
           .keys = {"Ctrl+Shift+N"},
           .icon = "plus",
           .title = "New graph: an empty canvas for a graph of one's own",
           .run = [this] { emit work_.newGraphAsked(); },
           .enabled = [this] { return static_cast<bool>(work_.services().graphs.make); }},
          {.id = "file.open",
           .text = "&Open...",
           .menu = Menu::file,
           .keys = {"Ctrl+O"},
           .icon = "open",
           .title = "Open a model, a graph, an adapter or a recipe",
           .tools = Tools::left,
           .run = [this] { askFile(); }},
          {.id = "file.folder",
           .text = "Open &folder...",
           .menu = Menu::file,
           .keys = {"Ctrl+Shift+O"},
           .icon = "open",
           .title = "Open a model's folder",
           .run = [this] { askFolder(); }},
          {.id = "recipe.save",
           .text = "&Save recipe...",
           .menu = Menu::file,
           .group = 1,
           .keys = {"Ctrl+S"},
           .icon = "save",
           .title = "Save the edits as a recipe",
           .tools = Tools::left,
           .run = [this] { askSaveRecipe(work_.drawn()); },
           .enabled = [this, own] { return own() || work_.drawn()->canUndo(); },
           .words = [own] { return own() ? QString("&Save the graph") : QString("&Save recipe..."); }},
          {.id = "graph.saveAs",
           .text = "Save the graph &as...",
           .menu = Menu::file,
           .group = 1,
           .title = "Save the graph of one's own as another file",
           .run = [this] { saveGraph(true); },
           .enabled = own},
          {.id = "model.export",
           .text = "Export the &model...",
           .menu = Menu::file,
           .group = 1,
           .keys = {"Ctrl+Shift+S"},
           .icon = "export",
           .title = "Export the edited model as a file that other programs load",
           .run = [this] { exportModel(); },
           .enabled = [this] { return canExport(); }},
          {.id = "graph.export",
           .text = "&Export the graph...",
           .menu = Menu::file,
           .group = 1,
           .keys = {"Ctrl+E"},
           .icon = "export",
           .run = [this] { askExportGraph(); },
           .enabled = open},
          {.id = "graph.exportPaper",
           .text = "Export for &paper...",
           .menu = Menu::file,
           .group = 1,
           .title = "Export the page of layers for paper",
           .run = [this] { askExportPaper(); },
           .enabled = open},
          {.id = "trace.save",
           .text = "Save &trace...",
           .menu = Menu::file,
           .group = 1,
           .title = "Save a trace: what ran when, of every open model",
           .run = [this] { askSaveTrace(); },
           .enabled = [this] { return work_.session()->session() || work_.classifier()->session(); }},
          {.id = "metadata.edit",
           .text = "Edit &metadata...",
           .menu = Menu::file,
           .group = 2,
           .keys = {"Ctrl+M"},
           .icon = "pencil",
           .run = [this] { editMetadata(QString::fromStdString(work_.drawn()->session()->info().path)); },
           .enabled = [this] { return hasMetadata(); }},
          {.id = "window.quit",
           .text = "&Quit",
           .menu = Menu::file,
           .group = 3,
           .keys = {"Ctrl+Q"},
           .icon = "x",
           .run = [this] { window_->close(); }}};
}

void Opening::openModel(const QString& model, const QString& adapter, const QString& recipe) {
  api::OpenOptions options = optionsFor(model, adapter);
  options.recipe = recipe.toStdString();
  openModel(options);
}

void Opening::openModel(const api::OpenOptions& options, const QString& name) {
  questions_->unlessLost(work_.session(), calledIn(options, name), [=, this] {
    opening_ = QString::fromStdString(options.model);
    work_.session()->open(options, name);
  });
}

api::OpenOptions Opening::optionsFor(const QString& model, const QString& adapter) const {
  api::OpenOptions options = work_.options();
  options.model = model.toStdString();
  options.adapter = adapter.toStdString();
  return options;
}

void Opening::openPaths(const QStringList& paths) {
  SessionController* drawn = work_.drawn();
  const OpenPlan plan = planOf(paths, drawn->title());
  if (!plan.possible) return graph_->banner()->showWarning(plan.title, plan.body);
  if (!plan.model.isEmpty()) return openModel(plan.model, plan.adapter, plan.recipe);
  if (!plan.table.isEmpty()) return emit work_.tableAsked(plan.table);
  if (drawn->loading())
    return graph_->banner()->showWarning(drawn->loadingName() + " is being loaded",
                                         "Wait until it is there, or cancel it above.");
  plan.adapter.isEmpty() ? openRecipe(plan.recipe) : putOn(plan.adapter);
}

void Opening::takeRecipe(const QString& recipe, const QString& model, const QString& adapter,
                         const QString& title) {
  if (model.isEmpty()) {
    emit work_.drawAsked(work_.session());
    return openPaths({recipe});
  }
  api::OpenOptions options = optionsFor(model, adapter);
  options.recipe = recipe.toStdString();
  openModel(options, title);
}

/// The model that is drawn, with its edits and its chat.
void Opening::putOn(const QString& adapter) {
  api::OpenOptions options = work_.drawn()->session()->options();
  options.adapter = adapter.toStdString();
  work_.drawn()->reopen(options);
}

void Opening::takeModel() {
  const SessionPtr session = work_.session()->session();
  work_.setDevice(session->options().device);
  if (!opening_.isEmpty()) addRecent(opening_);
  graphFile_ = work_.graphs()->own() ? QString::fromStdString(session->info().path) : QString();
  emit work_.choiceCleared();
  emit work_.drawAsked(work_.session());
  if (work_.graphs()->own()) {
    graph_->showTab(false);  // it is made there
    graph_->modelView()->editor()->setRanges(
        [this](ValueId value) { return work_.graphs()->rangeOf(value); });
    emit work_.pageAsked("values");
  }
  emit opened(!std::exchange(started_, true));
  if (!runs(session->info()))
    graph_->banner()->showWarning(work_.session()->title() + " can be looked at, not run",
                                  QString::fromStdString(session->info().cannot_run) + ".", {"Open another"});
}

/// A model that does not fit is asked about again, with what would; other failures are told.
void Opening::showFailure(UiError error) {
  const SessionController* source = work_.session();
  const SessionPtr kept = source->session();
  if (kept) error.advice += (error.advice.isEmpty() ? "" : ". ") + source->title() + " stays loaded";
  if (error.code == ErrorCode::out_of_memory && work_.services().memoryDemand) {
    askOptions(source->loadingOptions(), error.body(), source->loadingName());
  } else {
    emit work_.failed(error);
  }
  if (kept) work_.setDevice(kept->options().device);
}

OpenDialog* Opening::askOptions(const api::OpenOptions& options, const QString& reason, const QString& name) {
  SessionController* session = work_.session();
  const bool keep = !reason.isEmpty() && session->moving();
  session->scanDevices();  // what is free may have changed
  auto* dialog = new OpenDialog(work_.theme(), work_.estimates(), options, reason, window_);
  connect(dialog, &OpenDialog::loadAsked, this, [this, session, keep, name](const api::OpenOptions& chosen) {
    keep ? session->reopen(chosen) : openModel(chosen, name);
  });
  dialog->show();
  return dialog;
}

bool Opening::hasMetadata() const {
  const SessionPtr session = work_.drawn()->session();
  return session && work_.services().metadata.list && session->info().format == "GGUF";
}

bool Opening::metadataMayClose() {
  if (!metadata_ || metadata_->mayClose()) return true;
  metadata_->raise();
  metadata_->activateWindow();
  return false;
}

MetadataEditor* Opening::editMetadata(const QString& model) {
  if (!metadataMayClose()) return metadata_;  // its changes come first
  if (metadata_) metadata_->close();
  metadata_ = new MetadataEditor(work_.theme(), work_.services().metadata, model, window_);
  metadata_->setAttribute(Qt::WA_DeleteOnClose);
  connect(metadata_, &MetadataEditor::saved, this, &Opening::addRecent);
  metadata_->show();
  return metadata_;
}

bool Opening::canExport() const {
  const SessionPtr session = work_.drawn()->session();
  return session && runs(session->info()) && session->info().task != api::Task::tensors &&
         work_.services().exports.plan;
}

bool Opening::exportMayClose() {
  if (!export_ || export_->mayClose()) return true;
  export_->raise();
  export_->activateWindow();
  return false;
}

ExportDialog* Opening::exportModel() {
  if (!exportMayClose()) return export_;
  if (export_) export_->close();
  SessionController* drawn = work_.drawn();
  export_ =
      new ExportDialog(work_.theme(), work_.services().exports, drawn->session(), drawn->title(), window_);
  export_->setAttribute(Qt::WA_DeleteOnClose);
  connect(drawn, &SessionController::graphChanged, export_, [this, drawn] {
    if (drawn->session().get() == export_->session()) export_->plan();
  });
  connect(export_, &ExportDialog::exported, this, [this](const QString& path, const QString& words) {
    addRecent(path);
    emit work_.noticed(words);
  });
  export_->show();
  return export_;
}

void Opening::addRecent(const QString& path) {
  work_.settings().addRecent(QFileInfo::exists(path) ? QFileInfo(path).absoluteFilePath() : path);
  showRecent();
}

void Opening::showRecent() {
  const QStringList& recent = work_.settings().recent;
  QStringList models;
  for (const QString& path : recent)
    if (openableOf(path).kind == Openable::Kind::model) models += path;
  emit work_.recentChanged(models);
  recentMenu_->clear();
  int digit = 1;
  for (const QString& path : recent) {
    const QString name = QFileInfo(path).fileName();
    recentMenu_
        ->addAction(QString("&%1  %2").arg(digit++).arg(name), this, [this, path] { openPaths({path}); })
        ->setToolTip(path);
  }
  recentMenu_->setEnabled(!recent.isEmpty());
}

void Opening::offerModels(QMenu* menu, QAction* other) {
  menu->addAction(other);
  connect(&work_, &Workspace::modelsListed, menu, [this, menu, other](const ListedModels& models) {
    menu->clear();
    for (const ListedModel& model : models)
      menu->addAction(model.name + "   " + model.detail, this,
                      [this, model] { openModel(optionsFor(model.path, model.adapter), model.title); });
    menu->addSeparator();
    menu->addAction(other);
  });
}

}  // namespace orrery::ui
