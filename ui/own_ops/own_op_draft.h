// An op of one's own as it is written: its files, what of them is in files of the person's, and how far they
// came. What was reached counts for the files that reached it; another letter and it is to be done again.
#pragma once

#include <QString>
#include <QStringList>
#include <optional>

#include "ui/session/own_op_controller.h"

namespace orrery::ui {

struct OwnOpDraft {
  QString name;  // of its files, without their endings
  SourceFiles files;
  SourceFiles saved;  // as they lie in files, or as they began
  QString folder;     // where they lie; empty: nowhere yet
  std::optional<api::OwnOpReport> report;
  OwnOpStep reached = OwnOpStep::compile;  // what the report is of
  SourceFiles reportedFor;

  bool unsaved() const;
  /// The report is of the files as they are.
  bool current() const;
  bool compiled() const { return current() && (report->passed || failedTrial()); }
  /// It compiled, and its trial found what is wrong.
  bool failedTrial() const;
  bool verified() const { return current() && report->passed && reached != OwnOpStep::compile; }
  bool added() const { return verified() && reached == OwnOpStep::add; }
  /// Its first file of that kind; null: it has none.
  custom::SourceFile* host();
  custom::SourceFile* cuda();
  /// What the op declares: ORRERY_OP(...) as it is written; empty: there is none.
  QString schema() const;
};

bool isSame(const SourceFiles& a, const SourceFiles& b);
/// The examples that come with the program, by name.
QStringList ownOpExamples();
/// One of them under another name.
OwnOpDraft draftOf(const QString& example, const QString& name);
QString baseName(const SourceFiles& files);

}  // namespace orrery::ui
