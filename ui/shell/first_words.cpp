#include "ui/shell/first_words.h"

#include "ui/chat/chat_page.h"
#include "ui/classify/classify_page.h"
#include "ui/compare/compare_page.h"
#include "ui/depth/depth_page.h"
#include "ui/diff/diff_page.h"
#include "ui/lab/lab_page.h"
#include "ui/session/second_device.h"
#include "ui/shell/main_window.h"
#include "ui/sweep/sweep_page.h"

namespace orrery::ui {

FirstWords::FirstWords(MainWindow* window, const FirstWordsOptions& options, QObject* parent)
    : QObject(parent), window_(window), options_(options) {
  connect(window->session(), &SessionController::loadEnded, this, &FirstWords::begin);
  connect(window->both()->second(), &SessionController::loadEnded, this, &FirstWords::begin);
  connect(window->classifier(), &SessionController::devicesScanned, this, &FirstWords::begin);
}

void FirstWords::begin() {
  if (begun_ || window_->session()->loading() || window_->awaitsSecond()) return;
  begun_ = true;
  window_->showPage(options_.page);
  if (!options_.say.isEmpty()) say();
  emit said();
}

void FirstWords::say() {
  if (options_.page == "classify") {
    window_->classifyPage()->field()->setText(options_.say);
    window_->classifyPage()->classifyButton()->click();
  } else if (options_.page == "sweep") {
    auto* page = window_->findChild<SweepPage*>();
    page->field()->setText(options_.say);
    page->startOrStop();
  } else if (options_.page == "depth") {
    auto* page = window_->findChild<DepthPage*>();
    page->setDepths(options_.say);
    page->startOrStop();
  } else if (options_.page == "lab") {
    window_->findChild<LabPage*>()->runWords(options_.say);
  } else if (options_.page == "diff") {
    window_->findChild<DiffPage*>()->compareWith(options_.say);
  } else if (options_.page == "compare") {
    window_->comparePage()->field()->setText(options_.say);
    window_->comparePage()->compare();
  } else {
    window_->chatPage()->input()->setText(options_.say);
    emit window_->chatPage()->input()->edit()->sendAsked();
  }
}

}  // namespace orrery::ui
