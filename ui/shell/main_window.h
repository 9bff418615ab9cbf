// The window: puts the pages into docks and connects them. Holds two sessions: the model that is drawn and
// talked to, and the classifier, loaded at first use.
#pragma once

#include <QMainWindow>
#include <QPointer>

#include "ui/chat/chat_page.h"
#include "ui/classify/classify_page.h"
#include "ui/compare/compare_page.h"
#include "ui/inspector/inspector_page.h"
#include "ui/latency/latency_page.h"
#include "ui/library/library_page.h"
#include "ui/library/open_dialog.h"
#include "ui/metadata/metadata_editor.h"
#include "ui/session/second_device.h"
#include "ui/session/trace_saver.h"
#include "ui/shell/dock_frame.h"
#include "ui/shell/drop_preview.h"
#include "ui/shell/graph_page.h"
#include "ui/shell/outline_panel.h"
#include "ui/shell/settings.h"
#include "ui/shell/status_strip.h"
#include "ui/shell/tool_bar.h"
#include "ui/shell/window_layout.h"

namespace orrery::ui {

struct WindowOptions {
  QString configFolder;                        // empty: the usual one
  std::optional<ThemeChoice> theme;            // overrides the remembered one, for this start
  Theme::Mode systemMode = Theme::Mode::dark;  // the desktop's, taken before our palette was set
  api::OpenOptions open;                       // device and the like of every model opened
  bool both = false;                           // on the first CUDA device too, once the devices are known
};

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
  /// `device`: of place.
  void applyEdit(const QString& verb, const QString& scope, const QString& device = {});
  void setThemeChoice(ThemeChoice choice);
  /// graph, chat, classify or compare.
  void showPage(const QString& page);

  SessionController* session() const { return session_; }
  SessionController* classifier() const { return classifier_; }
  GraphPage* graphPage() const { return graph_; }
  ChatPage* chatPage() const { return chat_; }
  ClassifyPage* classifyPage() const { return classify_; }
  ComparePage* comparePage() const { return compare_; }
  LatencyPage* latencyPage() const { return latency_; }
  InspectorPage* inspectorPage() const { return inspector_; }
  LibraryPage* libraryPage() const { return library_; }
  OutlinePanel* outlinePanel() const { return outline_; }
  MainToolBar* toolBar() const { return tools_; }
  TraceSaver* traces() const { return traces_; }
  SecondDevice* both() const { return both_; }
  /// The model is still to be opened on a second device.
  bool awaitsSecond() const { return options_.both || both_->second()->loading(); }
  const DropPreview* dropPreview() const { return preview_; }
  StatusStrip* status() const { return status_; }
  DockFrame* dock(const QString& name) const;
  QAction* action(const QString& name) const;
  const Theme& theme() const { return theme_; }
  const WindowSettings& settings() const { return settings_; }

 protected:
  void closeEvent(QCloseEvent* event) override;
  bool focusNextPrevChild(bool next) override;

 private:
  struct Actions {
    QAction *open, *openFolder, *saveRecipe, *saveTrace, *metadata, *newChat, *regenerate, *run, *stop, *undo,
        *redo, *bypass, *fit, *find, *expandAll, *foldAll, *zoomIn, *zoomOut, *exportGraph, *fusion,
        *profiler, *keys, *quit, *classifyCsv, *chatPage, *classifyPage, *comparePage, *nextPart, *lastPart;
  };
  // main_window.cpp
  void setupCentre();
  void setupDocks();
  DockFrame* addDock(const QString& title, const QString& name, QWidget* page, Qt::DockWidgetArea area);
  void setupDrops();
  void setupGraphWiring();
  void chooseNode(NodeId node);
  void setupPageWiring();
  void setupLoadWiring();
  void restoreWindow();
  void applyDefaultLayout();
  Theme themeFor(ThemeChoice choice) const;
  // main_window_pages.cpp
  void setupPages();
  void turnTo(const QString& page);
  void findFront();
  void showPageOf(const api::ModelInfo& info);
  void focusOn(QWidget* control, Qt::FocusReason reason);
  void focusPart(int step);
  void showGraphOf(SessionController* source);
  void nameDrawn();
  // main_window_memory.cpp
  void setupMemoryWiring();
  void showLoadFailure(UiError error);
  // main_window_metadata.cpp
  bool hasMetadata() const;
  // main_window_actions.cpp
  void setupActions();
  void setupMenus();
  void setupViewMenu(QMenu* menu);
  void setupToolBar();
  QAction* makeAction(const QString& text, const QString& icon, const QString& keys,
                      std::function<void()> run);
  void addRecent(const QString& path);
  void showRecent();
  void refreshRecent();
  void showKeys();
  void askOpen();
  void askOpenFolder();
  void askExportGraph();
  void askSaveTrace();
  void runOrRepeat();
  void stopAll();
  void bypassSelection();
  // main_window_models.cpp
  /// Of the classify page.
  void openClassifier(const api::OpenOptions& options, const QString& name);
  api::OpenOptions optionsFor(const QString& model, const QString& adapter) const;
  void putOn(const QString& adapter);
  void takeModel();
  void takeDevices(const Devices& devices);
  void takeGraph();
  void takeProfile();
  /// The phase that was chosen, as far as the model that is drawn has it.
  void showPhase();
  api::Phase phaseDrawn() const;
  void refreshStatus();
  void refreshActions();
  const SessionController* busy() const;
  void noteEdit(const api::EditRecord& record, EditKind kind);
  void find(const QString& text);
  void nextMatch(bool forward);
  // main_window_compare.cpp
  void setupCompareWiring();
  void showNodeAt(const QString& path);
  void takeComparison(const Comparison& comparison);
  void showComparisonInOutline();
  void showHeat(HeatMode mode);
  // main_window_recipes.cpp
  void openRecipe(const QString& path);
  bool askSaveRecipe(SessionController* source);
  // main_window_questions.cpp
  using Answers = std::vector<std::pair<QString, std::function<void()>>>;  // button texts, what they do
  void ask(const QString& title, const QString& body, const Answers& answers);
  void answer(const QString& action);
  void unlessLost(SessionController* source, const QString& name, const std::function<void()>& open);
  bool mayQuit();
  void refuseDelete();
  // main_window_both.cpp
  void setupBothWiring();
  void setupSecondLoad();
  void chooseDevice(const std::string& device);
  void pollDevices();
  DeviceLine deviceInUse() const;
  DeviceLine deviceShown() const;
  void fail(const UiError& error) { graph_->banner()->showError(error); }

  Theme theme_;
  SettingsFile file_;
  WindowSettings settings_;
  WindowOptions options_;
  Devices devices_;
  TraceSaver* traces_;
  Services services_;  // watched by traces_
  SessionController *session_, *classifier_;
  CompareController* comparison_;
  SecondDevice* both_;
  MemoryEstimates* estimates_;
  PlaceMenu* places_;
  GraphPage* graph_ = nullptr;
  DropPreview* preview_ = nullptr;  // over the graph
  ChatPage* chat_ = nullptr;
  ClassifyPage* classify_ = nullptr;
  ComparePage* compare_ = nullptr;
  LatencyPage* latency_ = nullptr;
  InspectorPage* inspector_ = nullptr;
  LibraryPage* library_ = nullptr;
  OutlinePanel* outline_ = nullptr;
  MainToolBar* tools_ = nullptr;
  StatusStrip* status_ = nullptr;
  DockKeeper* keeper_ = nullptr;
  WindowLayout* layout_ = nullptr;
  QMenu* recentMenu_ = nullptr;
  QPointer<MetadataEditor> metadata_;  // null unless it is shown
  Actions do_{};
  Answers answers_;         // of the question that is asked
  bool quitting_ = false;   // it has been asked
  QString front_ = "chat";  // the page that is in front
  bool started_ = false;    // a model has been opened
  api::Phase phase_ = api::Phase::decode;
  Comparison compared_;                   // what is shown in graph, outline and inspector
  HeatMode heatBefore_ = HeatMode::time;  // the comparison
  QString opening_;                       // what is being opened, as it goes into the recent files
};

}  // namespace orrery::ui
