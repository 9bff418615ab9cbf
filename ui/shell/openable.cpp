#include "ui/shell/openable.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

namespace orrery::ui {
namespace {

constexpr qint64 kHeadBytes = 65536;

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
  return {isGgufAdapter(path) ? Kind::adapter : Kind::model, path};
}

QString modelFilters() {
  return "Models and adapters (*.gguf *.safetensors *.index.json config.json adapter_config.json *.bin *.pt "
         "*.pth "
         "*.npy *.npz);;All files (*)";
}

}  // namespace orrery::ui
