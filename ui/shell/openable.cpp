#include "ui/shell/openable.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <map>

namespace orrery::ui {
namespace {

constexpr qint64 kHeadBytes = 65536;

QString nameOf(const QString& path) { return QFileInfo(QDir::cleanPath(path)).fileName(); }

bool holdsWeights(const QDir& folder) {
  for (const QString& name : folder.entryList({"*.safetensors", "pytorch_model*.bin"}, QDir::Files))
    if (!name.startsWith("adapter_model.")) return true;
  return false;
}

bool isAdapterFolder(const QString& path) {
  const QDir folder(path);
  return folder.exists("adapter_config.json") && !holdsWeights(folder);
}

/// The key general.type, a string (8) of seven letters: "adapter". It stands among the first keys.
bool isGgufAdapter(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return false;
  const QByteArray head = file.read(kHeadBytes);
  static const QByteArray kAdapter = QByteArray("general.type") + QByteArray::fromHex("08000000") +
                                     QByteArray::fromHex("0700000000000000") + "adapter";
  return head.startsWith("GGUF") && head.contains(kAdapter);
}

/// The key stands at the start of what is written by a person and by this program.
bool isRecipe(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) && file.read(kHeadBytes).contains("\"orrery_recipe\"");
}

/// "model-00001-of-00003.safetensors" beside its index.
bool isShard(const QFileInfo& file) {
  static const QRegularExpression piece("^(.*)-\\d+-of-\\d+\\.(safetensors|bin)$");
  const QRegularExpressionMatch match = piece.match(file.fileName());
  return match.hasMatch() && file.dir().exists(match.captured(1) + "." + match.captured(2) + ".index.json");
}

}  // namespace

Openable openableOf(const QString& path) {
  using Kind = Openable::Kind;
  const QFileInfo file(path);
  const QString name = file.fileName(), suffix = file.suffix().toLower();
  if (file.isDir()) return {isAdapterFolder(path) ? Kind::adapter : Kind::model, path};
  if (suffix == "csv" || suffix == "tsv") return {Kind::table, path};
  if (name == "adapter_config.json" || name.startsWith("adapter_model.")) return {Kind::adapter, file.path()};
  if (name == "config.json" || name.endsWith(".index.json") || isShard(file))
    return {Kind::model, file.path()};
  if (suffix == "json" && isRecipe(path)) return {Kind::recipe, path};
  return {isGgufAdapter(path) ? Kind::adapter : Kind::model, path};
}

QString modelFilters() {
  return "Models, graphs, adapters and recipes (*.gguf *.safetensors *.index.json *.json *.bin *.pt *.pth "
         "*.npy "
         "*.npz);;Tables of texts (*.csv *.tsv);;All files (*)";
}

OpenPlan planOf(const QStringList& paths, const QString& open) {
  using Kind = Openable::Kind;
  std::map<Kind, QStringList> found;
  for (const QString& path : paths) {
    const Openable openable = openableOf(path);
    if (!found[openable.kind].contains(openable.path)) found[openable.kind] += openable.path;
  }
  const auto one = [&](Kind kind) { return found[kind].value(0); };
  OpenPlan plan{true, one(Kind::model), one(Kind::adapter), one(Kind::recipe), one(Kind::table), {}, {}};
  const auto cannot = [](const QString& title, const QString& body) {
    return OpenPlan{false, {}, {}, {}, {}, title, body};
  };
  for (const auto& [kind, word] : {std::pair(Kind::model, "models"), std::pair(Kind::adapter, "adapters"),
                                   std::pair(Kind::recipe, "recipes"), std::pair(Kind::table, "tables")})
    if (found[kind].size() > 1)
      return cannot(QString("These are %1 %2").arg(found[kind].size()).arg(word), "Open one at a time.");
  if (!plan.table.isEmpty()) {
    if (!plan.model.isEmpty() || !plan.adapter.isEmpty() || !plan.recipe.isEmpty())
      return cannot(nameOf(plan.table) + " is a table of texts", "Open it by itself.");
    plan.title = "Classify the texts of " + nameOf(plan.table);
  } else if (!plan.model.isEmpty()) {
    plan.title = "Open " + nameOf(plan.model);
    if (!plan.adapter.isEmpty()) plan.body += "with the adapter " + nameOf(plan.adapter);
    if (!plan.recipe.isEmpty())
      plan.body += QString(plan.body.isEmpty() ? "" : " and ") + "with the edits of " + nameOf(plan.recipe);
  } else if (!plan.adapter.isEmpty()) {
    if (open.isEmpty())
      return cannot(nameOf(plan.adapter) + " is an adapter",
                    "Open the model that it was made for, then the adapter.");
    plan.title = "Put the adapter " + nameOf(plan.adapter) + " on " + open;
    if (!plan.recipe.isEmpty())
      return cannot(nameOf(plan.recipe) + " is a recipe", "Open it after the adapter.");
  } else if (!plan.recipe.isEmpty()) {
    if (open.isEmpty())
      return cannot(nameOf(plan.recipe) + " is a recipe",
                    "Open the model that it was made for, then the recipe.");
    plan.title = "Edit " + open + " with " + nameOf(plan.recipe);
    plan.body = "Every edit can be undone";
  }
  return plan;
}

}  // namespace orrery::ui
