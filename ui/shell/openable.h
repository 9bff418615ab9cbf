// What a path that a person chose or dropped stands for. Models are told by their content when they are
// opened, so that any file may be one; here only files that belong to something else are put right.
#pragma once

#include <QString>
#include <QStringList>

namespace orrery::ui {

struct Openable {
  enum class Kind { model, adapter, recipe, table };
  Kind kind = Kind::model;
  QString path;  // of what is to be opened: the folder, where a file in it was named
};

/// A config.json, an index or one of several shards stands for its folder; a PEFT folder, a file of it, or a
/// GGUF file of the type "adapter" is an adapter; JSON with the key of a recipe is one; .csv and .tsv are
/// tables of texts.
Openable openableOf(const QString& path);

/// Of the dialog that opens a file: every kind of file that can be opened, then all files.
QString modelFilters();

/// What opening several paths together does: a model, alone or with an adapter and a recipe; an adapter or a
/// recipe for the model that is open; or a table. The words say it, or why it cannot be done.
struct OpenPlan {
  bool possible = false;
  QString model, adapter, recipe, table;  // paths; empty: none
  QString title, body;
};
/// `open`: the title of the model that is open; empty: none is.
OpenPlan planOf(const QStringList& paths, const QString& open);

}  // namespace orrery::ui
