// Models whose layers lie on several cards and the CPU: the numbers, what runs at the same time, what a lost
// card ends. On the test module, whose cards work on threads of their own and refuse each other's memory.
#include <gmock/gmock.h>

#include <chrono>
#include <cstring>
#include <mutex>
#include <thread>

#include "engine/ops/lower_support.h"
#include "kernels/elementwise.h"
#include "tests/engine/runtime/placed.h"
#include "tests/support/counting_device.h"
#include "tests/support/fake_device_counters.h"
#include "tests/support/variable.h"

namespace orrery::runtime {
namespace {

using testing::HasSubstr;

weights::DevicePtr open_or_fail(int index) {
  auto opened = open_device(index);
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().to_string());
  return opened.ok() ? opened.value() : nullptr;
}

class ManyCards : public testing::Test {
 protected:
  static Model::Options options(const weights::DevicePtr& home = {}) {
    Model::Options options = TinyModel::exact_options();
    options.device = home;
    options.threads = 1;
    return options;
  }
  std::shared_ptr<const Version> version(const Places& places) const {
    return placed_version(tiny_.graph(), places, "cpu", cards_);
  }
  std::shared_ptr<Model> model(const Places& places) const {
    return std::make_shared<Model>(tiny_.weights, version(places), options());
  }
  TinyReply plain(const std::vector<int32_t>& text, int64_t count) {
    return tiny_reply(cpu_, tiny_.model(options()), text, count);
  }
  static void expect_same(const TinyReply& a, const TinyReply& b) {
    EXPECT_EQ(a.ids, b.ids);
    EXPECT_EQ(a.logprobs, b.logprobs) << "bit for bit";
  }

  const std::vector<weights::DevicePtr> cards_{open_or_fail(0), open_or_fail(1), open_or_fail(2)};
  TinyModel tiny_{6};
  DeviceScheduler cpu_{1};
  const std::vector<int32_t> text_ = tiny_text(21, 1);
  const Places spread_{{"layers.0", "cuda:0"}, {"layers.1", "cuda:1"}, {"layers.2", "cuda:1"},
                       {"layers.4", "cuda:2"}, {"layers.5", "cuda:0"}, {"output", "cuda:1"}};
};

TEST_F(ManyCards, LayersOnThreeCardsAndTheCpuGiveTheCpusNumbers) {
  expect_same(tiny_reply(cpu_, model(spread_), text_, 40), plain(text_, 40));
}

TEST_F(ManyCards, AlsoWhereTheCardsDoNotReachEachOther) {
  const Variable peers("ORRERY_FAKE_DEVICE_NO_PEERS", "1");
  expect_same(tiny_reply(cpu_, model(spread_), text_, 40), plain(text_, 40));
}

TEST_F(ManyCards, ACardsModelUsesAnotherCard) {
  DeviceScheduler there(1, cards_[1]);
  const auto two =
      placed_version(tiny_.graph(), {{"layers.2", "cuda:2"}, {"layers.3", "cpu"}}, "cuda:1", {cards_[2]});
  const auto model = std::make_shared<Model>(tiny_.weights, two, options(cards_[1]));
  expect_same(tiny_reply(there, model, text_, 40), plain(text_, 40));
}

TEST_F(ManyCards, SegmentsOfEachCardAreReplayed) {
  std::vector<std::shared_ptr<kernels::CountingDevice>> counted;
  std::vector<weights::DevicePtr> cards;
  for (const weights::DevicePtr& card : cards_) {
    counted.push_back(std::make_shared<kernels::CountingDevice>(card));
    cards.push_back(counted.back());
  }
  const Places places{{"layers.0", "cuda:0"}, {"layers.1", "cuda:1"}, {"layers.2", "cuda:2"}};
  const auto model =
      std::make_shared<Model>(tiny_.weights, placed_version(tiny_.graph(), places, "cpu", cards), options());
  model->profiler.set_enabled(false);
  tiny_reply(cpu_, model, tiny_text(20, 2), 3);
  cpu_.finish_captures(model);
  for (const auto& card : counted) card->waits = 0;
  expect_same(tiny_reply(cpu_, model, text_, 12), plain(text_, 12));
  for (const auto& card : counted) {
    EXPECT_EQ(card->captures, 1) << "one graph a segment";
    EXPECT_EQ(card->launches, 11) << "all steps but the prompt's";
    EXPECT_EQ(card->waits, 12) << "one a step";
  }
}

TEST_F(ManyCards, StatesMoveFromCardToCardWithWhatTheyHold) {
  const auto model = this->model({}), alone = tiny_.model(options());
  const auto sequence = DeviceScheduler::new_sequence(model), beside = DeviceScheduler::new_sequence(alone);
  std::vector<int32_t> text = tiny_text(70, 3);
  int64_t read = 0;
  for (const Places& places : {Places{}, Places{{"layers.0", "cuda:0"}}, Places{{"layers.0", "cuda:1"}},
                               Places{{"layers.0", "cuda:2"}, {"layers.1", "cuda:0"}}, Places{}}) {
    model->set_version(version(places));
    const TinyReply reply = tiny_reply(cpu_, model, text, 9, sequence);
    EXPECT_EQ(reply.outcome.value().reused_tokens, read) << "nothing is read again";
    expect_same(reply, tiny_reply(cpu_, alone, text, 9, beside));
    text.insert(text.end(), reply.ids.begin(), reply.ids.end());
    read = static_cast<int64_t>(text.size()) - 1;
  }
}

/// Two layers' feed-forward parts of equal length that read the same value, added at the end.
graph::GraphVersion branched(const TinyModel& tiny) {
  auto graph = std::make_shared<graph::Graph>(ops::registry());
  const auto add = [&](const std::string& op, const std::string& scope, const std::string& name,
                       graph::Attributes attributes, std::vector<ValueId> inputs) {
    auto node = graph->add_node({op, scope, name, std::move(attributes), std::move(inputs), {}, {}});
    EXPECT_TRUE(node.ok()) << name << ": " << (node.ok() ? "" : node.error().to_string());
    return graph->node(node.value()).outputs.at(0);
  };
  const auto weight = [&](const std::string& name) {
    return add("weight", "weights", name,
               {{"tensor", name}, {"dtype", std::string("f32")}, {"shape", tiny.file->find(name)->shape}},
               {});
  };
  const ValueId ids = add("input", "inputs", "token_ids", {{"name", std::string("token_ids")}}, {});
  const ValueId rows = add("input", "inputs", "output_rows", {{"name", std::string("output_rows")}}, {});
  const ValueId h = add("embedding", "", "embed", {}, {ids, weight("embedding")});
  std::vector<ValueId> branches;
  for (const std::string branch : {"0", "1"})
    branches.push_back(
        add("linear", "branch." + branch, "down", {},
            {add("linear", "branch." + branch, "up", {}, {h, weight("layers." + branch + ".up")}),
             weight("layers." + branch + ".down")}));
  const ValueId sum = add("add", "join", "sum", {}, branches);
  const ValueId kept = add("select_rows", "output", "rows", {}, {sum, rows});
  const ValueId logits = add("linear", "output", "head", {}, {kept, weight("head")});
  graph->set_outputs({add("sample", "sampler", "sample", {}, {logits}), logits});
  return graph;
}

/// Steps without states, one text each.
double milliseconds(DeviceScheduler& scheduler, const std::shared_ptr<Model>& model,
                    const std::vector<int32_t>& text, TinyReply& reply) {
  reply = tiny_reply(scheduler, model, text, 3);  // seen, captured
  const auto start = std::chrono::steady_clock::now();
  reply = tiny_reply(scheduler, model, text, 4);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count() / 4;
}

TEST_F(ManyCards, BranchesOnTwoCardsRunAtTheSameTime) {
  const graph::GraphVersion graph = branched(tiny_);
  const auto placed = [&](const Places& places) {
    return std::make_shared<Model>(tiny_.weights, placed_version(graph, places, "cpu", cards_), options());
  };
  const auto alone = placed({});
  const auto both = placed({{"branch.0", "cuda:0"}, {"branch.1", "cuda:1"}});
  constexpr double kSlow = 60;
  const Variable slow("ORRERY_FAKE_DEVICE_SLOW_MS", "60");
  TinyReply expected, reply;
  milliseconds(cpu_, alone, text_, expected);
  const double step = milliseconds(cpu_, both, text_, reply);
  expect_same(reply, expected);
  EXPECT_GE(step, kSlow) << "each card takes its time";
  EXPECT_LT(step, 1.7 * kSlow) << "the second began when the first had ended";
}

TEST_F(ManyCards, BranchesAreMeasuredSideBySide) {
  const graph::GraphVersion graph = branched(tiny_);
  const auto model = std::make_shared<Model>(
      tiny_.weights, placed_version(graph, {{"branch.0", "cuda:0"}, {"branch.1", "cuda:1"}}, "cpu", cards_),
      options());
  model->profiler.trace().set_on(true);
  tiny_reply(cpu_, model, text_, 3);
  const StepTrace::Kept kept = model->profiler.trace().kept();
  ASSERT_FALSE(kept.steps.empty());
  for (const auto& step : kept.steps) {
    std::map<std::string, int64_t> ends;
    for (size_t i = 0; step->plan && i < step->times.size(); ++i) {
      int64_t& last = ends.try_emplace(step->plan->nodes[i].device, step->begin).first->second;
      EXPECT_GE(step->times[i].begin, last) << step->plan->nodes[i].kernel;
      EXPECT_GE(step->times[i].end, step->times[i].begin);
      last = step->times[i].end;
    }
    if (step->plan) {
      EXPECT_EQ(ends.count("cuda:0") + ends.count("cuda:1") + ends.count("cpu"), 3U);
    }
  }
}

/// Hands its input on, and notes whose memory it was given.
class LookingOp {
 public:
  struct Seen {
    std::string device;
    int src, dst;  // owners
  };

  explicit LookingOp(std::vector<weights::DevicePtr> cards) : cards_(std::move(cards)) {
    EXPECT_TRUE(ops::registry()->add(schema()).ok());
  }
  ~LookingOp() { EXPECT_TRUE(ops::registry()->remove("look").ok()); }
  LookingOp(const LookingOp&) = delete;
  LookingOp& operator=(const LookingOp&) = delete;

  std::vector<Seen> seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
  }

 private:
  graph::OpSchema schema() {
    const auto lower = [this](ops::LowerContext& context, const graph::Node& node) -> Result<ops::Lowered> {
      ops::Lowered lowered;
      lowered.kernel = "look";
      ORRERY_ASSIGN(const ops::RowCount rows, ops::row_count(context, node, node.inputs[0]));
      const int64_t cols = ops::cols_of(context, node.inputs[0]);
      const ops::Slot src = context.slot(node.inputs[0]), dst = context.slot(node.outputs[0]);
      const auto id = kernels::parse_device_id(graph::device_of(node)).value_or(kernels::kCpuId);
      lowered.run = [=, this](const ops::StepContext& step) {
        auto* to = step.data<float>(dst);
        const auto* from = step.data<const float>(src);
        const size_t bytes = static_cast<size_t>(rows.at(step) * cols) * sizeof(float);
        {
          const std::scoped_lock lock(mutex_);  // a step runs while another thread captures it
          seen_.push_back({to_string(id), fake_device_owner(from), fake_device_owner(to)});
        }
        if (const weights::DevicePtr card = weights::find_card(cards_, id))
          card->copy(to, from, bytes);
        else
          std::memcpy(to, from, bytes);
      };
      return lowered;
    };
    return {.name = "look",
            .family = graph::OpFamily::custom,
            .doc = "Hands its input on.",
            .inputs = {{"src"}},
            .outputs = {"dst"},
            .infer = [](const graph::NodeView& view) { return ops::Types(std::vector{*view.inputs[0]}); },
            .lowering = std::make_shared<const ops::Lowering>(
                ops::Lowering{lower, nullptr, [](kernels::DeviceKind) { return kernels::RowTable(); }})};
  }

  std::vector<weights::DevicePtr> cards_;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
};

TEST_F(ManyCards, EveryKernelIsGivenMemoryOfItsOwnDevice) {
  LookingOp op(cards_);
  auto graph = std::make_shared<graph::Graph>(*tiny_.graph());
  for (const std::string layer : {"0", "1", "3", "4"}) {
    const ValueId stream = graph->node(graph->find_path("layers." + layer + ".mlp_residual")).outputs[0];
    const std::vector<graph::Use> users = graph->users(stream);
    const auto node =
        graph->add_node({"look", "layers." + layer, "look", {}, {stream}, {}, users.front().node});
    ASSERT_TRUE(node.ok()) << node.error().to_string();
    for (const graph::Use& use : users)
      ASSERT_TRUE(graph->set_input(use.node, use.input, graph->node(*node).outputs[0]).ok());
  }
  const auto model =
      std::make_shared<Model>(tiny_.weights, placed_version(graph, spread_, "cpu", cards_), options());
  expect_same(tiny_reply(cpu_, model, text_, 5), plain(text_, 5));
  cpu_.finish_captures(model);
  std::map<std::string, size_t> looks;
  for (const LookingOp::Seen& seen : op.seen()) {
    const int own = seen.device == "cpu" ? -1 : seen.device.back() - '0';
    EXPECT_EQ(seen.src, own) << "on " << seen.device;
    EXPECT_EQ(seen.dst, own) << "on " << seen.device;
    ++looks[seen.device];
  }
  EXPECT_EQ(looks.size(), 4U);
  EXPECT_GE(looks["cpu"], 5U) << "every step";
}

TEST_F(ManyCards, SchedulersThatShareTwoCardsDoNotWaitInACircle) {
  const TinyReply alone = plain(text_, 60);
  const auto one = model({{"layers.0", "cuda:0"}, {"layers.1", "cuda:1"}});
  const auto other = model({{"layers.0", "cuda:1"}, {"layers.1", "cuda:0"}});
  DeviceScheduler second(1);
  std::thread thread([&] {
    for (int i = 0; i < 5; ++i) expect_same(tiny_reply(second, other, text_, 60), alone);
  });
  for (int i = 0; i < 5; ++i) expect_same(tiny_reply(cpu_, one, text_, 60), alone);
  thread.join();
}

TEST_F(ManyCards, MemoryOfOneCardIsRefusedByAnother) {
  void* memory = cards_[0]->allocate(256);
  EXPECT_THROW(cards_[1]->copy(memory, text_.data(), 4), kernels::DeviceError);
  EXPECT_THROW(cards_[1]->copy_from(*cards_[2], memory, memory, 4), kernels::DeviceError);
  auto* floats = static_cast<float*>(memory);
  kernels::Elementwise::Args args;
  args.a = args.b = args.dst = floats;
  args.tokens = 1;
  args.cols = 4;
  const kernels::Elementwise::Problem problem{.function = args.function, .cols = args.cols};
  const auto chosen = kernels::select(kernels::rows_of<kernels::Elementwise>(kernels::DeviceKind::cuda),
                                      problem, kernels::machine_of(kernels::DeviceKind::cuda, 0));
  ASSERT_NE(chosen.row, nullptr);
  const kernels::Row<kernels::Elementwise>& row = *chosen.row;
  EXPECT_NO_THROW(row.run(args, {nullptr, nullptr, cards_[0]->stream()}));
  EXPECT_THROW(row.run(args, {nullptr, nullptr, cards_[1]->stream()}), kernels::DeviceError);
  cards_[0]->wait();
  cards_[0]->release(memory);
}

class LostCard : public testing::Test {};

TEST_F(LostCard, EndsOnlyWhatUsesIt) {
  weights::DevicePtr fails;
  {
    const Variable lost("ORRERY_FAKE_DEVICE_LOST_AFTER", "20");
    fails = open_or_fail(1);
  }
  const weights::DevicePtr lives = open_or_fail(0);
  const TinyModel tiny(4);
  Model::Options options = TinyModel::exact_options();
  options.threads = 1;
  DeviceScheduler cpu(1);
  const std::vector<int32_t> text = tiny_text(21, 1);
  const auto model_on = [&](const Places& places, std::vector<weights::DevicePtr> cards) {
    return std::make_shared<Model>(tiny.weights,
                                   placed_version(tiny.graph(), places, "cpu", std::move(cards)), options);
  };
  const auto both = model_on({{"layers.0", "cuda:0"}, {"layers.1", "cuda:1"}}, {lives, fails});
  const auto one = model_on({{"layers.0", "cuda:0"}}, {lives});
  TinyReply ended, fine;
  auto first = cpu.decode(both, DeviceScheduler::new_sequence(both), tiny_request(text, 60, &ended));
  auto second = cpu.decode(one, DeviceScheduler::new_sequence(one), tiny_request(text, 60, &fine));
  const auto outcome = first.get();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().to_string(), HasSubstr("was lost"));
  ASSERT_TRUE(second.get().ok());
  EXPECT_EQ(fine.ids.size(), 60U);
  EXPECT_EQ(lives->epoch(), 1U) << "what did not fail was not started anew";
  EXPECT_EQ(fails->epoch(), 2U);
  const TinyReply again = tiny_reply(cpu, both, text, 60);
  EXPECT_EQ(again.ids, fine.ids);
}

TEST_F(LostCard, IsNotStartedAnewUnderAnothersStep) {
  const TinyModel tiny(4);
  Model::Options options = TinyModel::exact_options();
  options.threads = 1;
  const std::vector<int32_t> text = tiny_text(21, 1);
  DeviceScheduler alone(1);
  const TinyReply expected = tiny_reply(alone, tiny.model(options), text, 40);
  for (int launches = 20; launches < 60; launches += 7) {
    weights::DevicePtr card;
    {
      const Variable lost("ORRERY_FAKE_DEVICE_LOST_AFTER", std::to_string(launches).c_str());
      card = open_or_fail(1);
    }
    ASSERT_EQ(card->epoch(), 1U) << "it is another round's";
    DeviceScheduler here(1), beside(1);
    const auto placed = [&](const Places& places) {
      return std::make_shared<Model>(tiny.weights, placed_version(tiny.graph(), places, "cpu", {card}),
                                     options);
    };
    const auto one = placed({{"layers.0", "cuda:1"}, {"layers.2", "cuda:1"}});
    const auto other = placed({{"layers.1", "cuda:1"}, {"layers.3", "cuda:1"}});
    TinyReply first, second;
    auto a = here.decode(one, DeviceScheduler::new_sequence(one), tiny_request(text, 40, &first));
    auto b = beside.decode(other, DeviceScheduler::new_sequence(other), tiny_request(text, 40, &second));
    const bool first_ended = !a.get().ok(), second_ended = !b.get().ok();
    EXPECT_NE(first_ended, second_ended) << "whose step met the loss, and nobody else";
    EXPECT_EQ((first_ended ? second : first).ids, expected.ids);
    EXPECT_EQ(card->epoch(), 2U) << "made anew once";
    EXPECT_EQ(tiny_reply(here, one, text, 40).ids, expected.ids);
    EXPECT_EQ(tiny_reply(beside, other, text, 40).ids, expected.ids);
  }
}

}  // namespace
}  // namespace orrery::runtime
