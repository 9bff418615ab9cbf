#include "ui/frame/settings.h"

#include <QDir>
#include <QSettings>
#include <QStandardPaths>
#include <QUrl>

namespace orrery::ui {
namespace {

constexpr qsizetype kRecent = 9;  // as many as digits

QString configFolder() {
  if (const QString own = qEnvironmentVariable("ORRERY_CONFIG_HOME"); !own.isEmpty()) return own;
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + "/orrery";
}

QString nameOf(ThemeChoice choice) {
  return choice == ThemeChoice::dark ? "dark" : choice == ThemeChoice::light ? "light" : "system";
}

ThemeChoice themeOf(const QString& name) {
  return name == "dark" ? ThemeChoice::dark : name == "light" ? ThemeChoice::light : ThemeChoice::system;
}

std::optional<int> numberIn(const QSettings& file, const QString& key) {
  bool number = false;
  const int value = file.value(key).toInt(&number);
  return number ? std::optional(value) : std::nullopt;
}

KeptWorkspace keptIn(const QSettings& file, const QString& at) {
  const QVariant fused = file.value(at + "fused");
  return {file.value(at + "docks").toByteArray(), file.value(at + "folded").toStringList(),
          numberIn(file, at + "heat"), numberIn(file, at + "parts"),
          fused.isValid() ? std::optional(fused.toBool()) : std::nullopt};
}

void keep(const KeptWorkspace& one, QSettings& file, const QString& at) {
  file.setValue(at + "docks", one.docks);
  if (!one.folded.isEmpty()) file.setValue(at + "folded", one.folded);
  if (one.heat) file.setValue(at + "heat", *one.heat);
  if (one.parts) file.setValue(at + "parts", *one.parts);
  if (one.fused) file.setValue(at + "fused", *one.fused);
}

}  // namespace

void WindowSettings::addRecent(const QString& model) {
  recent.removeAll(model);
  recent.prepend(model);
  recent = recent.mid(0, kRecent);
}

SettingsFile::SettingsFile(const QString& folder)
    : path_((folder.isEmpty() ? configFolder() : folder) + "/window.ini") {}

WindowSettings SettingsFile::load() const {
  QSettings file(path_, QSettings::IniFormat);
  WindowSettings settings;
  settings.geometry = file.value("window/geometry").toByteArray();
  settings.state = file.value("window/state").toByteArray();
  settings.workspace = file.value("window/workspace").toString();
  file.beginGroup("workspaces");
  for (const QString& id : file.childGroups()) settings.workspaces[id] = keptIn(file, id + '/');
  file.endGroup();
  settings.theme = themeOf(file.value("window/theme").toString());
  settings.recent = file.value("files/recent").toStringList();
  settings.lastFolder = file.value("files/folder").toString();
  settings.heat = file.value("graph/heat", settings.heat).toInt();
  settings.fusedTab = file.value("graph/fused", settings.fusedTab).toBool();
  settings.sideBySide = file.value("graph/sideBySide", false).toBool();
  settings.graphSplit = file.value("graph/split").toByteArray();
  settings.wiresByType = file.value("graph/wiresByType", false).toBool();
  settings.reducedMotion = file.value("graph/reducedMotion", false).toBool();
  settings.graphParts = file.value("graph/parts", settings.graphParts).toInt();
  file.beginGroup("columns");
  for (const QString& model : file.childKeys())
    settings.columns[QUrl::fromPercentEncoding(model.toLatin1())] = file.value(model).toInt();
  file.endGroup();
  settings.systemPrompt = file.value("chat/system").toString();
  settings.depths = file.value("measure/depths").toString();
  settings.contextShift = file.value("chat/contextShift", false).toBool();
  file.beginGroup("keys");
  for (const QString& id : file.childKeys()) settings.keys[id] = file.value(id).toString();
  file.endGroup();
  const int arranged = file.beginReadArray("arrangements");
  for (int i = 0; i < arranged; ++i) {
    file.setArrayIndex(i);
    settings.arrangements[file.value("model").toString()] = file.value("places").toString();
  }
  file.endArray();
  return settings;
}

void SettingsFile::save(const WindowSettings& settings) const {
  QDir().mkpath(QFileInfo(path_).path());
  QSettings file(path_, QSettings::IniFormat);
  file.setValue("window/geometry", settings.geometry);
  file.setValue("window/state", settings.state);
  file.setValue("window/workspace", settings.workspace);
  file.remove("workspaces");
  for (auto one = settings.workspaces.begin(); one != settings.workspaces.end(); ++one)
    keep(*one, file, "workspaces/" + one.key() + '/');
  file.setValue("window/theme", nameOf(settings.theme));
  file.setValue("files/recent", settings.recent);
  file.setValue("files/folder", settings.lastFolder);
  file.setValue("graph/heat", settings.heat);
  file.setValue("graph/fused", settings.fusedTab);
  file.setValue("graph/sideBySide", settings.sideBySide);
  file.setValue("graph/split", settings.graphSplit);
  file.setValue("graph/wiresByType", settings.wiresByType);
  file.setValue("graph/reducedMotion", settings.reducedMotion);
  file.setValue("graph/parts", settings.graphParts);
  file.remove("columns");
  for (auto model = settings.columns.begin(); model != settings.columns.end(); ++model)
    file.setValue("columns/" + QUrl::toPercentEncoding(model.key()),
                  model.value());  // a name may have slashes
  file.setValue("chat/system", settings.systemPrompt);
  file.setValue("measure/depths", settings.depths);
  file.setValue("chat/contextShift", settings.contextShift);
  file.remove("keys");
  for (auto key = settings.keys.begin(); key != settings.keys.end(); ++key)
    file.setValue("keys/" + key.key(), key.value());
  file.remove("arrangements");
  file.beginWriteArray("arrangements");
  int index = 0;
  for (auto one = settings.arrangements.begin(); one != settings.arrangements.end(); ++one) {
    file.setArrayIndex(index++);
    file.setValue("model", one.key());  // a path: no key of the file, which parts them at slashes
    file.setValue("places", one.value());
  }
  file.endArray();
}

}  // namespace orrery::ui
