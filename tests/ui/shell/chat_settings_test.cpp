// The settings of the chat: samplers and their order, what differs from the drawn node, and a full context.
#include <QCheckBox>
#include <QTest>

#include "support/window_fixture.h"
#include "ui/chat/context_full.h"

namespace orrery::ui::testing {
namespace {

class ChatSettingsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    engine_.chat.tokens = 3;
  }
  void open(std::optional<ThemeChoice> theme = ThemeChoice::dark) {
    window_ = makeWindow(theme);
    ASSERT_TRUE(opened(*window_, "chat"));
  }
  ChatPage* chat() const { return window_->chatPage(); }
  SamplingPopover* settings() const { return chat()->sampling(); }
  FakeSession* session() const { return dynamic_cast<FakeSession*>(window_->session()->session().get()); }
  /// Sends a message and gives what the model was asked.
  api::ChatRequest ask(const QString& text = "Hello") {
    chat()->send(text);
    EXPECT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
    return session()->requests().back();
  }
  /// What a person does: clicks the field, writes, and goes on with Tab.
  static void type(QDoubleSpinBox* field, const QString& text) {
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, text);
    QTest::keyClick(field, Qt::Key_Tab);
  }

  std::unique_ptr<MainWindow> window_;
};

TEST_F(ChatSettingsTest, EverySettingHasAFieldInItsRange) {
  open();
  for (const api::SamplingField& setting : api::sampling_fields()) {
    QDoubleSpinBox* field = settings()->field(setting.name);
    ASSERT_NE(field, nullptr) << setting.name;
    const api::SamplingFacts facts = api::sampling_facts(setting.name);
    EXPECT_EQ(field->value(), facts.usual) << setting.name;
    EXPECT_EQ(field->maximum(), facts.high) << setting.name;
    EXPECT_FALSE(field->toolTip().isEmpty()) << setting.name;
    EXPECT_FALSE(field->accessibleName().isEmpty()) << setting.name;
  }
}

TEST_F(ChatSettingsTest, EveryPageIsReachedByTheKeyboardAndFits) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    open(theme);
    settings()->field("xtc_probability")->setValue(0.5);
    settings()->popupAt(chat());
    EXPECT_LE(settings()->width(), 480);
    EXPECT_LE(settings()->height(), 480);
    for (int page = 0; page < 5; ++page) {
      EXPECT_EQ(settings()->bar()->current(), page);
      const QString name = settings()->bar()->text(page).toLower();
      EXPECT_EQ(settings()->order()->isVisible(), name == "order");
      takePicture(*settings(), "sampling-" + name + (theme == ThemeChoice::dark ? "-dark" : "-light"));
      QTest::keyClick(settings()->bar(), Qt::Key_Right);
    }
    window_->close();
  }
}

TEST_F(ChatSettingsTest, OnlyWhatThePersonChangedIsAskedFor) {
  open();
  const api::SamplingOptions untouched = ask().sampling;
  EXPECT_FALSE(untouched.temperature || untouched.top_k || untouched.samplers || untouched.seed);
  EXPECT_FALSE(settings()->resetButton()->isEnabled());
  settings()->popupAt(chat());
  type(settings()->field("temperature"), "0.3");
  type(settings()->field("mirostat"), "2");
  const api::SamplingOptions changed = ask().sampling;
  EXPECT_EQ(changed.temperature, 0.3F);
  EXPECT_EQ(changed.mirostat, 2);
  EXPECT_FALSE(changed.top_p || changed.min_p);
  EXPECT_TRUE(settings()->resetButton()->isEnabled());
  settings()->resetButton()->click();
  EXPECT_EQ(settings()->field("temperature")->value(), 0.8);
  EXPECT_FALSE(ask().sampling.mirostat);
}

TEST_F(ChatSettingsTest, SamplersAreMovedAndLeftOut) {
  open();
  SamplerOrder* order = settings()->order();
  EXPECT_EQ(order->order(), "penalties,dry,top_n_sigma,top_k,temperature,typical,top_p,min_p,xtc");
  order->setCurrentRow(4);
  QTest::keyClick(order, Qt::Key_Down, Qt::AltModifier);
  QTest::keyClick(order, Qt::Key_Down, Qt::AltModifier);
  order->item(0)->setCheckState(Qt::Unchecked);
  EXPECT_EQ(order->order(), "dry,top_n_sigma,top_k,typical,top_p,temperature,min_p,xtc");
  EXPECT_EQ(ask().sampling.samplers, "dry,top_n_sigma,top_k,typical,top_p,temperature,min_p,xtc");
  order->setCurrentRow(0);
  QTest::keyClick(order, Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(order->currentRow(), 0) << "there is nothing above the first";
  order->setOrder("xtc, top_k");
  EXPECT_EQ(order->order(), "xtc,top_k");
  EXPECT_EQ(order->count(), 9) << "the others stay, unchecked";
  settings()->resetButton()->click();
  EXPECT_FALSE(ask().sampling.samplers);
}

TEST_F(ChatSettingsTest, FieldsFollowTheDrawnNodeUnlessThePersonChangedThem) {
  open();
  api::SamplingOptions drawn = api::usual_sampling();
  settings()->field("top_p")->setValue(0.5);
  drawn.top_k = 5;
  drawn.top_p = 0.7F;
  drawn.samplers = "top_k, temperature";
  settings()->setDrawn(drawn);
  EXPECT_EQ(settings()->field("top_k")->value(), 5);
  EXPECT_EQ(settings()->field("top_p")->value(), 0.5) << "the person's";
  EXPECT_EQ(settings()->order()->order(), "top_k,temperature");
  const api::SamplingOptions asked = ask().sampling;
  EXPECT_FALSE(asked.top_k || asked.samplers);
  EXPECT_EQ(asked.top_p, 0.5F);
  settings()->field("top_k")->setValue(40);
  EXPECT_EQ(ask().sampling.top_k, 40) << "what is usual is a change now";
}

TEST_F(ChatSettingsTest, AFullContextSaysSoAndTheSwitchGoesOn) {
  engine_.chat.stopReason = "context";
  open();
  EXPECT_FALSE(ask("A long story").context_shift);
  ASSERT_TRUE(chat()->banner()->isVisible());
  EXPECT_EQ(chat()->banner()->title(), "The context is full");
  EXPECT_TRUE(chat()->banner()->body().contains("begin a new chat"))
      << chat()->banner()->body().toStdString();
  ASSERT_TRUE(press(chat()->banner(), kLeaveOutOldest));
  EXPECT_TRUE(settings()->contextShift());
  ASSERT_TRUE(waitUntil([&] { return !window_->session()->running(); }));
  EXPECT_EQ(session()->requests().size(), 2U) << "the reply is written again";
  EXPECT_TRUE(session()->requests().back().context_shift);
  EXPECT_EQ(chat()->transcript()->messageCount(), 2U);
  ASSERT_TRUE(press(chat()->banner(), kNewChat));
  EXPECT_EQ(chat()->transcript()->messageCount(), 0U);
}

TEST_F(ChatSettingsTest, TheSwitchIsKept) {
  open();
  settings()->setContextShift(true);
  window_->close();
  open();
  EXPECT_TRUE(settings()->contextShift());
}

TEST_F(ChatSettingsTest, ThePopoverHasNoBlackCornersWithoutACompositor) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    open(theme);
    settings()->popupAt(chat());
    EXPECT_FALSE(settings()->testAttribute(Qt::WA_TranslucentBackground));
    EXPECT_FALSE(settings()->mask().contains(QPoint(0, 0)));
    const QImage picture = settings()->grab().toImage();
    const QColor line =
        Theme(theme == ThemeChoice::dark ? Theme::Mode::dark : Theme::Mode::light)(Token::border);
    for (const QPoint& corner : {QPoint(0, 0), QPoint(picture.width() - 1, picture.height() - 1)})
      EXPECT_EQ(picture.pixelColor(corner).name(QColor::HexArgb), line.name(QColor::HexArgb));
    settings()->hide();
    quit(*window_);
  }
}

}  // namespace
}  // namespace orrery::ui::testing
