// What will change: the lines of a preview, refusals, and that the latest question is answered.
#include "ui/change/change_page.h"

#include <QApplication>

#include "support/window_fixture.h"
#include "ui/frame/workspace.h"
#include "ui/theme/format.h"

namespace orrery::ui::testing {
namespace {

edit::Edit bypass(const std::string& scope) { return {"bypass", {{"scope", scope}}}; }

api::Preview samplePreview() {
  api::Preview preview;
  for (int i = 0; i < 12; ++i)
    preview.nodes.push_back({.node = {},
                             .path = "layers." + std::to_string(i) + ".norm",
                             .op = "rms_norm",
                             .shape_before = "f32[tokens, 576]",
                             .shape_after = "f32[tokens, 576]",
                             .device_before = "cpu",
                             .device_after = "cpu",
                             .differences = {"eps 1e-05 -> 0.001"}});
  preview.moved.push_back({{}, "cuda:0", "cpu", "no row of this card takes it"});
  preview.tokens_read_again = 118;
  preview.read_again_from = "layers.10.attention.kv_cache";
  preview.states_before = 10;
  preview.memory = {{"cpu", "AVX2", {200'000'000, 11'000'000, 0, 0}, {197'000'000, 11'000'000, 0, 0}},
                    {"cuda:0", "H200", {}, {40'000'000, 0, 0, 0}},
                    {"cuda:1", "H200", {}, {40'000'000, 0, 0, 0}}};
  preview.step_us = {4220, 4050, true, 2};
  return preview;
}

QStringList written(const std::vector<ChangeRow>& rows) {
  QStringList lines;
  for (const ChangeRow& row : rows)
    lines += QStringList{row.label, row.before, row.after, row.difference, row.detail}.join("|");
  return lines;
}

TEST(ChangeRows, SayEachThingInItsLineAndSevenAtMost) {
  const std::vector<ChangeRow> rows = changeRows(samplePreview(), true);
  EXPECT_EQ(rows.size(), static_cast<size_t>(kMostChangeRows));
  const QStringList expected = {
      "step time|4.22 ms|\u2248 4.05 ms|\u22124.0 %|without 2 nodes of unknown speed",
      "CPU memory|211 MB|208 MB|\u22123.0 MB|",
      "CUDA 0|0 B|40 MB|+40 MB|and on 1 more device",
      "context||118 tokens read again||from layers.10 on; what 10 layers before it keep is as it was",
      "nodes||12 changed||norm: eps 1e-05 -> 0.001",
      "places||1 node not where asked||no row of this card takes it",
      "refused||nothing|\u2713|"};
  EXPECT_EQ(written(rows).join('\n').toStdString(), expected.join('\n').toStdString());
  EXPECT_EQ(rows[0].token, Token::ok);
  EXPECT_EQ(rows[2].token, Token::warn);
}

TEST(ChangeRows, NothingIsSaid) {
  const std::vector<ChangeRow> rows = changeRows({}, true);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].after, "nothing");
}

/// Its previews take until they are stopped, but of layers.3.
class SlowSession : public FakeSession {
 public:
  using FakeSession::FakeSession;
  Result<api::Preview> preview(const std::vector<edit::Edit>& edits, std::stop_token stop) const override {
    ++begun;
    if (edits.front() == bypass("layers.3")) return samplePreview();
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++stopped;
    return cancelled_error();
  }
  mutable std::atomic<int> begun{0}, stopped{0};
};

TEST(EditPreviewsTest, TheLatestQuestionIsAnswered) {
  const auto session = std::make_shared<SlowSession>(api::OpenOptions(), FakePlan());
  EditPreviews previews(FakeEngine().services());
  int answers = 0;
  QObject::connect(&previews, &EditPreviews::answered, &previews, [&] { ++answers; });
  previews.ask(session, {bypass("layers.1")});
  ASSERT_TRUE(waitUntil([&] { return session->begun == 1; }));
  previews.ask(session, {bypass("layers.2")});
  previews.ask(session, {bypass("layers.3")});
  ASSERT_TRUE(waitUntil([&] { return answers == 1; }));
  EXPECT_EQ(previews.preview()->tokens_read_again, 118);
  EXPECT_EQ(session->stopped, session->begun - 1);
  EXPECT_FALSE(waitUntil([&] { return answers > 1; }, 50));
}

TEST(EditPreviewsTest, ARefusalDoesNotWaitForAPreview) {
  const auto session = std::make_shared<SlowSession>(api::OpenOptions(), FakePlan());
  EditPreviews previews(FakeEngine().services());
  previews.ask(session, {bypass("layers.1")});
  ASSERT_TRUE(waitUntil([&] { return session->begun == 1; }));
  previews.ask(session, {bypass("head")});
  ASSERT_TRUE(waitUntil([&] { return previews.preview() != nullptr; }));
  ASSERT_EQ(previews.preview()->refusals.size(), 1U);
  EXPECT_EQ(previews.preview()->refusals[0].reason.what, "The scope has no residual stream");
  EXPECT_EQ(session->begun, 1);
}

TEST(EditPreviewsTest, WhatIsForgottenIsNotAnswered) {
  const auto session = std::make_shared<SlowSession>(api::OpenOptions(), FakePlan());
  EditPreviews previews(FakeEngine().services());
  int forgotten = 0;
  QObject::connect(&previews, &EditPreviews::forgotten, &previews, [&] { ++forgotten; });
  previews.ask(session, {bypass("layers.3")});
  previews.forget();
  EXPECT_EQ(forgotten, 1);
  EXPECT_FALSE(waitUntil([&] { return previews.preview() != nullptr; }, 50));
  EXPECT_TRUE(previews.edits().empty());
}

using ChangePageTest = WindowTest;

TEST_F(ChangePageTest, FollowsWhatIsConsidered) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    const auto window = makeWindow(theme);
    ASSERT_TRUE(opened(*window, "chat"));
    window->showPage("change");
    auto* page = window->findChild<ChangePage*>();
    const graph::GraphVersion graph = window->session()->session()->model_graph();
    ASSERT_TRUE(waitUntil([&] { return page->isVisible(); }));
    emit window->work().editConsidered({bypass("layers.2")});
    EXPECT_EQ(page->title(), "Bypass layers.2");
    ASSERT_TRUE(waitUntil([&] { return page->card()->isVisible(); }));
    EXPECT_EQ(page->card()->rows().front().after, "nothing") << "the fake session foretells no change";
    emit window->work().editConsidered({bypass("head")});
    ASSERT_TRUE(waitUntil([&] { return page->refusal()->isVisible(); }));
    EXPECT_FALSE(page->card()->isVisible());
    EXPECT_EQ(page->refusal()->refusal().title, "Bypass head is refused");
    takePicture(*window, theme == ThemeChoice::dark ? "change-refused-dark" : "change-refused-light");
    page->show(*graph, {bypass("layers.2")}, samplePreview(), true);
    EXPECT_FALSE(page->refusal()->isVisible());
    QApplication::processEvents();
    takePicture(*window, theme == ThemeChoice::dark ? "change-dark" : "change-light");
    emit window->work().editLeft();
    EXPECT_FALSE(page->card()->isVisible());
    quit(*window);
  }
}

TEST_F(ChangePageTest, AWireOfAnotherTypeIsRefusedWithBothShapes) {
  const auto window = makeWindow(ThemeChoice::dark);
  ASSERT_TRUE(opened(*window, "chat"));
  const graph::GraphVersion graph = window->session()->session()->model_graph();
  api::Preview preview;
  preview.refusals.push_back({0, {ErrorCode::shape_mismatch, "The shapes differ", "layers.0.residual", ""}});
  const Refusal refusal = changeRefusal(
      *graph, {{"connect", {{"input", "layers.0.residual.a"}, {"value", "layers.0.proj.weight:out"}}}},
      preview);
  EXPECT_EQ(refusal.title, "residual.a does not take this");
  ASSERT_TRUE(refusal.gives && refusal.takes);
  EXPECT_EQ(refusal.gives->dims, (QStringList{"64", "64"}));
  EXPECT_EQ(refusal.takes->dims, (QStringList{"tokens", "64"}));
  quit(*window);
}

}  // namespace
}  // namespace orrery::ui::testing
