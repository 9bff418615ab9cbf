// The inspector's section "Edit": what is to be done to the chosen thing, typed in. While it is typed, what
// it will change is told elsewhere; nothing is done before Apply.
#pragma once

#include <QTimer>
#include <QVBoxLayout>

#include "ui/inspector/edit_row.h"

namespace orrery::ui {

/// What was typed, so that it outlives the section.
struct EditDraft {
  QString target, verb;
  TypedFields typed;
  bool everywhere = false;
};

class EditForm : public QWidget {
  Q_OBJECT
 public:
  /// `target`: the path of the node or the scope; `every`: the same of every layer, empty where there is no
  /// other. The draft is continued where it is of this target.
  EditForm(const Theme& theme, std::vector<FormVerb> verbs, const QString& target, const QString& every,
           const EditDraft& draft, QWidget* parent = nullptr);

  EditDraft draft() const;
  /// What Apply would do; none: nothing was changed, or something cannot be.
  std::vector<edit::Edit> edits() const;
  /// What was foretold of these edits; they may be others than those that are typed now.
  void setForetold(const std::vector<edit::Edit>& edits, bool refused);
  DropButton* verbs() const { return choice_; }
  const std::vector<EditRow*>& rows() const { return rows_; }
  EditRow* row(const QString& field) const;    // null: there is none
  Segmented* where() const { return where_; }  // here, or in every layer; null: only here
  Button* applyButton() const { return apply_; }
  Button* resetButton() const { return reset_; }
  void choose(const QString& verb);

 signals:
  void considered(const std::vector<orrery::edit::Edit>& edits);
  void left();
  void applied(const std::vector<orrery::edit::Edit>& edits, const QString& name);
  void wordsChanged(const QString& words);  // "2 changed"

 private:
  const FormVerb& verb() const { return verbs_[static_cast<size_t>(current_)]; }
  void build();
  void addWhere();
  void refresh();
  void consider();
  void apply();
  void reset();

  Theme theme_;
  std::vector<FormVerb> verbs_;
  int current_ = 0;
  QString target_, every_;
  bool everywhere_ = false;
  Segmented* where_ = nullptr;
  DropButton* choice_;
  Text* help_;
  QWidget* fields_ = nullptr;
  QVBoxLayout* column_;
  std::vector<EditRow*> rows_;
  Button *reset_, *apply_;
  QTimer soon_;
  bool told_ = false;                // that an edit is considered
  std::vector<edit::Edit> refused_;  // that cannot be made
};

}  // namespace orrery::ui
