#include "ui/inspector/edit_form.h"

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr int kTypingMilliseconds = 120;
constexpr double kLabel = 64;

}  // namespace

EditForm::EditForm(const Theme& theme, std::vector<FormVerb> verbs, const QString& target,
                   const QString& every, const EditDraft& draft, QWidget* parent)
    : QWidget(parent),
      theme_(theme),
      verbs_(std::move(verbs)),
      target_(target),
      every_(every),
      everywhere_(draft.target == target && draft.everywhere),
      choice_(new DropButton(theme, this)),
      help_(new Text(theme, {Token::text3, 10.5}, {}, this)),
      column_(new QVBoxLayout(this)),
      reset_(new Button(theme, "Reset", Button::Kind::plain, this)),
      apply_(new Button(theme, "Apply", Button::Kind::primary, this)) {
  choice_->setToolTip("What is to be done");
  help_->setWrap(true);
  apply_->setToolTip("Enter in a field does the same");
  for (const FormVerb& verb : verbs_)
    choice_->menu()->addAction(verb.name, this, [this, name = verb.name] { choose(name); });
  column_->setContentsMargins(0, 0, 0, 0);
  column_->setSpacing(6);
  column_->addWidget(choice_, 0, Qt::AlignLeft);
  column_->addWidget(help_);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  foot->addWidget(reset_);
  foot->addStretch(1);
  foot->addWidget(apply_);
  column_->addLayout(foot);
  soon_.setSingleShot(true);
  soon_.setInterval(kTypingMilliseconds);
  connect(&soon_, &QTimer::timeout, this, &EditForm::consider);
  connect(reset_, &QAbstractButton::clicked, this, &EditForm::reset);
  connect(apply_, &QAbstractButton::clicked, this, &EditForm::apply);
  const bool continued = draft.target == target;
  for (size_t i = 0; i < verbs_.size(); ++i)
    if (continued && verbs_[i].name == draft.verb) current_ = static_cast<int>(i);
  build();
  if (!continued) return;
  for (EditRow* row : rows_)
    if (const auto typed = draft.typed.find(row->field().name); typed != draft.typed.end())
      row->setText(typed->second);
  refresh();
  told_ = !draft.typed.empty() && !edits().empty();
}

EditDraft EditForm::draft() const {
  EditDraft draft{target_, verb().name, {}, everywhere_};
  for (const EditRow* row : rows_)
    if (row->isChanged()) draft.typed[row->field().name] = row->text();
  return draft;
}

EditRow* EditForm::row(const QString& field) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const EditRow* row) { return row->field().name == field; });
  return found == rows_.end() ? nullptr : *found;
}

void EditForm::choose(const QString& name) {
  for (size_t i = 0; i < verbs_.size(); ++i)
    if (verbs_[i].name == name) current_ = static_cast<int>(i);
  build();
  consider();
}

/// The rows of the verb.
void EditForm::build() {
  if (fields_) {
    fields_->hide();
    fields_->deleteLater();
  }
  rows_.clear();
  fields_ = new QWidget(this);
  auto* fields = new QVBoxLayout(fields_);
  fields->setContentsMargins(0, 0, 0, 0);
  fields->setSpacing(2);
  choice_->setCaption(verb().name);
  help_->setText(verb().help);
  for (const FormField& field : verb().fields) {
    auto* row = new EditRow(theme_, field, fields_);
    fields->addWidget(row);
    connect(row, &EditRow::changed, this, [this] {
      refresh();
      soon_.start();
    });
    connect(row, &EditRow::entered, this, &EditForm::apply);
    connect(row, &EditRow::escaped, this, &EditForm::reset);
    rows_.push_back(row);
  }
  where_ = nullptr;
  if (verb().target == "scope" && !every_.isEmpty()) addWhere();
  column_->insertWidget(2, fields_);
  refresh();
}

/// "on": this one, or the same of every layer.
void EditForm::addWhere() {
  where_ = new Segmented(theme_, fields_);
  where_->addChoice("this one");
  where_->addChoice("every layer");
  where_->setCurrent(everywhere_ ? 1 : 0);
  where_->setToolTip(every_);
  where_->setAccessibleName("on");
  auto* label = new Text(theme_, {Token::text2, 12}, "on", fields_);
  label->setFixedWidth(qRound(theme_.scaled(kLabel)));
  auto* row = new QHBoxLayout;
  row->setContentsMargins(8, 2, 0, 4);
  row->setSpacing(8);
  row->addWidget(label);
  row->addWidget(where_);
  row->addStretch(1);
  static_cast<QVBoxLayout*>(fields_->layout())->addLayout(row);
  connect(where_, &Segmented::chosen, this, [this](int choice) {
    everywhere_ = choice == 1;
    refresh();
    consider();
  });
}

std::vector<edit::Edit> EditForm::edits() const {
  for (const EditRow* row : rows_)
    if (!row->problem().isEmpty()) return {};
  const bool everywhere = where_ && everywhere_;
  return editsOf(verb(), everywhere ? every_ : target_, draft().typed);
}

void EditForm::refresh() {
  const auto changed =
      std::count_if(rows_.begin(), rows_.end(), [](const EditRow* row) { return row->isChanged(); });
  const std::vector<edit::Edit> now = edits();
  reset_->setEnabled(changed > 0);
  apply_->setEnabled(!now.empty() && now != refused_);
  emit wordsChanged(changed > 0 ? QString("%1 changed").arg(changed) : QString());
}

void EditForm::consider() {
  soon_.stop();
  const std::vector<edit::Edit> now = edits();
  if (!now.empty()) {
    told_ = true;
    return emit considered(now);
  }
  if (std::exchange(told_, false)) emit left();
}

void EditForm::setForetold(const std::vector<edit::Edit>& edits, bool refused) {
  refused_ = refused ? edits : std::vector<edit::Edit>();
  refresh();
}

void EditForm::apply() {
  if (!apply_->isEnabled()) return;
  const std::vector<edit::Edit> now = edits();
  soon_.stop();
  if (std::exchange(told_, false)) emit left();
  emit applied(now,
               now.size() > 1 ? QString("set %1 attributes of %2").arg(now.size()).arg(target_) : QString());
}

void EditForm::reset() {
  for (EditRow* row : rows_) row->setText(row->field().before);
  refresh();
  consider();
}

}  // namespace orrery::ui
