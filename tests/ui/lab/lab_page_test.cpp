// The kernel lab in the window, on the real kernels of the CPU: a small problem is verified and timed, row,
// mark and bar are one choice, a problem that is none is told where it is typed, a stop keeps what was timed.
#include "ui/lab/lab_page.h"

#include <gmock/gmock.h>

#include <QFile>
#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QTest>
#include <algorithm>

#include "engine/base/csv.h"
#include "support/event_watch.h"
#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/shell/workspace_switch.h"

namespace orrery::ui::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kLongest = 120000;
#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__)
constexpr double kEventMs = 160;
#else
constexpr double kEventMs = 16;
#endif

class LabPageTest : public WindowTest {
 protected:
  void open(ThemeChoice theme = ThemeChoice::dark) {
    Services services = engine_.services();
    services.lab = {kernels_, api::run_lab, path("lab/runs.jsonl").toStdString()};
    window_ = makeWindow(services, theme);
    window_->workspaces()->turnTo("lab");
    window_->showPage("lab");
    page_ = window_->findChild<LabPage*>();
    ASSERT_TRUE(page_);
    ASSERT_TRUE(waitUntil([&] { return !page_->labs()->kernels().empty(); }));
  }
  void choose(const QString& kernel, const QString& shape) {
    page_->chooseKernel(kernel);
    page_->problem()->shape()->selectAll();
    QTest::keyClicks(page_->problem()->shape(), shape);
  }
  bool ended() const {
    return waitUntil([&] { return !page_->labs()->running(); }, kLongest);
  }
  void runSoftmax() {
    choose("softmax", "4x33x1");
    QTest::keyClick(page_->problem()->shape(), Qt::Key_F5);
    ASSERT_TRUE(page_->labs()->running());
    ASSERT_TRUE(ended());
  }
  const std::vector<LabRow>& rows() const { return page_->rows()->rows(); }
  size_t timed() const {
    return static_cast<size_t>(
        std::count_if(rows().begin(), rows().end(), [](auto& row) { return row.timed(); }));
  }
  size_t kept() const { return page_->labs()->history().size(); }
  QByteArray saved(const QString& name) {
    EXPECT_TRUE(page_->save(path(name)).ok());
    QFile file(path(name));
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    return file.readAll();
  }
  void settle() {
    waitUntil([] { return false; }, 150);
  }

  std::function<std::vector<api::LabKernel>()> kernels_ = api::list_kernels;
  std::unique_ptr<MainWindow> window_;
  LabPage* page_ = nullptr;
};

/// The kernels, with one row of a ladder that calls a library and two that tell their blocks.
std::vector<api::LabKernel> kernelsWithARival() {
  std::vector<api::LabKernel> kernels = api::list_kernels();
  for (api::LabKernel& kernel : kernels)
    if (kernel.name == "matmul_ladder") {
      kernel.libraries = {{"cpu.packed", "a library"}};
      kernel.tiles = {{"cpu.blocked", "4x8"}, {"cpu.packed", "6x16"}};
    }
  return kernels;
}

TEST_F(LabPageTest, EveryRowIsVerifiedThenTimed) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  const api::LabKernel* kernel = page_->labs()->kernel("softmax");
  ASSERT_TRUE(kernel);
  ASSERT_EQ(rows().size(), kernel->cpu.size());
  for (size_t i = 0; i < rows().size(); ++i) {
    const LabRow& row = rows()[i];
    EXPECT_EQ(row.name, kernel->cpu[rows().size() - 1 - i]) << "slow to fast";
    EXPECT_EQ(row.mark, row.version->refused.empty() ? LabMark::verified : LabMark::off) << row.name;
    EXPECT_EQ(row.timed(), row.version->refused.empty()) << row.name;
  }
  EXPECT_GE(timed(), 2U);
  EXPECT_EQ(page_->table()->model()->rowCount(), static_cast<int>(rows().size()));
  EXPECT_EQ(page_->roofline()->points().size(), timed()) << "as many marks";
  EXPECT_EQ(static_cast<size_t>(page_->bars()->bars()), timed()) << "and bars";
  EXPECT_GE(page_->roofline()->roofs(), 2) << "reading and single precision";
  const api::LabRun& run = page_->labs()->runs("softmax").front();
  EXPECT_GT(run.flops, 0);
  EXPECT_GT(run.bytes, 0);
  for (const RooflinePoint& point : page_->roofline()->points())
    EXPECT_DOUBLE_EQ(point.x, run.flops / run.bytes);
  const QModelIndex first = page_->rows()->index(0, LabModel::timeColumn);
  EXPECT_FALSE(first.data().toString().isEmpty());
  EXPECT_EQ(page_->problem()->problem(), "");
}

TEST_F(LabPageTest, RowMarkAndBarAreOneChoice) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  const int fastest = page_->bars()->chosen();
  ASSERT_GT(fastest, 0);
  const double least = rows()[static_cast<size_t>(fastest) - 1].version->us;
  for (const LabRow& row : rows())
    EXPECT_TRUE(!row.timed() || row.version->us >= least) << "the fastest, at first";
  page_->table()->selectRow(0);
  EXPECT_EQ(page_->roofline()->chosen(), 1);
  EXPECT_EQ(page_->bars()->chosen(), 1);
  emit page_->bars()->numberChosen(2);
  EXPECT_EQ(page_->table()->currentIndex().row(), 1);
  EXPECT_EQ(page_->roofline()->chosen(), 2);
  emit page_->roofline()->numberChosen(1);
  EXPECT_EQ(page_->table()->currentIndex().row(), 0);
  settle();
  const QPointF at = page_->roofline()->points().back().at;
  QTest::mouseClick(page_->roofline(), Qt::LeftButton, Qt::NoModifier, at.toPoint());
  EXPECT_EQ(page_->bars()->chosen(), page_->roofline()->points().back().number);
}

TEST_F(LabPageTest, ARowOfTheListIsChosenBeforeItIsRun) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_FALSE(page_->rowButton()->isEnabled());
  QTreeView* view = page_->list()->view();
  page_->list()->field()->setText("softmax");
  const QModelIndex kernel = view->model()->index(0, 0);
  ASSERT_EQ(kernel.data().toString(), "softmax");
  view->setFocus();
  view->setCurrentIndex(kernel);
  EXPECT_EQ(page_->kernel(), "softmax");
  QTest::keyClick(view, Qt::Key_Down);
  EXPECT_TRUE(page_->rowButton()->isEnabled());
  page_->problem()->setWords("4x33x1");
  QTest::keyClick(view, Qt::Key_F5, Qt::ShiftModifier);
  ASSERT_TRUE(ended());
  ASSERT_EQ(rows().size(), 1U);
  EXPECT_EQ(rows()[0].name, page_->labs()->kernel("softmax")->cpu.back());
}

TEST_F(LabPageTest, ItsKeyRunsKernelsWhereTheyAreSeen) {
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_TRUE(window_->action("chat.run")->isEnabled());
  window_->workspaces()->turnTo("see");
  settle();
  EXPECT_FALSE(window_->action("chat.run")->isEnabled()) << "there is no model, and no kernel is seen";
  window_->workspaces()->turnTo("lab");
  settle();
  EXPECT_TRUE(window_->action("chat.run")->isEnabled());
}

TEST_F(LabPageTest, OneRowAloneTakesThePlaceOfWhatItWas) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  const size_t all = rows().size();
  const std::vector<api::LabVersion> before = page_->labs()->runs("softmax").front().versions;
  page_->table()->selectRow(0);
  page_->table()->setFocus();
  QTest::keyClick(page_->table(), Qt::Key_F5, Qt::ShiftModifier);
  ASSERT_TRUE(page_->labs()->running());
  ASSERT_TRUE(ended());
  ASSERT_EQ(rows().size(), all);
  const std::vector<api::LabVersion>& after = page_->labs()->runs("softmax").front().versions;
  EXPECT_NE(after.back().us, before.back().us) << "the slowest row was timed again";
  for (size_t i = 0; i + 1 < all; ++i) EXPECT_EQ(after[i].us, before[i].us) << after[i].name;
  EXPECT_EQ(kept(), 1U) << "whole runs alone are kept";
}

TEST_F(LabPageTest, AProblemThatIsNoneIsToldWhereItIsTyped) {
  ASSERT_NO_FATAL_FAILURE(open());
  choose("softmax", "4xmany");
  QTest::keyClick(page_->problem()->shape(), Qt::Key_Return);
  ASSERT_TRUE(ended());
  EXPECT_THAT(page_->problem()->problem().toStdString(), HasSubstr("no problem of softmax"));
  EXPECT_FALSE(page_->banner()->isVisible());
  EXPECT_TRUE(rows().empty());
  EXPECT_TRUE(page_->runButton()->isEnabled());
  settle();
  takePicture(*window_, "lab-refused-dark");
  choose("softmax", "4x33x1");
  EXPECT_EQ(page_->problem()->problem(), "") << "gone with the words";
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  EXPECT_GE(timed(), 2U);
}

TEST_F(LabPageTest, AStopKeepsWhatWasTimed) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->chooseKernel("linear");
  QTest::mouseClick(page_->runButton(), Qt::LeftButton);
  EXPECT_EQ(page_->runButton()->text(), "Stop");
  ASSERT_TRUE(waitUntil([&] { return timed() >= 1; }, kLongest));
  QTest::keyClick(page_->problem()->shape(), Qt::Key_Escape);
  ASSERT_TRUE(ended());
  EXPECT_GE(timed(), 1U);
  const api::LabKernel* kernel = page_->labs()->kernel("linear");
  EXPECT_LT(page_->labs()->runs("linear").front().versions.size(), kernel->cpu.size());
  EXPECT_EQ(page_->runButton()->text(), "Run");
  EXPECT_EQ(kept(), 0U) << "a part is not held against whole runs";
  EXPECT_FALSE(page_->banner()->isVisible() && page_->banner()->kind() == Banner::Kind::error);
}

TEST_F(LabPageTest, SavesWhatItShows) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  const auto table = parse_csv(saved("rows.csv").toStdString());
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  EXPECT_EQ(table->rows.size(), rows().size());
  ASSERT_TRUE(table->column("us") && table->column("row"));
  const QJsonArray runs = QJsonDocument::fromJson(saved("runs.json")).array();
  ASSERT_EQ(runs.size(), 1);
  EXPECT_EQ(static_cast<size_t>(runs[0].toObject()["versions"].toArray().size()), rows().size());
  const auto read = api::parse_lab_run(QJsonDocument(runs[0].toObject()).toJson().toStdString());
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->problem, "4x33x1");
  const QImage picture = QImage::fromData(saved("lab.png"), "PNG");
  EXPECT_EQ(picture.size(), QSize(2800, 960));
  QLabel shown;
  shown.setPixmap(QPixmap::fromImage(picture.scaledToWidth(1200, Qt::SmoothTransformation)));
  shown.adjustSize();
  takePicture(shown, "lab-export");
  EXPECT_FALSE(page_->save(path("no/such/folder.csv")).ok());
}

TEST_F(LabPageTest, AnEarlierStartIsShownAsSuch) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  EXPECT_EQ(kept(), 2U);
  EXPECT_EQ(page_->history()->times(), 2);
  quit(*window_);
  window_.reset();  // joins what writes the file
  ASSERT_NO_FATAL_FAILURE(open());
  EXPECT_EQ(kept(), 2U);
  page_->chooseKernel("softmax");
  ASSERT_FALSE(rows().empty());
  for (const LabRow& row : rows()) EXPECT_EQ(row.mark, LabMark::off) << "not run here: " << row.name;
  EXPECT_EQ(page_->history()->times(), 2);
  EXPECT_THAT(page_->stageWords().toStdString(), HasSubstr("earlier session"));
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  EXPECT_EQ(page_->history()->times(), 3);
  for (const LabRow& row : rows())
    EXPECT_EQ(row.mark, row.version->refused.empty() ? LabMark::verified : LabMark::off) << row.name;
  EXPECT_TRUE(std::ranges::any_of(rows(), [](const LabRow& row) { return row.mark == LabMark::verified; }));
}

TEST_F(LabPageTest, OtherProblemsStandBesideThisOne) {
  ASSERT_NO_FATAL_FAILURE(open());
  ASSERT_NO_FATAL_FAILURE(runSoftmax());
  EXPECT_TRUE(page_->roofline()->others().empty());
  choose("softmax", "64x512x1");
  page_->startOrStop();
  ASSERT_TRUE(ended());
  ASSERT_EQ(page_->roofline()->others().size(), 1U);
  EXPECT_EQ(page_->roofline()->others()[0].problem, "4x33x1");
  EXPECT_EQ(page_->history()->times(), 1) << "times are of one problem";
  settle();
  takePicture(*window_, "lab-problems-dark");
}

TEST_F(LabPageTest, TheSourceOfTheChosenRowIsBesideItsTime) {
  ASSERT_NO_FATAL_FAILURE(open());
  choose("matmul_ladder", "48x48x48");
  page_->startOrStop();
  ASSERT_TRUE(ended());
  const auto turnTo = [&](int choice) {
    emit page_->below()->chosen((page_->below()->setCurrent(choice), choice));
  };
  const auto row = [&](const char* name) {
    return std::ranges::find(rows(), std::string(name), &LabRow::name)->number;
  };
  emit page_->bars()->numberChosen(row("cpu.blocked"));
  turnTo(1);
  SourcePanel* source = page_->source();
  EXPECT_TRUE(source->isVisible());
  EXPECT_FALSE(page_->table()->isVisible());
  EXPECT_EQ(source->words(), "kernels/cpu/ladder/blocked.cpp");
  QFile file(QString(ORRERY_SOURCE_DIR) + "/kernels/cpu/ladder/blocked.cpp");
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(source->view()->toPlainText(), QString::fromUtf8(file.readAll())) << "the file itself";
  EXPECT_TRUE(page_->limits()->isVisible());
  EXPECT_FALSE(page_->limits()->verdict().isEmpty());
  ASSERT_FALSE(page_->limits()->limits().facts.empty());
  EXPECT_EQ(page_->limits()->limits().facts.back().name, "to the row before");

  QTest::keyClick(page_, Qt::Key_D);
  EXPECT_TRUE(source->showsDifference());
  EXPECT_EQ(source->words(), "kernels/cpu/ladder/blocked.cpp, beside kernels/cpu/ladder/naive.cpp");
  EXPECT_GT(source->view()->extraSelections().size(), 10) << "lines on their grounds";
  settle();
  takePicture(*window_, "lab-difference");
  QTest::keyClick(page_, Qt::Key_Down);
  EXPECT_EQ(page_->bars()->chosen(), row("cpu.packed"));
  EXPECT_EQ(source->words(), "kernels/cpu/ladder/packed.cpp, beside kernels/cpu/ladder/blocked.cpp");
  QTest::keyClick(page_, Qt::Key_Up);
  QTest::keyClick(page_, Qt::Key_Up);
  EXPECT_EQ(page_->bars()->chosen(), 1) << "the ladder's first step";
  EXPECT_EQ(source->words(), "kernels/cpu/ladder/naive.cpp") << "there is nothing before it";
  EXPECT_FALSE(page_->below()->refusal(2).isEmpty());
  turnTo(0);
  EXPECT_TRUE(page_->table()->isVisible());
}

TEST_F(LabPageTest, ALibrarysRowIsTheRivalOfTheSteps) {
  kernels_ = kernelsWithARival;
  ASSERT_NO_FATAL_FAILURE(open());
  window_->resize(1600, 1000);
  choose("matmul_ladder", "96x96x96");
  page_->startOrStop();
  ASSERT_TRUE(ended());
  ASSERT_EQ(rows().back().name, "cpu.packed") << "behind the steps";
  EXPECT_EQ(rows().back().library, "a library");
  for (size_t i = 0; i < rows().size(); ++i) EXPECT_EQ(rows()[i].number, static_cast<int>(i) + 1);
  const auto numberOf = [&](size_t row) {
    return page_->rows()->index(static_cast<int>(row), LabModel::numberColumn).data().toString();
  };
  EXPECT_EQ(numberOf(0), "1");
  EXPECT_EQ(numberOf(rows().size() - 1), "") << "it is no step";
  ASSERT_EQ(page_->roofline()->rivals().size(), 1U);
  EXPECT_EQ(page_->roofline()->points().size(), timed() - 1);
  EXPECT_EQ(static_cast<size_t>(page_->bars()->bars()), timed() - 1);
  EXPECT_EQ(page_->bars()->rivals(), 1);
  const RivalLine& rival = page_->roofline()->rivals().front();
  EXPECT_EQ(rival.name, "a library");
  EXPECT_DOUBLE_EQ(rival.y, rows().back().version->gflops * 1e-3);
  EXPECT_THAT(labTip(rows().back()).toStdString(), HasSubstr("a rival: it calls a library"));
  settle();
  takePicture(*window_, "lab-rival-dark");
}

TEST_F(LabPageTest, BlocksAreThoseOfRows) {
  kernels_ = kernelsWithARival;
  ASSERT_NO_FATAL_FAILURE(open());
  choose("softmax", "4x33x1");
  QComboBox* blocks = page_->problem()->blocks();
  EXPECT_FALSE(blocks->isEnabled());
  EXPECT_THAT(blocks->toolTip().toStdString(), HasSubstr("No row of this kernel"));
  choose("matmul_ladder", "48x48x48");
  ASSERT_TRUE(blocks->isEnabled());
  ASSERT_EQ(blocks->count(), 3);
  EXPECT_EQ(blocks->itemText(1), "4x8, cpu.blocked");
  blocks->setCurrentIndex(1);
  emit blocks->activated(1);
  page_->startOrStop();
  ASSERT_TRUE(ended());
  ASSERT_EQ(rows().size(), 1U) << "the row with these blocks, and no other";
  EXPECT_EQ(rows().front().name, "cpu.blocked");
  EXPECT_TRUE(rows().front().timed());
}

TEST_F(LabPageTest, EveryRowHasASourceInTheProgram) {
  ASSERT_NO_FATAL_FAILURE(open());
  for (const api::LabKernel& kernel : page_->labs()->kernels())
    for (const auto& [row, file] : kernel.sources)
      EXPECT_FALSE(kernelSource(QString::fromStdString(file)).isEmpty()) << row << ": " << file;
}

TEST(RooflineMarks, WhatOthersPublishedStandsWhereItsProblemDoes) {
  api::LabRun run{.kernel = "matmul_ladder", .problem = "4096x4096x4096", .device = "cuda:0", .machine = ""};
  run.flops = 2.0 * 4096 * 4096 * 4096;
  run.bytes = 3.0 * 4 * 4096 * 4096;
  const std::vector<PublishedMark> marks = publishedMarks({run});
  ASSERT_FALSE(marks.empty());
  for (const PublishedMark& mark : marks) {
    EXPECT_DOUBLE_EQ(mark.x, run.flops / run.bytes);
    EXPECT_THAT(mark.words.toStdString(), HasSubstr("A100"));
    EXPECT_THAT(mark.words.toStdString(), HasSubstr("github.com")) << "where it was read";
  }
  EXPECT_NEAR(marks.front().y, 10.663, 1e-9) << "TFLOP/s, the fastest first";
  run.problem = "512x512x512";
  EXPECT_TRUE(publishedMarks({run}).empty());
}

TEST(LineDifference, IsAsSmallAsItCanBe) {
  using Kind = DiffLine::Kind;
  const QStringList before{"a", "b", "c", "d", "e"}, after{"a", "c", "x", "d", "e", "f"};
  const std::vector<DiffLine> expected{{Kind::both, 1, "a"},  {Kind::removed, 2, "b"}, {Kind::both, 2, "c"},
                                       {Kind::added, 3, "x"}, {Kind::both, 4, "d"},    {Kind::both, 5, "e"},
                                       {Kind::added, 6, "f"}};
  EXPECT_EQ(differenceOf(before, after), expected);
  EXPECT_EQ(differenceOf({}, {"a"}), (std::vector<DiffLine>{{Kind::added, 1, "a"}}));
  EXPECT_EQ(differenceOf({"a"}, {}), (std::vector<DiffLine>{{Kind::removed, 1, "a"}}));
  for (const DiffLine& line : differenceOf(before, before)) EXPECT_EQ(line.kind, Kind::both);
}

TEST_F(LabPageTest, NothingWaitsForIt) {
  ASSERT_NO_FATAL_FAILURE(open());
  choose("softmax", "4x33x1");
  settle();
  WatchedApplication::instance()->watch();
  page_->startOrStop();
  ASSERT_TRUE(ended());
  const std::vector<EventTime> longest = WatchedApplication::instance()->longest();
  EXPECT_LE(longest.front().cpuMs, kEventMs) << told(longest);
}

TEST_F(LabPageTest, PicturesOfBothThemes) {
  for (const ThemeChoice theme : {ThemeChoice::dark, ThemeChoice::light}) {
    const QString name = theme == ThemeChoice::dark ? "dark" : "light";
    ASSERT_NO_FATAL_FAILURE(open(theme));
    window_->resize(1600, 1000);
    window_->action("view.reset")->trigger();
    page_->chooseKernel("linear");
    page_->startOrStop();
    ASSERT_TRUE(waitUntil([&] { return timed() >= 3; }, kLongest));
    settle();
    takePicture(*window_, "lab-running-" + name);
    ASSERT_TRUE(ended());
    for (const QSize& size : {QSize(1600, 1000), QSize(1280, 800), QSize(900, 700)}) {
      window_->resize(size);
      settle();
      takePicture(*window_, QString("lab-%1-%2").arg(name).arg(size.width()));
    }
    quit(*window_);
    window_.reset();
  }
}

}  // namespace
}  // namespace orrery::ui::testing
