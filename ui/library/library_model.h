// The models that can be opened: those of the library folders, and files opened lately.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

#include "ui/session/session_controller.h"

namespace orrery::ui {

class LibraryModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role {
    nameRole = Qt::UserRole,
    detailRole,   // "GGUF  Q4_1  98 MB"
    pathRole,     // what to open: a path or a library name
    adapterRole,  // PEFT folder; empty: none
    stateRole,    // "loaded", "fits", "tight", "too large"; empty: not known
    missingRole,  // bool: a recent file that is no longer there
  };

  explicit LibraryModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

  void setModels(Library models);
  void setRecent(const QStringList& paths);
  /// As the session was opened: a path or a library name, and its adapter.
  void setLoaded(const QString& model, const QString& adapter);
  /// Memory that the machine has, bytes; 0: not known.
  void setMemory(quint64 bytes) { memory_ = bytes; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QModelIndex find(const QString& pathOrName) const;

 private:
  void merge();
  QString stateOf(const api::LibraryEntry& entry) const;

  Library found_, rows_;
  QStringList recent_;
  QString loaded_, loadedAdapter_;
  quint64 memory_ = 0;
};

}  // namespace orrery::ui
