// The window: makes what it consists of and connects it. Pages come from a list (pages.h), commands from the
// pages and from the parts below, which share a Workspace.
#pragma once

#include <QMainWindow>

#include "ui/frame/command.h"

namespace orrery::api {
struct OpenOptions;
}

namespace orrery::ui {

class ChatPage;
class ClassifyPage;
class CommandPalette;
class Commands;
class ComparePage;
class DeviceChoice;
class DockFrame;
class Docks;
class DrawnModel;
class DropPreview;
class ExportDialog;
class FocusWalk;
class GraphPage;
class InspectorPage;
class LatencyPage;
class LibraryPage;
class MainToolBar;
class MetadataEditor;
class OpenDialog;
class Opening;
class OutlinePanel;
class Questions;
class SecondDevice;
class SessionController;
class SettingsFile;
class StatusStrip;
class StatusWords;
class Theme;
class TraceSaver;
class WindowLayout;
class Workspace;
class WorkspaceSwitch;
enum class ThemeChoice;
struct Services;
struct WindowOptions;
struct WindowSettings;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  MainWindow(const Services& services, const WindowOptions& options, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// A path or a library name; the recipe is applied to this model only.
  void openModel(const QString& model, const QString& adapter = {}, const QString& recipe = {});
  /// `name`: what it was called where it was chosen; empty: by its file.
  void openModel(const api::OpenOptions& options, const QString& name = {});
  /// Files and folders as a person names them: a model, with an adapter among them on it; an adapter alone
  /// goes on the model that is open, a recipe edits it; a table of texts is for the classifier.
  void openPaths(const QStringList& paths);
  /// The dialog of device and context; `reason`: why it comes unasked.
  OpenDialog* askOptions(const api::OpenOptions& options, const QString& reason = {},
                         const QString& name = {});
  /// The editor of a GGUF file's metadata; one with changes that are not saved stays instead.
  MetadataEditor* editMetadata(const QString& model);
  /// What an export of the model that is drawn would write, and the way to write it.
  ExportDialog* exportModel();
  /// `device`: of place.
  void applyEdit(const QString& verb, const QString& scope, const QString& device = {});
  void setThemeChoice(ThemeChoice choice);
  /// "graph", or the id of a page.
  void showPage(const QString& page);

  Workspace& work() const { return *work_; }
  WorkspaceSwitch* workspaces() const { return workspaces_; }
  Commands& commands() const { return *commands_; }
  CommandPalette* palettePopup() const { return palette_; }
  SessionController* session() const;
  SessionController* classifier() const;
  TraceSaver* traces() const;
  SecondDevice* both() const;
  GraphPage* graphPage() const { return graph_; }
  ChatPage* chatPage() const;
  ClassifyPage* classifyPage() const;
  ComparePage* comparePage() const;
  LatencyPage* latencyPage() const;
  InspectorPage* inspectorPage() const;
  LibraryPage* libraryPage() const;
  OutlinePanel* outlinePanel() const;
  MainToolBar* toolBar() const { return tools_; }
  const DropPreview* dropPreview() const { return preview_; }
  StatusStrip* status() const { return status_; }
  DockFrame* dock(const QString& page) const;
  /// Of a command, by its id or its text. Null: there is none.
  QAction* action(const QString& command) const;
  /// The model is still to be opened on a second device.
  bool awaitsSecond() const;
  const Theme& theme() const;
  const WindowSettings& settings() const;

 protected:
  void closeEvent(QCloseEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  void setupCentre();
  void setupCommands();
  void setupMenus();
  void setupTools();
  void setupNews();
  void setupLoads();
  void setupDrops();
  void setupLayout();
  CommandList ownCommands();
  CommandList themeCommands();
  void showKeys();
  void choosePrecision(const QPoint& at);
  void refresh();

  std::unique_ptr<SettingsFile> file_;
  std::unique_ptr<WindowOptions> options_;
  Workspace* work_;
  Commands* commands_;
  GraphPage* graph_ = nullptr;
  StatusStrip* status_ = nullptr;
  std::unique_ptr<StatusWords> words_;  // of status_
  Docks* docks_ = nullptr;
  Questions* questions_ = nullptr;
  Opening* opening_ = nullptr;
  DrawnModel* drawn_model_ = nullptr;
  MainToolBar* tools_ = nullptr;
  DeviceChoice* device_ = nullptr;
  CommandPalette* palette_ = nullptr;
  DropPreview* preview_ = nullptr;  // over the graph
  WindowLayout* layout_ = nullptr;
  WorkspaceSwitch* workspaces_ = nullptr;
  std::unique_ptr<FocusWalk> walk_;
  bool quitting_ = false;  // it has been asked
};

}  // namespace orrery::ui
