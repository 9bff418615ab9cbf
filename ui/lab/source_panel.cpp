#include "ui/lab/source_panel.h"

#include <QFile>
#include <QVBoxLayout>

static void registerKernelSources() { Q_INIT_RESOURCE(kernel_sources); }

namespace orrery::ui {

QString kernelSource(const QString& file) {
  if (file.startsWith('/')) {
    QFile own(file);
    return own.open(QIODevice::ReadOnly) ? QString::fromUtf8(own.readAll()) : QString();
  }
  static const bool registered = (registerKernelSources(), true);
  Q_UNUSED(registered);
  QFile source(":/" + file);
  return source.open(QIODevice::ReadOnly) ? QString::fromUtf8(source.readAll()) : QString();
}

SourcePanel::SourcePanel(const Theme& theme, QWidget* parent)
    : QWidget(parent),
      words_(new Text(theme, {Token::text3, 10.5, QFont::Normal, true}, {}, this)),
      view_(new CodeView(theme, this)) {
  words_->setElide(Qt::ElideLeft);  // the end of a path tells more
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  column->addWidget(words_);
  column->addWidget(view_, 1);
  setFocusProxy(view_);
}

void SourcePanel::show(const QString& file, const QString& previous) {
  if (file == file_ && previous == previous_) return;
  file_ = file;
  previous_ = previous;
  fill();
}

void SourcePanel::showDifference(bool difference) {
  if (difference == difference_) return;
  difference_ = difference;
  fill();
}

QString SourcePanel::refusal() const {
  if (file_.isEmpty()) return QStringLiteral("Choose a row");
  if (previous_.isEmpty()) return QStringLiteral("There is no row before it on its device");
  if (previous_ == file_) return QStringLiteral("The row before it is in the same file");
  return {};
}

void SourcePanel::fill() {
  const QString source = kernelSource(file_);
  if (difference_ && refusal().isEmpty()) {
    words_->setText(QString("%1, beside %2").arg(file_, previous_));
    view_->showDifference(differenceOf(kernelSource(previous_).split('\n'), source.split('\n')));
  } else {
    words_->setText(file_.isEmpty() ? QStringLiteral("Choose a row") : file_);
    view_->showSource(source);
  }
}

}  // namespace orrery::ui
