#include "ui/history/page.h"

#include "ui/frame/workspace.h"
#include "ui/history/history_page.h"
#include "ui/session/edit_previews.h"
#include "ui/session/model_use.h"
#include "ui/theme/format.h"

namespace orrery::ui {
namespace {

class Follower : public QObject {
 public:
  Follower(Workspace& work, HistoryPage* page) : QObject(page), work_(work), page_(page) {
    for (SessionController* source : {work.session(), work.classifier()}) {
      connect(source, &SessionController::graphChanged, this, [this, source] {
        if (source == work_.drawn()) show();
      });
      connect(source, &SessionController::profileChanged, this, [this, source] {
        if (source == work_.drawn()) showTime();
      });
      connect(source, &SessionController::stepsReplaced, this,
              [this, source](const std::vector<edit::Edit>& recipe, int steps) {
                if (source == work_.drawn()) offer(recipe, steps);
              });
    }
    connect(&work, &Workspace::sourceChanged, this, &Follower::show);
    connect(work.previews(), &EditPreviews::asked, this, &Follower::showConsidered);
    connect(work.previews(), &EditPreviews::answered, this, &Follower::showConsidered);
    connect(work.previews(), &EditPreviews::forgotten, this, &Follower::showConsidered);
    connect(page, &HistoryPage::jumpAsked, this,
            [this](int steps) { work_.drawn()->jumpTo(static_cast<size_t>(steps)); });
    connect(page, &HistoryPage::recipeSwitched, this,
            [this](const std::string& name, bool on) { work_.drawn()->switchRecipe(name, on); });
    connect(page, &HistoryPage::keepAsked, &work, &Workspace::recipeSaveAsked);
    connect(page, &HistoryPage::wordsChanged, this,
            [this](const QString& words) { emit work_.subtitleChanged("history", words); });
  }

 private:
  void show() {
    const SessionController* drawn = work_.drawn();
    page_->setHistory(drawn->history(), drawn->title());
    showTime();
  }
  /// A step that writes a token, of an encoder its last step.
  void showTime() {
    const SessionPtr session = work_.drawn()->session();
    const ProfilePtr profile =
        session ? work_.drawn()->profile(phaseShown(session->info(), api::Phase::decode)) : nullptr;
    if (profile && profile->step.runs > 0) page_->model()->setTime(profile->step.us);
  }
  void showConsidered() {
    const EditPreviews* previews = work_.previews();
    const bool told = previews->preview() && previews->preview()->refusals.empty();
    page_->model()->setConsidered(previews->edits(), told ? previews->preview()->step_us.after : 0);
  }
  void offer(const std::vector<edit::Edit>& recipe, int steps) {
    page_->offerReplaced(recipe, steps);
    if (!page_->isVisible())
      emit work_.noticed(format::counted(steps, "undone step") + " replaced; History keeps what there was");
  }

  Workspace& work_;
  HistoryPage* page_;
};

PageParts make(Workspace& work, QWidget* parent) {
  auto* page = new HistoryPage(work.theme(), parent);
  new Follower(work, page);
  return {.body = page};
}

}  // namespace

Page historyPage() { return {"history", "&History", Qt::LeftDockWidgetArea, {272, 300}, make}; }

}  // namespace orrery::ui
