// What the window remembers between starts. Kept in one file of the person's configuration folder.
#pragma once

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>
#include <optional>

namespace orrery::ui {

enum class ThemeChoice { system, dark, light };

/// A workspace as a person left it; nothing of it: as it is at first.
struct KeptWorkspace {
  QByteArray docks;
  QStringList folded;       // docks that are tabs because the window is narrow
  std::optional<int> heat;  // HeatMode
  std::optional<int> parts;
  std::optional<bool> fused;  // which of the two graphs is drawn
};

struct WindowSettings {
  QByteArray geometry;
  QByteArray state;   // of the docks, in the workspace that the window is in
  QString workspace;  // its id; empty: the state is older than workspaces
  QMap<QString, KeptWorkspace> workspaces;
  ThemeChoice theme = ThemeChoice::system;
  QStringList recent;  // paths and library names, the latest first
  QString lastFolder;
  int heat = 1;  // HeatMode
  bool fusedTab = true;
  bool sideBySide = false;              // both graphs; then fusedTab says which one is worked in
  QByteArray graphSplit;                // the splitter between them
  bool wiresByType = false;             // wires in the colours of what they carry
  bool reducedMotion = false;           // views of the graph change at once
  QMap<QString, QString> arrangements;  // what was put where in the drawings, by the models' paths
  int graphParts = 15;                  // GraphView::Parts: what stands around the drawing
  QMap<QString, int> columns;           // of layers, by the model's title; Auto is not kept
  QString systemPrompt;
  QString depths;               // that the page of depths measures; empty: its own
  bool contextShift = false;    // a full context forgets what is oldest
  QMap<QString, QString> keys;  // that the person gave to commands, by their ids

  void addRecent(const QString& model);
};

class SettingsFile {
 public:
  /// `folder` empty: $ORRERY_CONFIG_HOME, else $XDG_CONFIG_HOME/orrery, else ~/.config/orrery.
  explicit SettingsFile(const QString& folder = {});
  QString path() const { return path_; }
  WindowSettings load() const;
  void save(const WindowSettings& settings) const;

 private:
  QString path_;
};

}  // namespace orrery::ui
