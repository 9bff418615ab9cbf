// A graph of one's own made in the window with hands, given values, run, saved and opened again.
#include <QDropEvent>
#include <QFileDialog>
#include <QMimeData>
#include <QTimer>

#include "engine/api/array_text.h"
#include "engine/api/own_graph.h"
#include "engine/api/shown_session.h"
#include "support/editing_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/values/values_page.h"

namespace orrery::ui::testing {
namespace {

class OwnGraphWindowTest : public EditingTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    openWindow(ThemeChoice::dark);
  }
  void openWindow(ThemeChoice theme) {
    Services services = realServices();
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    window_ = makeWindow(services, theme);
    window_->action("file.new")->trigger();
    ASSERT_TRUE(waitUntil([&] { return window_->session()->session() && !window_->session()->loading(); }));
    view()->setReducedMotion(true);
    settle();
  }
  ValuesPage* page() const { return window_->findChild<ValuesPage*>(); }
  QPoint spot(double x, double y) const {
    return {static_cast<int>(x * ground()->width()), static_cast<int>(y * ground()->height())};
  }
  /// By the palette that a double click at the place opens.
  void pick(QPoint at, const QString& op) {
    QTest::mouseDClick(ground(), Qt::LeftButton, {}, at);
    pickIn(op);
  }
  void pickIn(const QString& op) {
    ASSERT_TRUE(editor()->palette()->isVisible());
    type(editor()->palette()->field(), op);
    QTest::keyClick(editor()->palette()->field(), Qt::Key_Return);
    QApplication::processEvents();
  }
  /// What is put down by the field that its op opens.
  void write(const QString& words) {
    ASSERT_TRUE(editor()->field()->isVisible());
    editor()->field()->setPlainText(words);
    QTest::keyClick(editor()->field(), Qt::Key_Return);
    QApplication::processEvents();
  }
  void becomes(const QString& path) {
    ASSERT_TRUE(waitUntil([&] { return node(path).valid(); }))
        << path.toStdString() << ": " << editor()->refusalCard()->refusal().cause.toStdString();
    settle();
  }
  QPoint draftPort(int input, int inputs) const {
    const QRectF box = editor()->boxOfDraft(editor()->drafts().all().back().id);
    return QPointF(box.center().x() + 30 * view()->zoom() * (input - (inputs - 1) / 2.0), box.top())
        .toPoint();
  }
  /// x and w multiplied, of which softmax is an output.
  void makeProduct() {
    pick(spot(0.4, 0.25), "input");
    write("x f32 n, 2");
    becomes("x");
    pick(spot(0.7, 0.25), "input");
    write("w: f32 [2, 2]");
    becomes("w");
    pick(spot(0.5, 0.5), "matmul");
    ASSERT_EQ(editor()->drafts().all().size(), 1U);
    drag(portAt("x", "value"), draftPort(0, 2));
    drag(portAt("w", "value"), draftPort(1, 2));
    becomes("matmul");
    click(wordsOf("matmul"));
    key(Qt::Key_Tab);
    pickIn("softmax");
    becomes("softmax");
    click(wordsOf("softmax"));
    key(Qt::Key_O, Qt::ShiftModifier);
    ASSERT_TRUE(waitUntil([&] { return model()->outputs().size() == 1; }));
    settle();
  }
  void give(const QString& input, const QString& words) {
    InputRow* row = page()->inputs()->row(input);
    ASSERT_NE(row, nullptr) << input.toStdString();
    row->field()->clear();
    QTest::keyClicks(row->field(), words);
    ASSERT_TRUE(waitUntil([&] { return row->told() != "reading"; }));
  }
  bool run() {
    window_->action("chat.run")->trigger();
    return waitUntil([&] { return !window_->work().graphs()->running(); });
  }
  std::vector<double> numbersOf(const QString& value) const {
    std::vector<double> numbers;
    const GraphResultPtr& result = window_->work().graphs()->result();
    if (!result) return numbers;
    for (const auto& [id, shown] : result->values)
      for (int64_t i = 0; shown.path == value && i < shown.statistics.elements; ++i)
        numbers.push_back(api::number_at(shown.array, i));
    return numbers;
  }
  void expectProduct() const {
    EXPECT_EQ(numbersOf("matmul:dst"), (std::vector<double>{1, 2, 3, 4}));
    const std::vector<double> softmax = numbersOf("softmax:dst");
    ASSERT_EQ(softmax.size(), 4U);
    for (const size_t row : {0U, 2U}) {
      EXPECT_NEAR(softmax[row], 0.26894142, 1e-6);
      EXPECT_NEAR(softmax[row + 1], 0.73105858, 1e-6);
    }
  }
  static void drop(QWidget* on, const QString& file) {
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(file)});
    const QPoint at = on->rect().center();
    QDragEnterEvent enter(at, Qt::CopyAction, &mime, Qt::LeftButton, {});
    QApplication::sendEvent(on, &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent dropped(at, Qt::CopyAction, &mime, Qt::LeftButton, {});
    QApplication::sendEvent(on, &dropped);
  }
  static void answerDialog(const QString& file) {
    QTimer::singleShot(0, [file] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      ASSERT_NE(dialog, nullptr);
      dialog->findChild<QLineEdit*>()->setText(file);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
    });
  }
};

TEST_F(OwnGraphWindowTest, IsMadeRunSavedAndOpenedAgain) {
  takePicture(*window_, "own-graph-empty-dark");
  makeProduct();
  give("x", "1, 2; 3, 4");
  give("w", "1, 0; 0, 1");
  EXPECT_EQ(page()->inputs()->row("x")->told(), "f32[2, 2]");
  ASSERT_TRUE(run());
  ASSERT_FALSE(page()->banner()->isVisible()) << page()->banner()->body().toStdString();
  expectProduct();
  EXPECT_EQ(page()->values()->index(0, ValueList::nameColumn).data().toString(), "softmax:dst");
  page()->showNode(node("matmul"));
  EXPECT_EQ(page()->elements()->index(1, 0).data(Qt::DisplayRole).toString(), "3");
  EXPECT_TRUE(page()->shownWords().contains("f32[2, 2]")) << page()->shownWords().toStdString();
  EXPECT_TRUE(
      window_->work().graphs()->rangeOf(model()->node(node("matmul")).outputs.front()).startsWith("1"));
  settle();
  EXPECT_GT(window_->session()->profile(api::Phase::prefill)->measured(node("matmul"), false).timing.us, 0);
  EXPECT_FALSE(window_->graphPage()->banner()->title().startsWith("Could not"))
      << window_->graphPage()->banner()->body().toStdString();
  takePicture(*window_, "own-graph-dark");

  const QRect box = boxOf("matmul"), other = boxOf("x");
  EXPECT_TRUE(window_->session()->unsaved());
  EXPECT_TRUE(window_->work().graphs()->unsaved());
  answerDialog(path("product.json"));
  window_->action("recipe.save")->trigger();
  EXPECT_FALSE(window_->session()->unsaved());
  EXPECT_FALSE(window_->work().graphs()->unsaved());
  EXPECT_EQ(window_->session()->title(), "product");
  settle();
  EXPECT_EQ(boxOf("matmul").topLeft() - boxOf("x").topLeft(), box.topLeft() - other.topLeft())
      << "saving moves nothing";
  const auto canvas = api::read_canvas(path("product.json").toStdString());
  ASSERT_TRUE(canvas.ok()) << canvas.error().to_string();
  EXPECT_EQ(canvas->given, (api::Given{{"x", "1, 2; 3, 4"}, {"w", "1, 0; 0, 1"}}));
  const std::string before = print(*model());

  quit(*window_);
  openWindow(ThemeChoice::light);
  ASSERT_TRUE(opened(*window_, path("product.json"))) << window_->graphPage()->banner()->body().toStdString();
  ASSERT_TRUE(waitUntil(
      [&] { return page()->inputs()->row("w") && page()->inputs()->row("w")->told() == "f32[2, 2]"; }));
  settle();
  EXPECT_EQ(print(*model()), before);
  EXPECT_EQ(boxOf("matmul").topLeft() - boxOf("x").topLeft(), box.topLeft() - other.topLeft());
  ASSERT_TRUE(run());
  expectProduct();
  give("x", "1, 2");
  EXPECT_FALSE(window_->close()) << "what was typed is in no file";
  EXPECT_TRUE(window_->graphPage()->banner()->title().startsWith("What the inputs are given"))
      << window_->graphPage()->banner()->title().toStdString();
  ASSERT_TRUE(testing::press(window_->graphPage()->banner(), "Stay"));
  give("x", "1, 2; 3, 4");
  EXPECT_FALSE(window_->work().graphs()->unsaved());
  settle();
  takePicture(*window_, "own-graph-light");
}

TEST_F(OwnGraphWindowTest, WhatDoesNotFitIsSaidAtTheInputAndAtTheNode) {
  makeProduct();
  give("w", "1, 2, 3; 4, 5, 6");
  EXPECT_TRUE(page()->inputs()->row("w")->told().contains("[2, 3]"))
      << page()->inputs()->row("w")->told().toStdString();
  give("w", "1, two");
  EXPECT_TRUE(page()->inputs()->row("w")->told().startsWith("\"two\" is no number"))
      << page()->inputs()->row("w")->told().toStdString();
  give("w", "ones");
  EXPECT_EQ(page()->inputs()->row("w")->told(), "f32[2, 2]");
  give("x", "zeros");
  EXPECT_TRUE(page()->inputs()->row("x")->told().contains("how large n is"));
  ASSERT_TRUE(run());
  EXPECT_EQ(window_->work().graphs()->result(), nullptr);
  EXPECT_TRUE(page()->banner()->body().contains("how large n is")) << page()->banner()->body().toStdString();
  const std::string file = path("x.npy").toStdString();
  ASSERT_TRUE(api::write_array(file, api::array_in("5, 6", {DType::f32, {1, 2}}).value()).ok());
  drop(page()->inputs()->row("x"), QString::fromStdString(file));
  ASSERT_TRUE(waitUntil([&] { return page()->inputs()->row("x")->told() == "f32[1, 2]"; }))
      << page()->inputs()->row("x")->told().toStdString();
  ASSERT_TRUE(run());
  EXPECT_EQ(numbersOf("x:value"), (std::vector<double>{5, 6}));
  EXPECT_EQ(window_->session()->title(), "New graph") << "it was not opened as a model";
  ASSERT_TRUE(page()->save(path("saved.npy")).ok());
  EXPECT_TRUE(api::read_array(path("saved.npy").toStdString()).ok());
  pick(free("softmax"), "input");
  write("unread f32 n");
  becomes("unread");
  give("x", "random 7 [3, 2]");
  ASSERT_TRUE(run());
  EXPECT_EQ(numbersOf("softmax:dst").size(), 6U);
  EXPECT_FALSE(page()->banner()->isVisible());
}

TEST_F(OwnGraphWindowTest, ASourceThatCannotBeReadIsRefusedInItsField) {
  pick(spot(0.5, 0.3), "input");
  write("2x f32 n");
  EXPECT_TRUE(model()->order().empty());
  EXPECT_TRUE(editor()->field()->isVisible()) << "with what was written";
  write("x f32 n, 2");
  becomes("x");
  pick(spot(0.7, 0.3), "constant");
  write("half = 0.5");
  becomes("half");
  pick(spot(0.3, 0.3), "constant");
  write("table = 1, 2; 3, 4");
  becomes("table");
  EXPECT_EQ(to_string(model()->value(model()->node(node("table")).outputs.front()).type), "f32[2, 2]");
  click(wordsOf("half"));
  key(Qt::Key_Delete);
  ASSERT_TRUE(waitUntil([&] { return !node("half").valid(); }))
      << editor()->refusalCard()->refusal().cause.toStdString();
  key(Qt::Key_Z, Qt::ControlModifier);
  becomes("half");
}

TEST_F(OwnGraphWindowTest, OtherPagesSayWhatItIs) {
  EXPECT_TRUE(texts(*window_->chatPage()).contains("New graph is a graph of one's own"));
  EXPECT_FALSE(window_->chatPage()->input()->isEnabled());
  EXPECT_EQ(window_->action("recipe.save")->text().remove('&'), "Save the graph");
  EXPECT_FALSE(page()->runButton()->isEnabled());
  makeProduct();
  window_->action("file.new")->trigger();
  EXPECT_TRUE(window_->graphPage()->banner()->body().startsWith("Save the graph, or open"))
      << window_->graphPage()->banner()->body().toStdString();
}

}  // namespace
}  // namespace orrery::ui::testing
