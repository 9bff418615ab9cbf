// Memory in the window: what is told before loading, and what is offered when it does not suffice.
#include <QSignalSpy>
#include <QTest>

#include "support/window_fixture.h"

namespace orrery::ui::testing {
namespace {

class MemoryWindowTest : public WindowTest {
 protected:
  MemoryWindowTest() {
    engine_.devices = {{"cpu", "AVX2", "", 8'000'000'000, 4'000'000'000},
                       {"cuda:0", "Test device", "", 1'000'000'000, 300'000'000}};
  }

  std::unique_ptr<MainWindow> ready(std::optional<ThemeChoice> theme = ThemeChoice::dark) {
    auto window = makeWindow(theme);
    EXPECT_TRUE(waitUntil([&] { return badge(*window, 0) != ""; })) << "the library was measured";
    return window;
  }
  static QString badge(MainWindow& window, int row) {
    return window.libraryPage()->model()->index(row).data(LibraryModel::stateRole).toString();
  }
  static OpenDialog* dialogOf(MainWindow& window) {
    const auto dialogs = window.findChildren<OpenDialog*>();
    return dialogs.isEmpty() ? nullptr : dialogs.last();
  }
  static OpenDialog* ask(MainWindow& window, const std::string& model, const std::string& device) {
    api::OpenOptions options;
    options.model = model;
    options.device = device;
    OpenDialog* dialog = window.askOptions(options);
    EXPECT_TRUE(waitUntil([&] { return dialog->rows().size() == 2; }));
    return dialog;
  }
  static Button* action(Banner* banner, const QString& text) {
    for (Button* button : banner->findChildren<Button*>())
      if (button->text() == text) return button;
    return nullptr;
  }
  static bool idle(MainWindow& window) {
    return waitUntil([&] { return !window.session()->running() && !window.session()->loading(); });
  }
};

TEST_F(MemoryWindowTest, TheLibraryTellsWhereAModelFits) {
  auto window = ready();
  EXPECT_EQ(badge(*window, 0), "fits");
  const QString help = window->libraryPage()->model()->index(0).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(help.contains("CPU: fits, 763 MB of 4.0 GB free")) << help.toStdString();
  EXPECT_TRUE(help.contains("CUDA 0: too large, 775 MB of 300 MB free")) << help.toStdString();
}

TEST_F(MemoryWindowTest, TheDialogFollowsSliderDeviceAndKvType) {
  auto window = ready();
  OpenDialog* dialog = ask(*window, "chat", "cpu");
  EXPECT_EQ(dialog->context()->value(), 8192);
  EXPECT_TRUE(dialog->rows()[0]->isChecked());
  EXPECT_EQ(dialog->verdict(), "Fits on CPU.");
  dialog->kvType()->chosen(2);
  EXPECT_EQ(dialog->rows()[0]->memory().kv_cache, 1'310'720'000U);
  dialog->kvType()->chosen(0);
  QTest::mouseClick(dialog->rows()[1], Qt::LeftButton);
  EXPECT_TRUE(dialog->verdict().startsWith("475 MB more than is free on CUDA 0. At most 2"))
      << dialog->verdict().toStdString();
  EXPECT_FALSE(dialog->loadButton()->isEnabled());
  ASSERT_TRUE(dialog->fewerButton()->isVisible());
  dialog->context()->slider()->setValue(16 * 2);
  EXPECT_EQ(dialog->context()->number()->value(), 1024) << "two doublings above 256";
  EXPECT_EQ(dialog->rows()[1]->memory().kv_cache, 81'920'000U);
  EXPECT_TRUE(dialog->loadButton()->isEnabled());
  dialog->context()->number()->setValue(2222);
  EXPECT_EQ(dialog->rows()[1]->memory().fit, api::Fit::tight);
  EXPECT_TRUE(dialog->verdict().startsWith("Fits on CUDA 0, with ")) << dialog->verdict().toStdString();
  QTest::mouseClick(dialog->loadButton(), Qt::LeftButton);
  ASSERT_TRUE(idle(*window));
  EXPECT_EQ(window->session()->session()->options().device, "cuda:0");
  EXPECT_EQ(window->session()->session()->options().context, 2222);
}

TEST_F(MemoryWindowTest, TheExactModelLengthIsTheSlidersEnd) {
  ContextField field;
  field.setMaximum(3000);
  field.setValue(3000);
  EXPECT_EQ(field.slider()->value(), field.slider()->maximum());
  field.slider()->setValue(0);
  EXPECT_EQ(field.value(), 256);
  field.slider()->setValue(field.slider()->maximum());
  EXPECT_EQ(field.value(), 3000);
}

TEST_F(MemoryWindowTest, AModelThatDoesNotFitIsOfferedAsItFits) {
  auto window = ready();
  ASSERT_TRUE(opened(*window, "chat"));
  api::OpenOptions options;
  options.model = "large";
  options.device = "cuda:0";
  window->openModel(options);
  ASSERT_TRUE(waitUntil([&] {
    const OpenDialog* dialog = dialogOf(*window);
    return dialog && dialog->rows().size() == 2;
  }));
  OpenDialog* dialog = dialogOf(*window);
  EXPECT_EQ(window->session()->session()->info().name, "chat") << "it stays";
  EXPECT_FALSE(window->graphPage()->banner()->isVisible());
  EXPECT_TRUE(dialog->findChild<Banner*>()->body().contains("300 MB are free"));
  takePicture(*dialog, "open-dialog-dark");
  dialog->context()->setValue(2048);
  QTest::mouseClick(dialog->loadButton(), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->info().name == "large"; }));
}

TEST_F(MemoryWindowTest, AReplyOutOfMemoryOffersWhatFits) {
  engine_.chat.failReply = true;
  engine_.chat.offers = {{"context", "4096"}, {"device", "cpu"}};
  auto window = ready();
  ASSERT_TRUE(opened(*window, "chat"));
  window->session()->apply({"bypass", {{"scope", "layers.1"}}});
  window->chatPage()->send("One");
  ASSERT_TRUE(idle(*window));
  Banner* banner = window->chatPage()->banner();
  ASSERT_TRUE(action(banner, offerTitle({"context", "4096"})));
  ASSERT_TRUE(action(banner, "Use the CPU"));
  takePicture(*window, "out-of-memory-dark");
  action(banner, offerTitle({"context", "4096"}))->click();
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->options().context == 4096; }));
  EXPECT_FALSE(banner->isVisible());
  EXPECT_EQ(window->session()->session()->edits().size(), 1U);
  EXPECT_EQ(window->chatPage()->transcript()->message(0).text(), "One") << "the chat is kept";
  window->chatPage()->regenerate();
  ASSERT_TRUE(idle(*window));
  EXPECT_FALSE(window->chatPage()->transcript()->message(1).text().isEmpty());
}

TEST_F(MemoryWindowTest, ALostDeviceFailsOnlyThatReplyAndTheCpuGoesOn) {
  engine_.chat.failReply = true;
  engine_.chat.failure = ErrorCode::device;
  auto window = ready();
  api::OpenOptions options;
  options.model = "chat";
  options.device = "cuda:0";
  window->openModel(options);
  ASSERT_TRUE(waitUntil([&] { return window->session()->session() != nullptr; }));
  window->session()->apply({"bypass", {{"scope", "layers.1"}}});
  window->chatPage()->send("One");
  ASSERT_TRUE(idle(*window));
  Button* onward = action(window->chatPage()->banner(), "Go on on the CPU");
  ASSERT_NE(onward, nullptr);
  takePicture(*window, "device-lost-dark");
  onward->click();
  ASSERT_TRUE(waitUntil([&] { return window->session()->session()->options().device == "cpu"; }));
  EXPECT_EQ(window->session()->session()->edits().size(), 1U);
  EXPECT_EQ(window->toolBar()->device()->current(), 0);
  window->chatPage()->regenerate();
  ASSERT_TRUE(idle(*window));
  EXPECT_FALSE(window->chatPage()->transcript()->message(1).text().isEmpty());
}

TEST_F(MemoryWindowTest, WithoutACardTheSwitchAndTheDialogSayWhy) {
  engine_.devices[1] = {"cuda:0", "", "the NVIDIA driver is not loaded: run nvidia-smi", 0, 0};
  auto window = ready(ThemeChoice::light);
  EXPECT_EQ(window->toolBar()->device()->refusal(1), "the NVIDIA driver is not loaded: run nvidia-smi");
  OpenDialog* dialog = ask(*window, "chat", "cpu");
  EXPECT_FALSE(dialog->rows()[1]->isEnabled());
  EXPECT_TRUE(dialog->rows()[1]->toolTip().contains("driver is not loaded"));
  takePicture(*dialog, "open-dialog-light");
}

}  // namespace
}  // namespace orrery::ui::testing
