#include "ui/shell/picture_run.h"

#include <QPixmap>
#include <QTimer>

#include "ui/shell/main_window.h"

namespace orrery::ui {

PictureRun::PictureRun(MainWindow* window, FirstWords* words, const PictureOptions& options, QObject* parent)
    : QObject(parent), window_(window), options_(options) {
  connect(words, &FirstWords::said, this,
          [this] { QTimer::singleShot(static_cast<int>(options_.after * 1e3), this, &PictureRun::take); });
}

void PictureRun::take() {
  const QPixmap picture = window_->grab();
  emit finished(picture.save(options_.file)
                    ? QString()
                    : "The picture was not saved (" + options_.file +
                          "): choose a folder that can be written and a name that ends in .png");
}

}  // namespace orrery::ui
