// One edit at a time over all places: what is tried, that rows are what measure says, and that a sweep is
// gone on with as if it had never stopped.
#include "engine/api/sweep.h"

#include <gmock/gmock.h>

#include "engine/api/edit_meter.h"
#include "tests/engine/api/test_models.h"
#include "tests/engine/api/tiny_session.h"

namespace orrery::api {
namespace {

using testing::HasSubstr;

constexpr const char* kRead = "The capital of France is Paris.";

void expect_equal(const SweepRow& row, const SweepRow& other) {
  EXPECT_EQ(row.edit, other.edit);
  EXPECT_EQ(row.refusal, other.refusal);
  EXPECT_EQ(row.change.kl, other.change.kl) << row.scope;
  EXPECT_EQ(row.change.top1_agreement, other.change.top1_agreement) << row.scope;
  EXPECT_EQ(row.change.nll_after, other.change.nll_after) << row.scope;
  EXPECT_EQ(row.change.kl_by_position, other.change.kl_by_position) << row.scope;
}

class SweepTest : public testing::Test {
 protected:
  void SetUp() override {
    session = open_or_fail(smollm2());
    ASSERT_TRUE(session);
  }

  std::vector<SweepPlace> places(SweepKind what, const std::string& to = "") const {
    const auto places = sweep_places(*session->model_graph(), {what, to, ""});
    EXPECT_TRUE(places.ok()) << (places.ok() ? "" : places.error().to_string());
    return places.ok() ? *places : std::vector<SweepPlace>{};
  }

  /// Of the first rows: it is stopped after them.
  Sweep first_rows(Sweep begun, size_t rows) const {
    std::stop_source stop;
    auto done = sweep(
        *session, std::move(begun),
        [&](const Sweep& now) {
          if (now.rows.size() == rows) stop.request_stop();
        },
        stop.get_token());
    EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().to_string());
    return done.ok() ? std::move(done).value() : Sweep{};
  }

  std::shared_ptr<Session> session;
};

TEST_F(SweepTest, TriesEveryPlaceOnceInTheOrderOfTheGraph) {
  const auto layers = places(SweepKind::bypass_layers);
  ASSERT_EQ(layers.size(), 30U);
  for (size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(layers[i].scope, "layers." + std::to_string(i));
  const auto tensors = places(SweepKind::quantise_tensors, "q4_0");
  ASSERT_EQ(tensors.size(), 30 * 7 + 1U) << "the head reads the embedding's matrix";
  EXPECT_EQ(tensors[0].edit.to_string(), "quantise scope=embed.token_embedding type=q4_0");
  EXPECT_EQ(tensors[1].edit.to_string(), "quantise scope=layers.0.attention.q_proj type=q4_0");
  const auto heads = places(SweepKind::zero_heads);
  ASSERT_EQ(heads.size(), 30 * 9U);
  EXPECT_EQ(heads[10].edit.to_string(), "zero heads=1 node=layers.1.attention.sdpa");
  EXPECT_EQ(places(SweepKind::precision, "int8").size(), 30 * 7 + 1U);
  EXPECT_EQ(tensors[1].stored, (SweepPlace::Stored{576 * 576 * 20 / 32, 576 * 576 * 18 / 32}));
  EXPECT_EQ(places(SweepKind::place_layers, "cuda:0")[2].edit.to_string(),
            "place device=cuda:0 scope=layers.2");
  ASSERT_TRUE(session->apply(edit::parse_edit("bypass scope=layers.3").value()).ok());
  EXPECT_EQ(places(SweepKind::bypass_layers).size(), 29U) << "what is bypassed is no place";
}

TEST_F(SweepTest, ARowIsWhatMeasureSaysOfTheEdit) {
  const Sweep done = first_rows({{SweepKind::bypass_layers, "", kRead}}, 3);
  ASSERT_EQ(done.rows.size(), 3U);
  for (const SweepRow& row : done.rows) {
    const auto alone = session->measure({row.edit}, kRead, {});
    ASSERT_TRUE(alone.ok()) << alone.error().to_string();
    expect_equal(row, {{row.scope, row.edit}, "", *alone, 0});
    EXPECT_GT(*row.change.kl, 0);
  }
  EXPECT_TRUE(session->edits().empty());
}

/// What a meter says that begins at the edit, and one that runs the whole graph.
void expect_the_same_numbers(const std::shared_ptr<Session>& session, const SweepRequest& request,
                             size_t every) {
  const auto& own = dynamic_cast<const SessionImpl&>(*session);
  const auto whole = EditMeter::over(own, own.state(), kRead, EditMeter::Runs::whole, {}),
             shared = EditMeter::over(own, own.state(), kRead, EditMeter::Runs::from_the_edit, {});
  ASSERT_TRUE(whole.ok() && shared.ok());
  const auto places = sweep_places(*session->model_graph(), request);
  ASSERT_TRUE(places.ok()) << places.error().to_string();
  for (size_t i = 0; i < places->size(); i += every) {
    const SweepPlace& place = (*places)[i];
    const auto expected = whole->measure({place.edit}, {}), told = shared->measure({place.edit}, {});
    ASSERT_EQ(expected.ok(), told.ok()) << place.edit.to_string();
    if (!expected.ok()) continue;
    expect_equal({place, "", *told, 0}, {place, "", *expected, 0});
    EXPECT_EQ(told->cosine, expected->cosine) << place.scope;
    EXPECT_EQ(weight_bytes(*told), weight_bytes(*expected)) << place.scope;
  }
}

TEST_F(SweepTest, WhatComesBeforeAnEditIsNotRunAgainAndChangesNoNumber) {
  for (const auto& [request, every] :
       std::initializer_list<std::pair<SweepRequest, size_t>>{{{SweepKind::bypass_layers, "", ""}, 6},
                                                              {{SweepKind::quantise_tensors, "q4_0", ""}, 29},
                                                              {{SweepKind::quantise_tensors, "q8_0", ""}, 70},
                                                              {{SweepKind::zero_heads, "", ""}, 61},
                                                              {{SweepKind::precision, "int8", ""}, 53}})
    expect_the_same_numbers(session, request, every);
}

TEST(SweepOfAnEncoder, HasTheNumbersOfTheWholeGraph) {
  const auto session = open_or_fail(minilm());
  ASSERT_TRUE(session);
  expect_the_same_numbers(session, {SweepKind::bypass_layers, "", ""}, 1);
  expect_the_same_numbers(session, {SweepKind::quantise_tensors, "q8_0", ""}, 5);
}

TEST(SweepOnACard, HasTheNumbersOfTheWholeGraph) {
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  expect_the_same_numbers(session, {SweepKind::bypass_layers, "", ""}, 9);
  expect_the_same_numbers(session, {SweepKind::quantise_tensors, "q8_0", ""}, 80);
}

TEST(SweepOnACard, PlacesOneLayerAfterAnother) {
  const auto session = open_or_fail(smollm2());
  ASSERT_TRUE(session);
  std::stop_source stop;
  const auto done = sweep(
      *session, {{SweepKind::place_layers, "cuda:0", kRead}},
      [&](const Sweep& now) {
        if (now.rows.size() == 2) stop.request_stop();
      },
      stop.get_token());
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  ASSERT_EQ(done->rows.size(), 2U);
  for (const SweepRow& row : done->rows) {
    EXPECT_EQ(row.refusal, "");
    EXPECT_LT(*row.change.kl, 1e-2);
    EXPECT_EQ(row.change.memory.size(), 2U) << "the CPU and the card";
  }
}

/// All places of a tiny model, with kernels that round and with fusion, as sweeps run it.
TEST(SweepOfATinyModel, GivesWhatTheWholeGraphGivesAtEveryPlace) {
  const TinySession tiny;
  const SessionStatePtr now = tiny->state();
  const std::vector<int32_t> text = runtime::tiny_text(40, 3);
  constexpr int64_t kRows = 7;
  const graph::Graph& graph = *now->version->fused;
  std::vector<ValueId> kept = generate::KnownValues::worth_keeping(
      graph, {{kTokens, 40}, {kSequences, 1}, {kOutputs, kRows}}, uint64_t{1} << 30);
  ASSERT_GT(kept.size(), 4U);
  const auto probe = generate::Probe::run(tiny->engine(), *now->version, kept, {text, kRows});
  ASSERT_TRUE(probe.ok()) << probe.error().to_string();
  generate::KnownValues known;
  const std::vector<uint64_t> hashes = graph.feed_hashes(kept);
  for (size_t i = 0; i < kept.size(); ++i)
    ASSERT_TRUE(known.add(hashes[i], (*probe)->read_bytes(i).value()).ok());
  size_t tried = 0;
  for (const SweepRequest& request :
       {SweepRequest{SweepKind::bypass_layers, "", ""}, SweepRequest{SweepKind::quantise_tensors, "q8_0", ""},
        SweepRequest{SweepKind::zero_heads, "", ""}, SweepRequest{SweepKind::precision, "int8", ""}}) {
    const auto places = sweep_places(*now->model, request);
    ASSERT_TRUE(places.ok()) << places.error().to_string();
    for (const SweepPlace& place : *places) {
      const auto made = replayed(now->model, {place.edit});
      if (!made.ok()) continue;
      const auto version = prepare_version(made->graph, tiny->preparation(true, {}));
      ASSERT_TRUE(version.ok()) << version.error().to_string();
      const ProbedVersion side{*tiny.session, **version};
      const auto whole = answer_of(side, text, kRows), rest = answer_of(side, text, kRows, &known);
      ASSERT_TRUE(whole.ok() && rest.ok()) << place.edit.to_string();
      EXPECT_EQ(*whole, *rest) << place.edit.to_string();
      ++tried;
    }
  }
  EXPECT_GT(tried, 30U);
}

TEST(SweepOfATinyModel, RunsOnlyWhatFollowsFromTheEdit) {
  const TinySession tiny;
  const graph::Graph& graph = *tiny->state()->version->fused;
  const ValueId logits = generate::logits_of(graph);
  const auto kept = generate::KnownValues::worth_keeping(graph, {{kTokens, 4}, {kOutputs, 1}}, 1 << 20);
  generate::KnownValues known;
  const std::vector<std::byte> elements(4096);
  for (const uint64_t hash : graph.feed_hashes(kept)) ASSERT_TRUE(known.add(hash, elements).ok());
  const auto edited = replayed(tiny->state()->model, {edit_of("bypass scope=layers.3")});
  const auto version = prepare_version(edited->graph, tiny->preparation(true, {}));
  ASSERT_TRUE(version.ok());
  const auto rest = known.rest_of(*(*version)->fused, {&logits, 1});
  ASSERT_TRUE(rest.ok()) << rest.error().to_string();
  for (const NodeId id : rest->graph->order())
    EXPECT_FALSE(rest->graph->node(id).path().starts_with("layers.0")) << rest->graph->node(id).path();
  EXPECT_LT(rest->graph->order().size(), graph.order().size() / 2);
  EXPECT_TRUE(graph::verify(*rest->graph).empty());
  const auto few = generate::KnownValues::worth_keeping(graph, {{kTokens, 4}, {kOutputs, 1}}, 4096);
  EXPECT_LT(few.size(), kept.size()) << "within the bytes that it may take";
}

TEST_F(SweepTest, IsGoneOnWithAsIfItHadNeverStopped) {
  const SweepRequest request{SweepKind::bypass_layers, "", kRead};
  const Sweep stopped = first_rows({request}, 2);
  EXPECT_FALSE(stopped.complete());
  ASSERT_EQ(stopped.rows.size(), 2U);
  const auto saved = parse_sweep(write_sweep(stopped));
  ASSERT_TRUE(saved.ok()) << saved.error().to_string();
  EXPECT_EQ(write_sweep(*saved), write_sweep(stopped));
  const Sweep resumed = first_rows(*saved, 5), at_once = first_rows({request}, 5);
  ASSERT_EQ(resumed.rows.size(), 5U);
  ASSERT_EQ(at_once.rows.size(), 5U);
  for (size_t i = 0; i < 5; ++i) expect_equal(resumed.rows[i], at_once.rows[i]);
}

TEST_F(SweepTest, IsNotGoneOnWithOnAnotherGraph) {
  const Sweep stopped = first_rows({{SweepKind::bypass_layers, "", kRead}}, 1);
  ASSERT_TRUE(session->apply(edit::parse_edit("precision scope=layers.3 dtype=exact").value()).ok());
  const auto refused = sweep(*session, stopped, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("other conditions (recipe"));
}

TEST_F(SweepTest, WhatCannotBeMadeIsARowWithItsReason) {
  const Sweep done = first_rows({{SweepKind::quantise_tensors, "q4_k", kRead}}, 8);
  ASSERT_EQ(done.rows.size(), 8U);
  EXPECT_THAT(done.rows[1].refusal, HasSubstr("rows of 576"));
  EXPECT_EQ(done.rows[7].scope, "layers.0.mlp.down_proj");
  EXPECT_EQ(done.rows[7].refusal, "") << "its rows of 1536 divide into blocks of 256";
  const auto saved = parse_sweep(write_sweep(done));
  ASSERT_TRUE(saved.ok());
  EXPECT_EQ(saved->rows[1].refusal, done.rows[1].refusal);
  EXPECT_EQ(saved->rows[7].stored, done.rows[7].stored);
  EXPECT_EQ(saved->other_bytes, done.other_bytes);
  EXPECT_EQ(saved->other_bytes, 61 * 576 * sizeof(float)) << "the norms";
}

TEST_F(SweepTest, RefusesTypesThatTheEditDoesNotTake) {
  for (const SweepRequest& request :
       {SweepRequest{SweepKind::quantise_tensors, "q9_9", ""}, SweepRequest{SweepKind::precision, "", ""},
        SweepRequest{SweepKind::bypass_layers, "q4_0", ""}})
    EXPECT_FALSE(sweep(*session, {request}, {}, {}).ok()) << request.to;
}

TEST(SweepFile, RefusesWhatIsNoSweep) {
  for (const char* text : {"", "[]", "{}", R"({"orrery_sweep": 2})",
                           R"({"orrery_sweep": 1, "what": "nothing", "to": "", "text": ""})"})
    EXPECT_FALSE(parse_sweep(text).ok()) << text;
}

TEST(SweepFile, KeepsWhatIsInfinitelyFar) {
  Sweep sweep{{SweepKind::zero_heads, "", "text"}, 1};
  SweepRow row{{"a", {"zero", {{"node", "a"}, {"heads", "1"}}}}};
  row.change.kl = std::numeric_limits<double>::infinity();
  row.change.tokens_per_second_after = 1 / 3.0;
  row.change.kl_by_position = {0.1F, std::numeric_limits<float>::infinity()};
  sweep.rows.push_back(row);
  const auto read = parse_sweep(write_sweep(sweep));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->rows[0].change.kl, row.change.kl);
  EXPECT_EQ(read->rows[0].change.tokens_per_second_after, row.change.tokens_per_second_after);
  EXPECT_EQ(read->rows[0].change.kl_by_position, row.change.kl_by_position);
}

}  // namespace
}  // namespace orrery::api
