// Ops of one's own in the window, on the system's compiler and the trial program: written, compiled, tried,
// added and put into a graph; what is wrong is told at its line; what crashes or loops leaves the window.
#include "ui/own_ops/own_ops_page.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>

#include "engine/api/lab.h"
#include "engine/api/own_graph.h"
#include "engine/api/shown_session.h"
#include "support/editing_fixture.h"
#include "support/event_watch.h"
#include "tests/support/variable.h"
#include "ui/frame/workspace.h"
#include "ui/lab/lab_page.h"
#include "ui/ops/ops_page.h"
#include "ui/session/own_ops_first.h"
#include "ui/shell/workspace_switch.h"

namespace orrery::ui::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int kLongest = 60000;
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
constexpr double kEventMs = 160;
#else
constexpr double kEventMs = 16;
#endif

class OwnOpsPageTest : public EditingTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    cache_.emplace("XDG_CACHE_HOME", path("cache").toUtf8().constData());
    data_.emplace("XDG_DATA_HOME", path("data").toUtf8().constData());
    open(ThemeChoice::dark);
  }
  void TearDown() override {
    for (const api::OwnOpEntry& entry : api::list_own_ops()) EXPECT_TRUE(api::remove_own_op(entry.name).ok());
  }
  void open(ThemeChoice theme) {
    Services services = realServices();
    services.open = api::open_or_show;
    services.listModels = [](const auto&) { return std::vector<api::LibraryEntry>(); };
    services.lab = {api::list_kernels, api::run_lab, ""};
    services.ownOps = {api::join_own_ops, api::list_own_ops, custom::read_source, api::compile_own_op,
                       api::check_own_op, api::add_own_op,   api::remove_own_op};
    window_ = makeWindow(services, theme);
    window_->workspaces()->turnTo("lab");
    window_->showPage("own_ops");
    page_ = window_->findChild<OwnOpsPage*>();
    ASSERT_TRUE(page_);
  }
  bool ended() const {
    return waitUntil([&] { return !page_->ops()->running(); }, kLongest);
  }
  /// add_one, compiled.
  void begin() {
    page_->begin("add_one");
    ASSERT_TRUE(ended());
    ASSERT_TRUE(page_->verifyButton()->isEnabled()) << page_->problemWords().toStdString();
  }
  void replace(const QString& before, const QString& after) {
    const QString text = page_->host()->toPlainText();
    ASSERT_TRUE(text.contains(before));
    page_->host()->setPlainText(QString(text).replace(before, after));
  }
  void press(Button* button) {
    ASSERT_TRUE(button->isEnabled()) << button->toolTip().toStdString();
    QTest::mouseClick(button, Qt::LeftButton);
  }
  std::string noteAt(int row) const {
    return page_->list()->topLevelItem(row)->data(0, OwnOpList::noteRole).toString().toStdString();
  }
  void breathe() {
    waitUntil([] { return false; }, 150);
  }

  std::optional<Variable> cache_, data_;
  OwnOpsPage* page_ = nullptr;
};

TEST_F(OwnOpsPageTest, AnErrorIsToldAtItsLine) {
  ASSERT_NO_FATAL_FAILURE(begin());
  EXPECT_FALSE(page_->addButton()->isEnabled());
  EXPECT_THAT(page_->addButton()->toolTip().toStdString(), HasSubstr("Verify"));
  ASSERT_NO_FATAL_FAILURE(replace("src[i] +", "scr[i] +"));
  EXPECT_FALSE(page_->verifyButton()->isEnabled()) << "it is another text";
  ASSERT_TRUE(waitUntil([&] { return !page_->host()->problems().empty(); }, kLongest)) << "by itself";
  EXPECT_EQ(page_->host()->problems().begin()->first, 7);
  EXPECT_THAT(page_->problemWords().toStdString(), HasSubstr("scr"));
  EXPECT_THAT(page_->verifyButton()->toolTip().toStdString(), HasSubstr("compile"));
  page_->host()->goTo(1);
  QTest::keyClick(page_->host(), Qt::Key_F8);
  EXPECT_EQ(page_->host()->currentLine(), 7);
  breathe();
  takePicture(*window_, "own-ops-error-dark");
  page_->tabs()->setCurrent(0);
  ASSERT_NO_FATAL_FAILURE(replace("scr[i] +", "src[i] +"));
  QTest::keyClick(page_->host(), Qt::Key_Return, Qt::ControlModifier);
  EXPECT_TRUE(page_->ops()->running()) << "without waiting";
  ASSERT_TRUE(ended());
  EXPECT_TRUE(page_->host()->problems().empty());
  EXPECT_TRUE(page_->verifyButton()->isEnabled());
}

TEST_F(OwnOpsPageTest, WhatPassedIsInThePaletteAndInGraphs) {
  window_->action("file.new")->trigger();
  ASSERT_TRUE(waitUntil([&] { return window_->session()->session() && !window_->session()->loading(); }));
  ASSERT_NO_FATAL_FAILURE(begin());
  breathe();
  WatchedApplication::instance()->watch();
  ASSERT_NO_FATAL_FAILURE(press(page_->verifyButton()));
  ASSERT_TRUE(ended());
  EXPECT_EQ(page_->stateWords(), "Verified");
  const std::string checks = page_->checkWords().join("\n").toStdString();
  EXPECT_THAT(checks, HasSubstr("stays within its operands"));
  EXPECT_THAT(checks, HasSubstr("src f32[3]\nCPU, 1 thread ")) << "what each size took";
  EXPECT_THAT(checks, AnyOf(HasSubstr("the CUDA body was not run here: this machine has no card"),
                            HasSubstr("the CUDA body was not compiled"), HasSubstr("compared with the CPU")));
  EXPECT_THAT(noteAt(0), HasSubstr("CPU"));
  EXPECT_THAT(noteAt(0), HasSubstr(" · no gradients · "));
  ASSERT_NO_FATAL_FAILURE(press(page_->addButton()));
  ASSERT_TRUE(ended());
  auto* labs = window_->findChild<LabPage*>()->labs();
  window_->showPage("lab");
  ASSERT_TRUE(waitUntil([&] { return labs->kernel("my_add_one") != nullptr; })) << "in the lab, too";
  const std::vector<EventTime> longest = WatchedApplication::instance()->longest();
  EXPECT_LE(longest.front().cpuMs, kEventMs) << told(longest);
  ASSERT_EQ(page_->ops()->entries().size(), 1U);
  auto* ops = window_->findChild<OpsPage*>();
  const auto offered = [&] {
    ops->field()->setText("my_add_one");
    return ops->model()->rowCount() == 1;
  };
  EXPECT_TRUE(waitUntil(offered));
  EXPECT_TRUE(window_->session()->session()->model_graph()->ops().find("my_add_one"));
  breathe();
  takePicture(*window_, "own-ops-added-dark");
  window_->showPage("lab");
  auto* lab = window_->findChild<LabPage*>();
  lab->runWords("my_add_one src=7x33 amount=2.5");
  ASSERT_TRUE(waitUntil([&] { return !labs->running() && !labs->runs("my_add_one").empty(); }, kLongest));
  const api::LabVersion& version = labs->runs("my_add_one").front().versions.front();
  EXPECT_EQ(version.name, "cpu.my_add_one");
  EXPECT_TRUE(version.ok) << version.where;
  EXPECT_GT(version.us, 0);
  lab->runWords("my_add_one src=7x");
  ASSERT_TRUE(waitUntil([&] { return !lab->problem()->problem().isEmpty(); }));
  EXPECT_THAT(lab->problem()->problem().toStdString(), HasSubstr("src=7x has no shape in it"));
  breathe();
  takePicture(*window_, "own-ops-lab-dark");
  window_->showPage("own_ops");
  emit ops->opAsked("my_add_one");
  EXPECT_TRUE(waitUntil([&] { return editor()->drafts().all().size() == 1; })) << "put down in the graph";
  ASSERT_NO_FATAL_FAILURE(press(page_->removeButton()));
  EXPECT_TRUE(waitUntil([&] { return page_->ops()->entries().empty(); }));
  EXPECT_TRUE(waitUntil([&] { return labs->kernel("my_add_one") == nullptr; }));
  EXPECT_TRUE(waitUntil([&] { return !offered(); }));
}

TEST_F(OwnOpsPageTest, WhatCrashesOrLoopsLeavesTheWindow) {
  ASSERT_NO_FATAL_FAILURE(begin());
  ASSERT_NO_FATAL_FAILURE(replace("dst[i] = ", "*(volatile float*)0 = dst[i] = "));
  page_->compile();
  ASSERT_TRUE(ended());
  ASSERT_NO_FATAL_FAILURE(press(page_->verifyButton()));
  ASSERT_TRUE(ended());
  EXPECT_THAT(page_->checkWords().join("\n").toStdString(), HasSubstr("null pointer"));
  EXPECT_FALSE(page_->addButton()->isEnabled());
  EXPECT_THAT(page_->addButton()->toolTip().toStdString(), HasSubstr("Its trial failed: fix"));
  EXPECT_EQ(page_->stateWords(), "Its trial failed: fix it, then verify again");
  EXPECT_TRUE(page_->verifyButton()->isEnabled()) << "once more, if one likes";
  breathe();
  takePicture(*window_, "own-ops-crash-dark");
  ASSERT_NO_FATAL_FAILURE(replace("*(volatile float*)0 = ", "for (volatile int on = 1; on;) "));
  page_->compile();
  ASSERT_TRUE(ended());
  ASSERT_NO_FATAL_FAILURE(press(page_->verifyButton()));
  breathe();
  EXPECT_TRUE(page_->ops()->running());
  page_->ops()->stop();
  ASSERT_TRUE(ended());
  EXPECT_FALSE(page_->addButton()->isEnabled());
}

TEST_F(OwnOpsPageTest, TextThatIsInNoFileIsAskedAbout) {
  ASSERT_NO_FATAL_FAILURE(begin());
  EXPECT_TRUE(page_->unsaved().isEmpty()) << "nothing was written yet";
  page_->host()->insertPlainText("// mine\n");
  EXPECT_EQ(page_->unsaved(), QStringList{"my_add_one"});
  window_->close();
  EXPECT_TRUE(window_->isVisible()) << "it asks";
  ASSERT_TRUE(page_->save(folder_.path()));
  EXPECT_TRUE(page_->unsaved().isEmpty());
  QFile file(path("my_add_one.cpp"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(file.readAll().startsWith("// mine\n"));
}

TEST_F(OwnOpsPageTest, PictureOfTheLightTheme) {
  quit(*window_);
  window_.reset();
  ASSERT_NO_FATAL_FAILURE(open(ThemeChoice::light));
  page_->begin("bias_gelu");
  ASSERT_TRUE(ended());
  ASSERT_NO_FATAL_FAILURE(press(page_->verifyButton()));
  ASSERT_TRUE(ended());
  EXPECT_THAT(page_->checkWords().join("\n").toStdString(), HasSubstr("my_bias_gelu_backward"));
  EXPECT_THAT(noteAt(0), HasSubstr(" · gradients · "));
  page_->begin("top_k_rows");
  ASSERT_TRUE(ended());
  page_->choose(0);
  for (const QSize& size : {QSize(1600, 1000), QSize(1280, 800), QSize(900, 700)}) {
    window_->resize(size);
    breathe();
    takePicture(*window_, QString("own-ops-light-%1").arg(size.width()));
  }
}

TEST(AfterOwnOps, WhatIsOpenedAtTheStartWaitsForThem) {
  std::promise<void> compiled;
  std::atomic<bool> opened = false;
  Services services;
  services.ownOps.join = [&](const Watch&) {
    compiled.get_future().wait();
    return std::vector<Error>();
  };
  services.open = [&](const api::OpenOptions&, const ProgressCallback&,
                      std::stop_token) -> Result<SessionPtr> {
    opened = true;
    return Error{ErrorCode::not_found, "none", "", ""};
  };
  const Services waiting = afterOwnOps(services);
  std::stop_source stop;
  std::string stage;
  const auto open = [&](std::stop_token token) {
    return waiting.open(
        {}, [&](std::string_view words, uint64_t, uint64_t) { stage = words; }, std::move(token));
  };
  auto given_up = std::async(std::launch::async, open, stop.get_token());
  stop.request_stop();
  EXPECT_EQ(given_up.get().error().code, ErrorCode::cancelled);
  EXPECT_EQ(stage, "Waiting for ops of one's own");
  auto asked = std::async(std::launch::async, open, std::stop_token());
  auto joined = std::async(std::launch::async, [&] { return waiting.ownOps.join({}); });
  EXPECT_EQ(asked.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  EXPECT_FALSE(opened) << "a graph would miss an op that is still compiled";
  compiled.set_value();
  EXPECT_EQ(asked.get().error().code, ErrorCode::not_found);
  EXPECT_TRUE(opened);
  joined.get();
}

}  // namespace
}  // namespace orrery::ui::testing
