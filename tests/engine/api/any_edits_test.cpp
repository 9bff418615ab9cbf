// Whatever is edited on a running model, a text that was begun before goes on as the one that is read afresh:
// feeds decide, state by state, what is kept. Of models whose layers keep keys and values, and records.
#include <gmock/gmock.h>

#include <cstring>

#include "engine/models/builder.h"
#include "tests/engine/api/test_models.h"
#include "tests/engine/api/tiny_session.h"
#include "tests/engine/edit/random_edits.h"

namespace orrery::api {
namespace {

struct FolderSession : GraphSession {
  explicit FolderSession(const std::shared_ptr<const io::ModelFile>& file)
      : GraphSession(graph_of(*file), file, std::make_shared<weights::WeightStore>(file, nullptr),
                     runtime::TinyModel::exact_options()) {}

  static graph::GraphVersion graph_of(const io::ModelFile& file) {
    auto built = models::build(file, nullptr);
    EXPECT_TRUE(built.ok()) << (built.ok() ? "" : built.error().to_string());
    return std::make_shared<const graph::Graph>(std::move(built->graph));
  }
};

std::shared_ptr<const io::ModelFile> file_of(const std::string& model) {
  auto file = io::open_model(ORRERY_TEST_DATA "/models/" + model, {}, {});
  EXPECT_TRUE(file.ok()) << (file.ok() ? "" : file.error().to_string());
  return *file;
}

/// Bit for bit: what edits make of a model may be no number.
bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

class AnyEdits : public testing::TestWithParam<const char*> {};

TEST_P(AnyEdits, LeaveNoTraceInWhatIsRead) {
  constexpr int kSteps = 250;
  const FolderSession session(file_of(GetParam()));
  const std::string opened = graph::print(*session->model_graph());
  const std::vector<int32_t> text = runtime::tiny_text(45, 3);  // beyond a page
  edit::RandomEdits random(5, session->model_graph()->order().size() * 2);
  const auto sequence = session.sequence();
  int made = 0;
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    std::string words;
    switch (random.below(6)) {
      case 0:
        words = "undo";
        (void)session->undo();
        break;
      case 1:
        words = "jump";
        (void)session->jump_to(random.below(session->state()->history.steps().size() + 1));
        break;
      default: {
        const edit::Edit edit = random.next(*session->model_graph());
        words = edit.to_string();
        made += session->apply(edit).ok() ? 1 : 0;
      }
    }
    SCOPED_TRACE(words);
    ASSERT_TRUE(belongs_together(*session->state()));
    const runtime::TinyReply goes_on = session.reply(text, 3, sequence), afresh = session.reply(text, 3);
    EXPECT_EQ(goes_on.ids, afresh.ids);
    EXPECT_TRUE(same(goes_on.logprobs, afresh.logprobs)) << "it depends on what was read before the edit";
  }
  EXPECT_GT(made, kSteps / 8);
  ASSERT_TRUE(session->jump_to(0).ok());
  EXPECT_EQ(graph::print(*session->model_graph()), opened);
}

INSTANTIATE_TEST_SUITE_P(Models, AnyEdits, testing::Values("llama", "mamba", "mixtral", "gemma3"),
                         [](const auto& info) { return std::string(info.param); });

TEST(AnyEditsOfAnEncoder, GiveVectorsOrAreRefused) {
  const auto session = open_or_fail(minilm());
  ASSERT_TRUE(session);
  const auto vector = [&] {
    const auto embedded = session->embed({"A sentence to be read."}, {});
    EXPECT_TRUE(embedded.ok()) << (embedded.ok() ? "" : embedded.error().to_string());
    return embedded.ok() ? embedded->at(0).vector : std::vector<float>();
  };
  const std::vector<float> whole = vector();
  edit::RandomEdits random(9, 300);
  int made = 0;
  for (int step = 0; step < 60 && !HasFailure(); ++step) {
    const edit::Edit edit = random.next(*session->model_graph());
    SCOPED_TRACE(edit.to_string());
    made += session->apply(edit).ok() ? 1 : 0;
    EXPECT_EQ(vector().size(), whole.size());
    if (random.below(3) == 0) (void)session->undo();
  }
  EXPECT_GT(made, 10);
  ASSERT_TRUE(session->jump_to(0).ok());
  EXPECT_EQ(vector(), whole);
}

}  // namespace
}  // namespace orrery::api
