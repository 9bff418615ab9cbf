// What the lab shows of a run without the kernels: a busy machine, rows that are wrong, several devices.
#include "ui/session/lab_controller.h"

#include <gmock/gmock.h>

#include "support/window_fixture.h"
#include "ui/lab/lab_page.h"

namespace orrery::ui::testing {
namespace {

using ::testing::HasSubstr;

api::LabVersion timedVersion(const std::string& name, double us, double spread = 0.02) {
  api::LabVersion version;
  version.name = name;
  version.ok = true;
  version.us = us;
  version.p10 = us * (1 - spread);
  version.p90 = us * (1 + spread);
  version.samples = 15;
  version.gflops = 1000 / us;
  version.gbytes_per_second = 500 / us;
  version.share_of_limit = 1 / us;
  return version;
}

class LabRowsTest : public WindowTest {
 protected:
  /// A kernel of two rows of the CPU and one of a card, which says what `make` gives.
  void open(std::function<void(api::LabRun&)> change = {}) {
    Services services = engine_.services();
    services.lab.list = [] {
      return std::vector<api::LabKernel>{
          {"fake", "SIZE", {"64", "128"}, {"cpu.fast", "cpu.reference"}, {"cuda.fast"}}};
    };
    services.lab.run = [change](const api::LabRequest& request, const api::LabCallback& on_version,
                                const ProgressCallback& progress, std::stop_token) -> Result<api::LabRun> {
      api::LabRun run;
      run.kernel = request.kernel;
      run.problem = request.shape;
      run.device = request.device;
      run.machine = "a machine";
      run.flops = 1e6;
      run.bytes = 1e6;
      run.limits.reading = {{1e3, 4e9}, {1e9, 1e9}};
      run.limits.operations_per_second = {1e9, 0, 0, 4e9};
      const bool cpu = request.device == "cpu";
      const std::vector<std::string> names =
          cpu ? std::vector<std::string>{"cpu.fast", "cpu.reference"} : std::vector<std::string>{"cuda.fast"};
      for (const std::string& name : names) {
        if (!request.rows.empty() && std::ranges::find(request.rows, name) == request.rows.end()) continue;
        progress(name, run.versions.size(), names.size());
        run.versions.push_back(timedVersion(name, name == "cpu.reference" ? 40 : cpu ? 10 : 2));
        if (change) change(run);
        on_version(run);
      }
      return run;
    };
    window_ = makeWindow(services, ThemeChoice::dark);
    window_->showPage("lab");
    page_ = window_->findChild<LabPage*>();
    ASSERT_TRUE(waitUntil([&] { return !page_->labs()->kernels().empty(); }));
  }
  void run() {
    page_->startOrStop();
    ASSERT_TRUE(waitUntil([&] { return !page_->labs()->running(); }));
  }
  const std::vector<LabRow>& rows() const { return page_->rows()->rows(); }

  std::unique_ptr<MainWindow> window_;
  LabPage* page_ = nullptr;
};

TEST_F(LabRowsTest, DevicesStandSideBySide) {
  ASSERT_NO_FATAL_FAILURE(open());
  api::DeviceEntry cpu, card;
  cpu.device = "cpu";
  card.device = "cuda:0";
  page_->setDevices({cpu, card}, "cpu");
  ASSERT_EQ(page_->problem()->devices().size(), 2U);
  EXPECT_TRUE(page_->problem()->devices()[0]->isChecked());
  page_->problem()->devices()[1]->setChecked(true);
  ASSERT_NO_FATAL_FAILURE(run());
  ASSERT_EQ(rows().size(), 3U);
  EXPECT_EQ(rows()[0].name, "cpu.reference");
  EXPECT_EQ(rows()[2].name, "cuda.fast");
  EXPECT_EQ(rows()[2].token(), Token::cuda);
  ASSERT_EQ(page_->roofline()->points().size(), 3U);
  EXPECT_TRUE(page_->roofline()->points()[2].square);
  EXPECT_EQ(page_->bars()->chosen(), 3) << "the fastest of all";
  for (QCheckBox* box : page_->problem()->devices()) box->setChecked(false);
  EXPECT_FALSE(page_->runButton()->isEnabled());
  EXPECT_THAT(page_->runButton()->toolTip().toStdString(), HasSubstr("device"));
}

TEST_F(LabRowsTest, WhatModelsRunOnIsChosenUntilAPersonChooses) {
  ASSERT_NO_FATAL_FAILURE(open());
  api::DeviceEntry cpu, card;
  cpu.device = "cpu";
  card.device = "cuda:0";
  const auto chosen = [&] { return page_->problem()->ask().devices; };
  page_->setDevices({cpu, card}, "cuda:0");
  EXPECT_EQ(chosen(), std::vector<std::string>{"cuda:0"});
  page_->problem()->devices()[0]->setChecked(true);
  page_->problem()->devices()[1]->setChecked(false);
  page_->setDevices({cpu, card}, "cuda:0");  // listed again
  EXPECT_EQ(chosen(), std::vector<std::string>{"cpu"});
}

TEST_F(LabRowsTest, ABusyMachineIsToldAndTheRunRepeated) {
  bool busy = true;
  ASSERT_NO_FATAL_FAILURE(open([&](api::LabRun& run) { run.others = busy ? 0.5 : 0.01; }));
  ASSERT_NO_FATAL_FAILURE(run());
  ASSERT_EQ(rows().size(), 2U);
  EXPECT_TRUE(rows()[0].busy && rows()[1].busy);
  EXPECT_TRUE(page_->banner()->isVisible());
  EXPECT_EQ(page_->banner()->title(), "The machine was busy");
  EXPECT_THAT(page_->banner()->body().toStdString(), HasSubstr("50 %"));
  busy = false;
  ASSERT_TRUE(press(page_->banner(), "Repeat"));
  ASSERT_TRUE(waitUntil([&] { return !page_->labs()->running(); }));
  EXPECT_FALSE(page_->banner()->isVisible());
  EXPECT_FALSE(rows()[0].busy);
}

TEST_F(LabRowsTest, AWrongRowIsAnErrorAndHasNoTime) {
  ASSERT_NO_FATAL_FAILURE(open([](api::LabRun& run) {
    api::LabVersion& last = run.versions.back();
    if (last.name != "cpu.fast") return;
    last.ok = false;
    last.us = last.p10 = last.p90 = 0;
    last.max_error = 0.5;
    last.tolerance = 1e-6;
    last.where = "dst[3] is 1, expected 2";
  }));
  ASSERT_NO_FATAL_FAILURE(run());
  EXPECT_EQ(rows()[1].mark, LabMark::wrong);
  EXPECT_EQ(page_->banner()->kind(), Banner::Kind::error);
  EXPECT_THAT(page_->banner()->body().toStdString(), HasSubstr("dst[3] is 1, expected 2"));
  EXPECT_EQ(page_->roofline()->points().size(), 1U);
  EXPECT_EQ(page_->rows()->index(1, LabModel::timeColumn).data().toString(), "wrong");
}

TEST_F(LabRowsTest, AWindowThatClosesEndsTheRun) {
  ASSERT_NO_FATAL_FAILURE(open());
  page_->startOrStop();
  quit(*window_);
  window_.reset();
  ASSERT_NO_FATAL_FAILURE(open());
  page_->startOrStop();
  window_.reset();  // as it is seen
}

}  // namespace
}  // namespace orrery::ui::testing
