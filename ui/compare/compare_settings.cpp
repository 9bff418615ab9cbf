#include "ui/compare/compare_settings.h"

#include <QFileInfo>

#include "ui/session/model_title.h"

namespace orrery::ui {
namespace {

using Change = std::function<void(api::OpenOptions&)>;

void addVariant(std::vector<CompareSetting>& settings, const std::string& device, const QString& name,
                const std::string& key, const Change& change) {
  settings.push_back({deviceTitle(device) + (name.isEmpty() ? QString() : ", " + name),
                      QString::fromStdString(key.empty() ? device : device + ' ' + key), device != "cpu",
                      [device, change](api::OpenOptions& options) {
                        options.device = device;
                        if (change) change(options);
                      }});
}

void unfuse(api::OpenOptions& options) { options.fusion = false; }

}  // namespace

std::vector<CompareSetting> compareSettings(const CompareChoices& choices) {
  const auto& [devices, edits, types, files, recipeFile, typeFile] = choices;
  std::vector<CompareSetting> settings;
  const Change edited = [recipeFile = recipeFile](api::OpenOptions& options) {
    options.recipe = recipeFile();
  };
  addVariant(settings, "cpu", {}, {}, {});
  addVariant(settings, "cpu", "exact", "exact",
             [](api::OpenOptions& options) { options.precision = "exact"; });
  addVariant(settings, "cpu", "not fused", "unfused", unfuse);
  addVariant(settings, "cpu", "1 thread", "1", [](api::OpenOptions& options) { options.threads = 1; });
  for (const std::string& type : types)
    addVariant(settings, "cpu", "as " + QString::fromStdString(type).toUpper(), "as " + type,
               [typeFile = typeFile, type](api::OpenOptions& options) { options.recipe = typeFile(type); });
  for (const QString& file : files)
    addVariant(settings, "cpu", QFileInfo(file).completeBaseName(), file.toStdString(),
               [file](api::OpenOptions& options) {
                 options.model = file.toStdString();
                 options.adapter.clear();
               });
  if (!edits.empty()) addVariant(settings, "cpu", "edited", edits, edited);
  std::string first;
  for (const api::DeviceEntry& entry : devices) {
    if (entry.device == "cpu" || !entry.refusal.empty()) continue;
    if (first.empty()) first = entry.device;
    addVariant(settings, entry.device, {}, {}, {});
  }
  if (first.empty()) return settings;
  addVariant(settings, first, "not fused", "unfused", unfuse);
  if (!edits.empty()) addVariant(settings, first, "edited", edits, edited);
  return settings;
}

int tellingSetting(const std::vector<CompareSetting>& settings) {
  constexpr int kExact = 1;
  for (size_t i = 0; i < settings.size(); ++i)
    if (settings[i].device) return static_cast<int>(i);
  return kExact;
}

}  // namespace orrery::ui
