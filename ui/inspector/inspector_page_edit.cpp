// The inspector's section "Edit" of a node or a scope. The form is made when the section is opened.
#include "ui/inspector/inspector_page.h"

namespace orrery::ui {

void InspectorPage::addEdit(NodeId node, const QString& target) {
  editNode_ = node;
  editTarget_ = target;
  edit_ = addSection("Edit");
  edit_->setOpen(editOpen_);
  connect(edit_, &Section::toggled, this, [this](bool open) {
    editOpen_ = open;
    if (open && !form_) fillEdit();
  });
  if (editOpen_) fillEdit();
}

void InspectorPage::fillEdit() {
  const SessionPtr session = session_->session();
  std::vector<FormVerb> verbs = formVerbs(*session->model_graph(), editNode_);
  if (verbs.empty()) return;
  form_ = new EditForm(theme_, std::move(verbs), editTarget_,
                       everyLayer(*session->model_graph(), editTarget_), draft_, edit_->body());
  edit_->content()->addWidget(form_);
  connect(form_, &EditForm::wordsChanged, edit_, &Section::setFigures);
  connect(form_, &EditForm::considered, this, [this](const std::vector<edit::Edit>& edits) {
    considering_ = true;
    emit editConsidered(edits);
  });
  connect(form_, &EditForm::left, this, [this] {
    considering_ = false;
    emit editLeft();
  });
  connect(form_, &EditForm::applied, this, [this](const std::vector<edit::Edit>& edits, const QString& name) {
    applying_ = true;
    emit editsAsked(edits, name);
  });
}

/// What was typed outlives the section, which is made anew with every plan.
void InspectorPage::keepDraft() {
  if (form_) draft_ = form_->draft();
  form_ = nullptr;
}

void InspectorPage::setForetold(const std::vector<edit::Edit>& edits, bool refused) {
  if (form_) form_->setForetold(edits, refused);
}

}  // namespace orrery::ui
