#include "support/editing_fixture.h"

#include <QApplication>
#include <QMouseEvent>
#include <algorithm>

namespace orrery::ui::testing {

void EditingTest::SetUp() {
  WindowTest::SetUp();
  open(ThemeChoice::dark);
}

void EditingTest::open(ThemeChoice theme) {
  window_ = makeWindow(realServices(), theme);
  ASSERT_TRUE(opened(*window_, "smollm2")) << window_->graphPage()->banner()->body().toStdString();
  window_->graphPage()->showTab(false);
  view()->setReducedMotion(true);
  settle();
  bring("layers.0.mlp.gate");
}

QString EditingTest::recipe() const {
  QStringList words;
  for (const edit::Edit& edit : window_->session()->recipe())
    words += QString::fromStdString(edit.to_string());
  return words.join("; ");
}

bool EditingTest::recipeBecomes(const QString& words) {
  const bool so = waitUntil([&] { return recipe() == words; });
  EXPECT_TRUE(so) << "it is " << recipe().toStdString() << "\nnot " << words.toStdString() << "\n"
                  << editor()->refusalCard()->refusal().cause.toStdString();
  settle();
  return so;
}

void EditingTest::settle() {
  EXPECT_TRUE(waitUntil([&] { return window_->session()->idle(); }, 60000));
  EXPECT_TRUE(view()->waitForLayout());
  QApplication::processEvents();
}

void EditingTest::bring(const QString& thing) {
  const NodeId found = node(thing);
  found.valid() ? view()->select(found) : view()->selectScope(thing);
  settle();
  view()->zoomTo(1);
  found.valid() ? view()->select(found) : view()->selectScope(thing);
  settle();
}

QPoint EditingTest::portAt(const QString& path, const QString& name) {
  for (const auto& [port, at] : editor()->portsAt(node(path)))
    if (port.name == name.toStdString() && port.kind != Port::Kind::source) return at.toPoint();
  ADD_FAILURE() << path.toStdString() << " has no port " << name.toStdString();
  return {};
}

QRect EditingTest::boxOf(const QString& path) {
  const auto ports = editor()->portsAt(node(path));
  EXPECT_FALSE(ports.empty()) << path.toStdString();
  if (ports.empty()) return {};
  const Rect& box = ports.front().first.thing.box;
  const QPointF foot = ports.front().second;  // an output stands at the foot
  const double left = foot.x() - (ports.front().first.at.x - box.x) * view()->zoom();
  return QRectF(left, foot.y() - box.h * view()->zoom(), box.w * view()->zoom(), box.h * view()->zoom())
      .toRect();
}

QPoint EditingTest::wireAt(const QString& path, const QString& port, int before) {
  return portAt(path, port) - QPoint(0, before);
}

QPoint EditingTest::free(const QString& around) {
  const QRect box = boxOf(around);
  for (int dy = 20; dy < 400; dy += 10)
    for (const int dx : {160, 220, 280, 340, -160, -220}) {
      const QPoint at(box.center().x() + dx, box.bottom() + dy);
      if (!ground()->rect().adjusted(20, 20, -20, -20).contains(at)) continue;
      if (editor()->isFreeAt(at)) return at;
    }
  ADD_FAILURE() << "no free ground near " << around.toStdString();
  return box.center();
}

void EditingTest::press(QPoint at, Qt::KeyboardModifiers keys) {
  QTest::mousePress(ground(), Qt::LeftButton, keys, at);
}

void EditingTest::moveTo(QPoint at, Qt::KeyboardModifiers keys) {
  QMouseEvent move(QEvent::MouseMove, QPointF(at), QPointF(ground()->mapToGlobal(at)), Qt::NoButton,
                   QApplication::mouseButtons(), keys);
  QApplication::sendEvent(ground(), &move);
  QApplication::processEvents();
}

void EditingTest::release(QPoint at, Qt::KeyboardModifiers keys) {
  QTest::mouseRelease(ground(), Qt::LeftButton, keys, at);
  QApplication::processEvents();
}

void EditingTest::drag(QPoint from, QPoint to, Qt::KeyboardModifiers keys) {
  press(from, keys);
  moveTo(from + (to - from) / 3, keys);
  moveTo(from + (to - from) * 2 / 3, keys);
  moveTo(to, keys);
  release(to, keys);
}

void EditingTest::click(QPoint at, Qt::KeyboardModifiers keys) {
  QTest::mouseClick(ground(), Qt::LeftButton, keys, at);
  settle();
}

void EditingTest::focus() {
  window_->activateWindow();
  view()->setFocus();
  EXPECT_TRUE(waitUntil([&] { return view()->hasFocus(); }));
}

void EditingTest::key(Qt::Key key, Qt::KeyboardModifiers keys) {
  focus();
  QTest::keyClick(view(), key, keys);
  QApplication::processEvents();
}

void EditingTest::type(QWidget* field, const QString& text) {
  EXPECT_TRUE(waitUntil([&] { return field->hasFocus(); }));
  QTest::keyClicks(field, text);
}

void EditingTest::takePictures(const QString& name) {
  takePicture(*window_, name);
  window_->setThemeChoice(ThemeChoice::light);
  QApplication::processEvents();
  takePicture(*window_, name + "-light");
  window_->setThemeChoice(ThemeChoice::dark);
  QApplication::processEvents();
}

}  // namespace orrery::ui::testing
