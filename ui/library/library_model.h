// The models that can be opened: those of the library folders, and files opened lately.
#pragma once

#include <QAbstractListModel>
#include <QStringList>

#include "ui/session/memory_estimates.h"
#include "ui/session/session_controller.h"

namespace orrery::ui {

class LibraryModel : public QAbstractListModel {
  Q_OBJECT
 public:
  enum Role {
    nameRole = Qt::UserRole,
    titleRole,     // what it is called once it is open; empty: by its file
    detailRole,    // "GGUF  Q4_1  98 MB"
    pathRole,      // what to open: a path or a library name
    adapterRole,   // PEFT folder; empty: none
    stateRole,     // "loaded", "fits", "tight", "too large"; empty: not known
    missingRole,   // bool: a recent file that is no longer there
    metadataRole,  // bool: its metadata can be edited
  };

  explicit LibraryModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

  void setModels(Library models);
  void setRecent(const QStringList& paths);
  /// As the session was opened: a path or a library name, and its adapter.
  void setLoaded(const QString& model, const QString& adapter);
  /// Where it fits is told from these estimates, by the context that it would be opened with.
  void setEstimates(const MemoryEstimates* estimates) { estimates_ = estimates; }
  /// Some estimate has changed.
  void refreshFits();
  const Library& models() const { return found_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QModelIndex find(const QString& pathOrName) const;

 private:
  void merge();
  QString stateOf(const api::LibraryEntry& entry) const;
  QString toolTipOf(const api::LibraryEntry& entry) const;
  Fits fitsOf(const api::LibraryEntry& entry) const;

  Library found_, rows_;
  QStringList recent_;
  QString loaded_, loadedAdapter_;
  const MemoryEstimates* estimates_ = nullptr;
};

}  // namespace orrery::ui
