// What a path that a person chose or dropped stands for. Models are told by their content when they are
// opened, so that any file may be one; here only files that belong to something else are put right.
#pragma once

#include <QString>

namespace orrery::ui {

struct Openable {
  enum class Kind { model, adapter, table };
  Kind kind = Kind::model;
  QString path;  // of what is to be opened: the folder, where a file in it was named
};

/// A config.json, an index or one of several shards stands for its folder; a PEFT folder, a file of it, or a
/// GGUF file of the type "adapter" is an adapter; .csv and .tsv are tables of texts.
Openable openableOf(const QString& path);

/// Of the dialog that opens a file: every kind of file that the engine reads, then all files.
QString modelFilters();

}  // namespace orrery::ui
