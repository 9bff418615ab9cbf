#include "ui/shell/picture_run.h"

#include <QPixmap>
#include <QTimer>

namespace orrery::ui {

PictureRun::PictureRun(MainWindow* window, const PictureOptions& options, QObject* parent)
    : QObject(parent), window_(window), options_(options) {
  connect(window->session(), &SessionController::loadEnded, this, &PictureRun::begin);
  connect(window->both()->second(), &SessionController::loadEnded, this, &PictureRun::begin);
  connect(window->classifier(), &SessionController::devicesScanned, this, &PictureRun::begin);
}

void PictureRun::begin() {
  if (begun_ || window_->session()->loading() || window_->awaitsSecond()) return;
  begun_ = true;
  window_->showPage(options_.page);
  if (!options_.say.isEmpty()) say();
  QTimer::singleShot(static_cast<int>(options_.after * 1e3), this, &PictureRun::take);
}

void PictureRun::say() {
  if (options_.page == "classify") {
    window_->classifyPage()->field()->setText(options_.say);
    window_->classifyPage()->classifyButton()->click();
  } else if (options_.page == "compare") {
    window_->comparePage()->field()->setText(options_.say);
    window_->comparePage()->compare();
  } else {
    window_->chatPage()->input()->setText(options_.say);
    emit window_->chatPage()->input()->edit()->sendAsked();
  }
}

void PictureRun::take() {
  const QPixmap picture = window_->grab();
  emit finished(picture.save(options_.file)
                    ? QString()
                    : "The picture was not saved (" + options_.file +
                          "): choose a folder that can be written and a name that ends in .png");
}

}  // namespace orrery::ui
