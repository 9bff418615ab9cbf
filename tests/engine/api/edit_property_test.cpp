// Random sequences of all verbs, with undos, redos and jumps in the history and nodes that are restored:
// every graph on the way verifies, or its edit is refused with a reason and changes nothing; each place of
// the history has its graph whenever it is gone to, the recipe makes it again, and undoing all gives what was
// opened. ORRERY_EDIT_SEQUENCES says how many, ORRERY_EDIT_SEED which one alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "engine/api/history.h"
#include "engine/api/restore.h"
#include "engine/graph/own_content.h"
#include "engine/ops/lowering.h"
#include "engine/passes/passes.h"
#include "tests/engine/edit/model_graphs.h"
#include "tests/engine/edit/random_edits.h"
#include "tests/engine/models/fake_files.h"

namespace orrery::api {
namespace {

using edit::Edit;
using graph::Graph;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr size_t kSequences = 500;  // instrumented code is many times slower
#else
constexpr size_t kSequences = 10'000;
#endif
constexpr size_t kSteps = 8;
/// One sequence in so many is so long that the history keeps only some of its graphs.
constexpr size_t kLongOnes = 200, kLongSteps = 4 * History::kGraphs;

std::optional<size_t> told(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::optional(static_cast<size_t>(std::atoll(text))) : std::nullopt;
}

graph::GraphVersion graph_of(const io::ModelFile& file) {
  auto built = models::build(file, nullptr);
  if (!built.ok()) throw std::runtime_error(built.error().to_string());
  return std::make_shared<const Graph>(std::move(built->graph));
}
graph::GraphVersion graph_of(const std::string& model) {
  return std::make_shared<const Graph>(edit::graph_of(model.c_str()));
}

/// How many edits of each verb were made, and how many refused.
struct Count {
  size_t made = 0, refused = 0;
};
using Counts = std::map<std::string, Count>;

void count(Count& count, bool made) { ++(made ? count.made : count.refused); }

/// What a graph keeps of a text: the last state of every chain that its results need, and no other.
bool keeps_its_states(const Graph& graph) {
  const auto is_state = [&](ValueId value) {
    return value.valid() && graph.value(value).kind == graph::ValueKind::state;
  };
  std::vector<ValueId> results = graph.outputs();
  const auto states = std::ranges::stable_partition(results, std::not_fn(is_state));
  std::set<ValueId> kept(states.begin(), states.end()), last;
  results.erase(states.begin(), states.end());
  if (results.empty()) return true;
  Graph needed = graph;
  needed.set_outputs(results);
  const std::vector<bool> live = needed.live();
  for (size_t i = 0; i < live.size(); ++i) {
    const graph::Node& node = graph.node(graph.order()[i]);
    if (!live[i] || node.is_source() || std::ranges::none_of(node.outputs, is_state)) continue;
    for (const ValueId input : node.inputs) last.erase(input);
    std::ranges::copy_if(node.outputs, std::inserter(last, last.end()), is_state);
  }
  return kept == last;
}

/// The graph of the place of a history that one stands at, and what the others were.
class Walk {
 public:
  Walk(graph::GraphVersion opened, std::string printed)
      : history_(opened), graph_(std::move(opened)), prints_{std::move(printed)} {}

  const Graph& graph() const { return *graph_; }
  const History& history() const { return history_; }

  /// Whether the edit was possible.
  bool make(const Edit& edit) {
    Graph next = *graph_;
    auto journal = edit::apply(next, edit);
    if (edit.op == "bypass") {
      EXPECT_EQ(edit::can_bypass(*graph_, edit.fields.at("scope")).ok(), journal.ok()) << edit.to_string();
    }
    if (!journal.ok()) {
      EXPECT_FALSE(journal.error().what.empty()) << edit.to_string();
      EXPECT_NE(journal.error().code, ErrorCode::internal) << edit.to_string() << journal.error().to_string();
      EXPECT_EQ(print(next), prints_[history_.position()])
          << edit.to_string() << " is refused and changes it";
      return false;
    }
    EXPECT_FALSE(journal->name.empty()) << edit.to_string();
    const auto words = edit::parse_edit(edit.to_string());
    EXPECT_TRUE(words.ok() && *words == edit) << edit.to_string();
    const auto problems = verify(next);
    EXPECT_TRUE(problems.empty()) << edit.to_string() << ": " << problems.front().error.to_string();
    EXPECT_TRUE(keeps_its_states(next)) << edit.to_string();
    add({{journal->name, edit.to_string()}, {{edit}}, false, std::make_shared<const Graph>(std::move(next))},
        std::move(journal).value());
    return true;
  }

  /// Whether the nodes could go back to what they were.
  bool restore(const std::string& scopes) {
    auto entries = without_edits_of(history_, *graph_, scopes);
    if (!entries.ok()) {
      EXPECT_FALSE(entries.error().what.empty()) << scopes;
      return false;
    }
    const auto made = replayed(history_.opened(), edits_of(*entries));
    if (!made.ok()) {
      ADD_FAILURE() << "restore " << scopes << ": " << made.error().to_string();
      return false;
    }
    EXPECT_TRUE(verify(*made->graph).empty()) << "restore " << scopes;
    add({{"restore " + scopes, ""}, std::move(entries).value(), true, made->graph}, std::nullopt);
    return true;
  }

  void jump_to(size_t steps) {
    const auto graph = history_.graph_at(steps);
    ASSERT_TRUE(graph.ok()) << graph.error().to_string();
    history_.move_to(steps, true);
    graph_ = *graph;
    EXPECT_EQ(print(*graph_), prints_[steps]) << "at step " << steps << " of " << history_.steps().size();
  }

  void expect_passes() const {
    const auto passed = passes::run_passes(*graph_, {});
    EXPECT_TRUE(passed.ok()) << passed.error().to_string();
  }

  /// The recipe, written and read, makes the graph again.
  void expect_replay() const {
    const auto read = edit::parse_recipe(edit::write_recipe({history_.recipe()}));
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const auto made = replayed(history_.opened(), read->edits);
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    EXPECT_EQ(print(*made->graph), prints_[history_.position()]);
  }

  /// By their journals, as far back as there are any, and then by the history, with a halt wherever it has to
  /// make the graph again.
  void undo_all() {
    const size_t last = history_.position();
    size_t first = last;
    Graph graph = *graph_;
    while (first > 0 && journals_[first - 1]) graph::undo(graph, *journals_[--first]);
    EXPECT_EQ(print(graph), prints_[first]) << "undone";
    for (size_t i = first; i < last; ++i) graph::redo(graph, *journals_[i]);
    EXPECT_EQ(print(graph), prints_[last]) << "made again";
    for (size_t steps = last; steps-- > 0 && !testing::Test::HasFailure();)
      if (steps == 0 || !history_.steps()[steps - 1]->graph) jump_to(steps);
    EXPECT_TRUE(history_.opened() == graph_);
    EXPECT_TRUE(history_.recipe().empty());
  }

 private:
  void add(HistoryStep step, std::optional<graph::Journal> journal) {
    prints_.resize(history_.position() + 1);
    journals_.resize(history_.position());
    graph_ = step.graph;
    history_.add(std::move(step));
    prints_.push_back(print(*graph_));
    journals_.push_back(std::move(journal));
  }

  History history_;
  graph::GraphVersion graph_;
  std::vector<std::string> prints_;                      // by position
  std::vector<std::optional<graph::Journal>> journals_;  // of the steps; none of those made anew
};

std::string words_of(const History& history) {
  std::string words;
  for (const auto& step : history.steps())
    words += fmt::format("  {}\n", step->anew ? step->record.name : step->record.words);
  return fmt::format("at {} of these steps:\n{}", history.position(), words);
}

struct Model {
  const char* name;
  graph::GraphVersion opened;
  size_t share;  // of a hundred sequences
  edit::FilesOfEdits files = {};
};

void run_sequence(const Model& model, const std::string& printed, uint32_t seed, Counts& counts) {
  edit::RandomEdits random(seed, model.opened->order().size() * 2, model.files);
  Walk walk(model.opened, printed);
  const bool is_long = seed % kLongOnes == kLongOnes - 1;
  for (size_t step = 0; step < (is_long ? kLongSteps : kSteps) && !testing::Test::HasFailure(); ++step) {
    const size_t position = walk.history().position(), last = walk.history().steps().size();
    switch (random.below(16)) {
      case 0:
        walk.jump_to(random.below(last + 1));
        break;
      case 1:
        walk.jump_to(position - std::min<size_t>(position, 1));
        break;
      case 2:
        walk.jump_to(std::min(position + 1, last));
        break;
      case 3:
        count(counts["restore"], walk.restore(random.scope_of(walk.graph())));
        break;
      default:
        const Edit edit = random.next(walk.graph());
        count(counts[edit.op], walk.make(edit));
    }
    if (is_long) walk.jump_to(walk.history().steps().size());  // it grows
  }
  walk.expect_passes();
  walk.expect_replay();
  if (!testing::Test::HasFailure()) walk.undo_all();
  if (testing::Test::HasFailure()) ADD_FAILURE() << words_of(walk.history());
}

/// An op of one's own, as engine/custom makes them, that gives what it is given.
graph::OpSchema own_op() {
  return {.name = "own_twice",
          .doc = "Of one's own.",
          .inputs = {{"src"}},
          .outputs = {"dst"},
          .attributes = {{std::string(graph::kContentAttribute), "Its source", graph::Attribute("0123")}},
          .infer = [](const graph::NodeView& view) -> Result<std::vector<graph::ValueType>> {
            return std::vector{*view.inputs[0]};
          }};
}

TEST(AnySequence, OfEditsUndosRedosAndJumps) {
  if (!ops::registry()->find("own_twice")) {
    ASSERT_TRUE(ops::registry()->add(own_op()).ok());
  }
  const std::string models = ORRERY_TEST_DATA "/models/", vector = ORRERY_TEST_DATA "/edits/vector.npy";
  const Model all[] = {{"decoder", graph_of(models::test::fake_llama(4)), 25},
                       {"encoder", graph_of(models::test::fake_bert()), 25},
                       {"adapted", graph_of(models + "llama"), 18, {vector, models + "llama/adapter"}},
                       {"mamba", graph_of(models + "mamba"), 15, {vector, ""}},
                       {"mixture", graph_of(models + "mixtral"), 15, {vector, ""}},
                       {"minilm", graph_of("minilm"), 1},
                       {"smollm2", graph_of("smollm2"), 1, {vector, ""}}};
  const size_t sequences = told("ORRERY_EDIT_SEQUENCES").value_or(kSequences);
  const std::optional<size_t> alone = told("ORRERY_EDIT_SEED");
  Counts counts;
  for (const Model& model : all) {
    const std::string printed = print(*model.opened);
    const size_t end = alone ? *alone + 1 : sequences * model.share / 100;
    for (size_t seed = alone.value_or(0); seed < end; ++seed) {
      SCOPED_TRACE(fmt::format("{}, ORRERY_EDIT_SEED={}", model.name, seed));
      run_sequence(model, printed, static_cast<uint32_t>(seed), counts);
      if (HasFailure()) return;
    }
    EXPECT_EQ(print(*model.opened), printed) << model.name;
  }
  const size_t least = alone ? 0 : sequences / 200;
  for (const edit::Verb& verb : edit::verbs()) counts.try_emplace(std::string(verb.name));
  for (const auto& [name, count] : counts) {
    std::printf("  %-10s %6zu made, %6zu refused\n", name.c_str(), count.made, count.refused);
    EXPECT_GE(count.made, least) << name << " is hardly ever possible";
  }
}

}  // namespace
}  // namespace orrery::api
