#include "ui/inspector/page.h"

#include "ui/frame/workspace.h"
#include "ui/inspector/inspector_page.h"
#include "ui/session/edit_previews.h"

namespace orrery::ui {
namespace {

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new InspectorPage(work.theme(), work.session(), work.places(), work.precisions(),
                                 work.attributions(), parent);
  QObject::connect(page, &InspectorPage::bypassAsked, &work,
                   [&work](const QString& scopes) { work.edit("bypass", scopes); });
  QObject::connect(page, &InspectorPage::restoreAsked, &work, &Workspace::restore);
  QObject::connect(page, &InspectorPage::undoAsked, &work, &Workspace::undo);
  QObject::connect(page, &InspectorPage::nodeAsked, &work, &Workspace::nodeAsked);
  QObject::connect(page, &InspectorPage::editConsidered, &work, &Workspace::editConsidered);
  QObject::connect(page, &InspectorPage::editLeft, &work, &Workspace::editLeft);
  QObject::connect(page, &InspectorPage::editsAsked, &work, &Workspace::editByHand);
  QObject::connect(work.previews(), &EditPreviews::answered, page, [&work, page](const PreviewPtr& preview) {
    page->setForetold(work.previews()->edits(), !preview->refusals.empty());
  });
  QObject::connect(&work, &Workspace::nodeChosen, page, &InspectorPage::showNode);
  QObject::connect(&work, &Workspace::scopeChosen, page, &InspectorPage::showScope);
  QObject::connect(&work, &Workspace::choiceCleared, page, &InspectorPage::clear);
  QObject::connect(&work, &Workspace::sourceChanged, page, &InspectorPage::setSource);
  QObject::connect(&work, &Workspace::phaseChanged, page, &InspectorPage::setPhase);
  QObject::connect(&work, &Workspace::comparisonChanged, page, &InspectorPage::setComparison);
  return {.body = page, .corner = page->corner()};
}

}  // namespace

Page inspectorPage() { return {"inspector", "Inspector", Qt::RightDockWidgetArea, {337, 0}, make}; }

}  // namespace orrery::ui
