// The recipes of the models that the library lists: found and checked on a thread of its own, and what is
// done to their files. Lives on the GUI thread.
#pragma once

#include <QObject>
#include <QString>
#include <map>
#include <optional>

#include "engine/base/worker.h"
#include "ui/session/services.h"

namespace orrery::ui {

/// A recipe of a model, and what the model says to it.
struct ShelvedRecipe {
  api::RecipeFile file;
  std::optional<std::vector<edit::Misfit>> misfits = {};  // none: it is not checked yet, or cannot be
  QString refusal = {};                                   // why it cannot be
  QString path() const { return QString::fromStdString(file.path); }
  /// As the person called it, else by its file.
  QString name() const;
  size_t edits() const { return file.recipe.edits.size(); }
};
using ShelvedRecipes = std::vector<ShelvedRecipe>;

class RecipeShelf : public QObject {
  Q_OBJECT
 public:
  using Model = std::pair<std::string, std::string>;  // path or library name, adapter

  explicit RecipeShelf(RecipeCalls calls, QObject* parent = nullptr);
  ~RecipeShelf() override;

  /// Looks for the recipes of these models and checks each; tells `listed`, then `checked` as answers come.
  void look(std::vector<Model> models);
  /// In the order of their files; those of the last look until there are others.
  const ShelvedRecipes& of(const Model& model) const;

  /// Where a recipe of the model goes, unless the person says otherwise: beside it where files can be made
  /// there, else into the program's folder; a name that is not taken.
  QString proposal(const QString& model) const;
  // What is done to files is whole or not at all, and looked at again.
  Result<void> save(const QString& path, const edit::Recipe& recipe);
  Result<void> rename(const QString& path, const QString& name);
  /// What it held, for putBack.
  Result<QByteArray> remove(const QString& path);
  Result<void> putBack(const QString& path, const QByteArray& text);

 signals:
  void listed();
  void checked();

 private:
  void take(quint64 look, const Model& model, std::vector<api::RecipeFile> files, bool last);
  void check(const Model& model, const ShelvedRecipe& recipe);
  void takeCheck(const Model& model, const api::RecipeFile& file,
                 const Result<std::vector<edit::Misfit>>& misfits);

  RecipeCalls calls_;
  quint64 look_ = 0;  // the newest
  std::vector<Model> models_;
  std::map<Model, ShelvedRecipes> shelf_;
  std::unique_ptr<Worker> worker_;  // last: joined before what its jobs use is gone
};

}  // namespace orrery::ui
