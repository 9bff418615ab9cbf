// Random sequences of all verbs with undos, redos and jumps: every graph on the way verifies or its edit is
// refused and changes nothing, and the recipe makes the same graph again. ORRERY_EDIT_SEQUENCES says how
// many.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/engine/edit/model_graphs.h"
#include "tests/engine/edit/random_edits.h"

namespace orrery::edit {
namespace {

constexpr size_t kSteps = 10;

struct Model {
  const char* name;
  const char* folder;
  size_t sequences;  // unless told otherwise
};

size_t sequences_of(const Model& model) {
  const char* told = std::getenv("ORRERY_EDIT_SEQUENCES");
  return told ? static_cast<size_t>(std::atoll(told)) / 4 : model.sequences;
}

/// Graphs by position, as a history has them, with what leads from each to the next.
class Walk {
 public:
  explicit Walk(const Graph& opened) : opened_(opened), graphs_{opened}, prints_{print(opened)} {}

  const Graph& graph() const { return graphs_[position_]; }
  size_t position() const { return position_; }
  size_t steps() const { return edits_.size(); }
  void jump(size_t position) { position_ = position; }

  /// Whether the edit was possible.
  bool make(const Edit& edit) {
    Graph next = graph();
    const auto journal = apply(next, edit);
    if (!journal.ok()) {
      EXPECT_FALSE(journal.error().what.empty()) << edit.to_string();
      EXPECT_EQ(print(next), prints_[position_]) << edit.to_string() << " is refused and changed the graph";
      return false;
    }
    const auto problems = verify(next);
    EXPECT_TRUE(problems.empty()) << edit.to_string() << ": " << problems.front().error.to_string();
    const std::string after = print(next);
    Graph back = next;
    graph::undo(back, *journal);
    EXPECT_EQ(print(back), prints_[position_]) << "undo of " << edit.to_string();
    graph::redo(back, *journal);
    EXPECT_EQ(print(back), after) << "redo of " << edit.to_string();
    edits_.resize(position_);
    graphs_.resize(position_ + 1, opened_);
    prints_.resize(position_ + 1);
    edits_.push_back(edit);
    graphs_.push_back(std::move(next));
    prints_.push_back(after);
    ++position_;
    return true;
  }

  /// The recipe, written and read, makes the graph again; and the opened one is as it was.
  void expect_replay() const {
    const auto read =
        parse_recipe(write_recipe({{edits_.begin(), edits_.begin() + static_cast<ptrdiff_t>(position_)}}));
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    Graph made = opened_;
    for (const Edit& edit : read->edits) {
      const auto journal = apply(made, edit);
      ASSERT_TRUE(journal.ok()) << edit.to_string() << ": " << journal.error().to_string();
    }
    EXPECT_EQ(print(made), prints_[position_]);
    EXPECT_EQ(print(opened_), prints_[0]);
  }

 private:
  const Graph& opened_;
  std::vector<Graph> graphs_;
  std::vector<std::string> prints_;
  std::vector<Edit> edits_;
  size_t position_ = 0;
};

class AnySequence : public ::testing::TestWithParam<Model> {};

TEST_P(AnySequence, OfEditsUndosRedosAndJumps) {
  const Graph opened = graph_of(GetParam().folder);
  size_t made = 0, refused = 0;
  for (uint32_t seed = 0; seed < sequences_of(GetParam()); ++seed) {
    SCOPED_TRACE(seed);
    RandomEdits random(seed, opened.order().size() * 2);
    Walk walk(opened);
    for (size_t step = 0; step < kSteps; ++step) {
      if (const size_t kind = random.below(8); kind == 0)
        walk.jump(random.below(walk.steps() + 1));
      else if (kind == 1)
        walk.jump(walk.position() - std::min<size_t>(walk.position(), 1));
      else
        ++(walk.make(random.next(walk.graph())) ? made : refused);
    }
    walk.expect_replay();
    if (HasFailure()) break;
  }
  std::printf("  %zu edits were made, %zu refused\n", made, refused);
  EXPECT_GT(made, refused / 4) << "hardly any edit is possible: this looks at nothing";
}

INSTANTIATE_TEST_SUITE_P(Models, AnySequence,
                         ::testing::Values(Model{"Llama", "smollm2", 15}, Model{"Bert", "minilm", 40},
                                           Model{"Mamba", ORRERY_TEST_DATA "/models/mamba", 150},
                                           Model{"Mixture", ORRERY_TEST_DATA "/models/mixtral", 150}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace orrery::edit
