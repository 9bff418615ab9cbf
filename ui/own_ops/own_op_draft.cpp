#include "ui/own_ops/own_op_draft.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

static void registerOwnOpExamples() { Q_INIT_RESOURCE(own_op_examples); }

namespace orrery::ui {
namespace {

constexpr const char* kExamples = ":/own_op_examples/";

bool isCudaName(const std::string& name) { return name.ends_with(".cu"); }

custom::SourceFile* find(SourceFiles& files, bool cuda) {
  const auto found =
      std::ranges::find_if(files, [&](const auto& file) { return isCudaName(file.name) == cuda; });
  return found == files.end() ? nullptr : &*found;
}

void registerExamples() {
  static const bool registered = (registerOwnOpExamples(), true);
  Q_UNUSED(registered);
}

}  // namespace

bool isSame(const SourceFiles& a, const SourceFiles& b) {
  return std::ranges::equal(a, b, [](const custom::SourceFile& one, const custom::SourceFile& other) {
    return one.name == other.name && one.bytes == other.bytes;
  });
}

bool OwnOpDraft::unsaved() const { return !isSame(files, saved); }
bool OwnOpDraft::current() const { return report && isSame(files, reportedFor); }
bool OwnOpDraft::failedTrial() const {
  return current() && reached != OwnOpStep::compile &&
         std::ranges::find(report->checks, false, &custom::Check::ok) != report->checks.end();
}
custom::SourceFile* OwnOpDraft::host() { return find(files, false); }
custom::SourceFile* OwnOpDraft::cuda() { return find(files, true); }

QString OwnOpDraft::schema() const {
  for (const custom::SourceFile& file : files) {
    const QString text = QString::fromStdString(file.bytes);
    const qsizetype begin = text.indexOf("ORRERY_OP(");
    if (begin < 0) continue;
    int depth = 0;
    bool quoted = false;
    for (qsizetype at = begin; at < text.size(); ++at) {
      if (text[at] == '"' && text[at - 1] != '\\') quoted = !quoted;
      if (quoted) continue;
      depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
      if (text[at] == ')' && depth == 0) return text.mid(begin, at + 1 - begin);
    }
  }
  return {};
}

QString baseName(const SourceFiles& files) {
  return files.empty() ? QString() : QFileInfo(QString::fromStdString(files.front().name)).completeBaseName();
}

QStringList ownOpExamples() {
  registerExamples();
  QStringList names;
  for (const QString& file : QDir(kExamples).entryList({"*.cpp"}, QDir::Files, QDir::Name))
    names += QFileInfo(file).completeBaseName();
  return names;
}

OwnOpDraft draftOf(const QString& example, const QString& name) {
  registerExamples();
  OwnOpDraft draft;
  draft.name = name;
  for (const QString& ending : {QStringLiteral(".cpp"), QStringLiteral(".cu")}) {
    QFile file(kExamples + example + ending);
    if (!file.open(QIODevice::ReadOnly)) continue;
    draft.files.push_back({(name + ending).toStdString(),
                           QString::fromUtf8(file.readAll()).replace(example, name).toStdString()});
  }
  draft.saved = draft.files;
  return draft;
}

}  // namespace orrery::ui
