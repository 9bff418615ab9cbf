// Opens what a person chose: models, with an adapter and a recipe; tables; graphs of one's own; the dialogs
// that ask for files; the list of recent ones. Saves recipes and graphs. Reports what fails, and
// what to do instead.
#pragma once

#include <QPointer>

#include "ui/frame/command.h"
#include "ui/frame/workspace.h"

class QAction;
class QMenu;

namespace orrery::ui {

class ExportDialog;
class GraphPage;
class MetadataEditor;
class OpenDialog;
class Questions;

class Opening : public QObject {
  Q_OBJECT
 public:
  Opening(Workspace& work, GraphPage* graph, Questions* questions, QWidget* window);

  CommandList commands();
  /// A menu of the recent files, kept as they change.
  QMenu* recentMenu() const { return recentMenu_; }
  void showRecent();
  /// Fills the menu with the models of the library, and `other` below them.
  void offerModels(QMenu* menu, QAction* other);
  /// `name`: what it was called where it was chosen; empty: by its file.
  void openModel(const api::OpenOptions& options, const QString& name = {});
  /// A path or a library name; the recipe is applied to this model only.
  void openModel(const QString& model, const QString& adapter, const QString& recipe = {});
  void openPaths(const QStringList& paths);
  OpenDialog* askOptions(const api::OpenOptions& options, const QString& reason, const QString& name);
  MetadataEditor* editMetadata(const QString& model);
  /// What would be written of the model that is drawn, and the way to write it.
  ExportDialog* exportModel();
  /// False: it has changes that are not saved, and asks about them.
  bool metadataMayClose();
  /// False: a file is being written, and the dialog says so.
  bool exportMayClose();
  /// Whether they were saved.
  bool askSaveRecipe(SessionController* source);

 signals:
  /// The model that is talked to is there; `start`: the first one.
  void opened(bool start);

 private:
  void connectWork();
  api::OpenOptions optionsFor(const QString& model, const QString& adapter) const;
  void askFile();
  void askFolder();
  void askExportGraph();
  void askExportPaper();
  void askSaveTrace();
  void openRecipe(const QString& path);
  /// On the model of the chat, or where another one is named on that, opened with it.
  void takeRecipe(const QString& recipe, const QString& model, const QString& adapter, const QString& title);
  /// Whether a file was chosen and holds these edits of the model now.
  bool saveRecipe(const api::Session& session, const std::vector<edit::Edit>& edits);
  void putOn(const QString& adapter);
  /// Whether it is in its file now; `as`: asks for one even where it has one.
  bool saveGraph(bool as);
  void connectGraphs();
  void takeModel();
  void showFailure(UiError error);
  void addRecent(const QString& path);
  bool hasMetadata() const;
  bool canExport() const;

  Workspace& work_;
  GraphPage* graph_;
  Questions* questions_;
  QWidget* window_;
  QMenu* recentMenu_;
  QPointer<MetadataEditor> metadata_;  // null unless it is shown
  QPointer<ExportDialog> export_;      // null unless it is shown
  QString opening_;                    // what is being opened, as it goes into the recent files
  QString graphFile_;                  // of the graph of one's own that is open; empty: none yet
  bool started_ = false;               // a model has been opened
};

}  // namespace orrery::ui
