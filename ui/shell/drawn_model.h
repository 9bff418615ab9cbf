// Graph, outline and tool bar on the model that is drawn: which one it is, its phase and heat, what is chosen
// in it and found, and two sides that are compared.
#pragma once

#include "ui/frame/command.h"
#include "ui/frame/workspace.h"

class QMenu;

namespace orrery::ui {

class GraphEditor;
class GraphPage;
class MainToolBar;
class OutlinePanel;
enum class Bypass;
enum class HeatMode : uint8_t;

class DrawnModel : public QObject {
  Q_OBJECT
 public:
  DrawnModel(Workspace& work, GraphPage* graph, OutlinePanel* outline, QObject* parent = nullptr);
  ~DrawnModel() override;

  CommandList commands();
  /// What stands around the drawing.
  CommandList partCommands();
  void setTools(MainToolBar* tools);
  /// A model that is not open leaves what is drawn.
  void draw(SessionController* source);
  /// As the person chose it; a comparison and a sweep have theirs meanwhile.
  HeatMode heat() const;
  /// With a workspace: a comparison and a sweep keep theirs, but where heat is off.
  void setHeat(HeatMode mode);
  /// Title, tool bar and the pages say whose graph it is.
  void name();

 private:
  struct Chosen;
  void connectGraph();
  void connectEditing();
  void connectOutline();
  void connectSessions();
  void refresh();
  void refreshOutline();
  void catchUpOutline();
  void showPhase();
  void showProfile();
  void choose(NodeId node, bool fused);
  void showPath(const QString& path);
  void showTarget(const QString& scope);
  void takeComparison(const Comparison& comparison);
  void takeMeasures(const ScopeValues& values);
  void showSides();
  void showHeat(HeatMode mode);
  void noteEdit(const api::EditRecord& record, EditKind kind);
  void find(const QString& text);
  Bypass bypassOfChosen();
  void bypassSelection();
  CommandList editCommands();
  void restoreChosen();
  bool canRestoreChosen() const;
  void fillEditMenu(QMenu& menu);
  void showOriginalMenu(const QPoint& position);

  Workspace& work_;
  GraphPage* graph_;
  OutlinePanel* outline_;
  MainToolBar* tools_ = nullptr;
  HeatMode heatBefore_;             // the comparison, or the sweep
  bool measured_ = false;           // a sweep has values
  std::unique_ptr<Chosen> chosen_;  // what bypassOfChosen() told last, and of what
  struct Outlined {
    graph::GraphVersion graph, model;
    std::vector<edit::Edit> recipe;
    QString title;
    bool operator==(const Outlined&) const = default;
  };
  Outlined outlined_;
};

}  // namespace orrery::ui
