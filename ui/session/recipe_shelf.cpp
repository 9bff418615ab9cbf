#include "ui/session/recipe_shelf.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "ui/session/saved_file.h"

namespace orrery::ui {
namespace {

constexpr qint64 kMostRead = qint64{1} << 21;  // more than any recipe has; the engine says so

Error fileError(const QString& what, const QString& path, const QString& advice) {
  return {ErrorCode::io, what.toStdString(), path.toStdString(), advice.toStdString()};
}

Result<QByteArray> textOf(const QString& path) {
  QFile file(path);
  if (file.open(QIODevice::ReadOnly)) return file.read(kMostRead);
  return fileError(file.errorString(), path, "check the file and its permissions");
}

Result<void> written(const QString& path, const QByteArray& text) {
  QDir().mkpath(QFileInfo(path).path());
  return saveFile(path, text);
}

bool sameRecipe(const api::RecipeFile& a, const api::RecipeFile& b) {
  return a.path == b.path && a.recipe.edits == b.recipe.edits &&
         a.problem.has_value() == b.problem.has_value();
}

}  // namespace

QString ShelvedRecipe::name() const {
  if (!file.recipe.name.empty()) return QString::fromStdString(file.recipe.name);
  const QString name = QFileInfo(path()).fileName();
  for (const char* end : {".recipe.json", ".json"})
    if (name.endsWith(end)) return name.chopped(static_cast<qsizetype>(qstrlen(end)));
  return name;
}

RecipeShelf::RecipeShelf(RecipeCalls calls, QObject* parent)
    : QObject(parent), calls_(std::move(calls)), worker_(std::make_unique<Worker>()) {}

RecipeShelf::~RecipeShelf() { worker_.reset(); }

void RecipeShelf::look(std::vector<Model> models) {
  models_ = std::move(models);
  if (!calls_.list) return;
  const quint64 look = ++look_;
  for (size_t i = 0; i < models_.size(); ++i)
    worker_->post([this, look, model = models_[i], last = i + 1 == models_.size()](std::stop_token) {
      std::vector<api::RecipeFile> files = calls_.list(model.first, model.second);
      QMetaObject::invokeMethod(
          this, [this, look, model, files = std::move(files), last] { take(look, model, files, last); },
          Qt::QueuedConnection);
    });
}

/// What was checked of a recipe stays while its edits do.
void RecipeShelf::take(quint64 look, const Model& model, std::vector<api::RecipeFile> files, bool last) {
  if (look != look_) return;
  ShelvedRecipes before = std::exchange(shelf_[model], {});
  for (api::RecipeFile& file : files) {
    const auto known =
        std::ranges::find_if(before, [&](const auto& one) { return sameRecipe(one.file, file); });
    ShelvedRecipe recipe{std::move(file)};
    if (known != before.end()) {
      recipe.misfits = known->misfits;
      recipe.refusal = known->refusal;
    }
    if (!recipe.misfits && recipe.refusal.isEmpty()) check(model, recipe);
    shelf_[model].push_back(std::move(recipe));
  }
  if (last) emit listed();
}

void RecipeShelf::check(const Model& model, const ShelvedRecipe& recipe) {
  if (!calls_.check || recipe.file.problem) return;
  worker_->post([this, model, file = recipe.file](std::stop_token) {
    auto misfits = calls_.check(model.first, model.second, file.recipe.edits);
    QMetaObject::invokeMethod(
        this, [this, model, file, misfits = std::move(misfits)] { takeCheck(model, file, misfits); },
        Qt::QueuedConnection);
  });
}

void RecipeShelf::takeCheck(const Model& model, const api::RecipeFile& file,
                            const Result<std::vector<edit::Misfit>>& misfits) {
  for (ShelvedRecipe& recipe : shelf_[model]) {
    if (!sameRecipe(recipe.file, file)) continue;
    if (misfits.ok()) {
      recipe.misfits = *misfits;
    } else {
      recipe.refusal = QString::fromStdString(misfits.error().to_string());
    }
    emit checked();
  }
}

const ShelvedRecipes& RecipeShelf::of(const Model& model) const {
  static const ShelvedRecipes kNone;
  const auto found = shelf_.find(model);
  return found == shelf_.end() ? kNone : found->second;
}

QString RecipeShelf::proposal(const QString& model) const {
  const QFileInfo info(model);
  const QString folder = calls_.folder.empty() || QFileInfo(info.absolutePath()).isWritable()
                             ? info.absolutePath()
                             : QString::fromStdString(calls_.folder);
  QDir().mkpath(folder);  // so that the dialog is there
  const QString base = folder + '/' + (info.isDir() ? info.fileName() : info.completeBaseName());
  QString path = base + ".recipe.json";
  for (int next = 2; QFileInfo::exists(path); ++next) path = QString("%1-%2.recipe.json").arg(base).arg(next);
  return path;
}

Result<void> RecipeShelf::save(const QString& path, const edit::Recipe& recipe) {
  ORRERY_TRY(written(path, QByteArray::fromStdString(calls_.write(recipe))));
  look(models_);
  return {};
}

Result<void> RecipeShelf::rename(const QString& path, const QString& name) {
  ORRERY_ASSIGN(const QByteArray text, textOf(path));
  ORRERY_ASSIGN(edit::Recipe recipe, calls_.parse(text.toStdString()));
  recipe.name = name.trimmed().toStdString();
  return save(path, recipe);
}

Result<QByteArray> RecipeShelf::remove(const QString& path) {
  ORRERY_ASSIGN(QByteArray text, textOf(path));
  QFile file(path);
  if (!file.remove()) return fileError(file.errorString(), path, "check the permissions of its folder");
  look(models_);
  return text;
}

Result<void> RecipeShelf::putBack(const QString& path, const QByteArray& text) {
  if (QFileInfo::exists(path))
    return fileError("Another file of that name has appeared since", path, "move it away first");
  ORRERY_TRY(written(path, text));
  look(models_);
  return {};
}

}  // namespace orrery::ui
