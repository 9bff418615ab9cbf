// The path of a session on a device, on the test module: what is opened, run, told, and refused with a
// reason.
#include <gmock/gmock.h>

#include <functional>
#include <map>

#include "tests/engine/api/test_models.h"
#include "tests/support/fake_device_counters.h"

namespace orrery::api {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(const OpenOptions& options) {
  const auto opened = Session::open(options, {}, {});
  EXPECT_FALSE(opened.ok());
  return opened.ok() ? std::string() : opened.error().to_string();
}

TEST(DeviceTest, WritesWhatTheCpuWrites) {
  const auto device = open_or_fail(on_device(smollm2(), "cuda")), cpu = open_or_fail(smollm2());
  ASSERT_TRUE(device && cpu);
  EXPECT_EQ(device->options().device, "cuda:0");
  const ChatRequest request = raw_request("Once upon a time, in a land far away", 80);
  const auto there = device->chat(request, {}, {}), here = cpu->chat(request, {}, {});
  ASSERT_TRUE(there.ok()) << there.error().to_string();
  ASSERT_TRUE(here.ok()) << here.error().to_string();
  EXPECT_EQ(ids_of(there.value()), ids_of(here.value()))
      << "replayed steps read what they were captured with";
  EXPECT_EQ(there.value().tokens.size(), 80U);
}

TEST(DeviceTest, TurnsReuseTheirContextAndEncodersRun) {
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  const auto first = session->chat(raw_request("The sea is", 20), {}, {});
  ASSERT_TRUE(first.ok()) << first.error().to_string();
  const auto second = session->chat(raw_request("The sea is" + first.value().text + " And", 5), {}, {});
  ASSERT_TRUE(second.ok()) << second.error().to_string();
  EXPECT_GT(second.value().reused_tokens, 10);

  const auto device = open_or_fail(on_device(sentiment())), cpu = open_or_fail(sentiment());
  ASSERT_TRUE(device && cpu);
  const std::vector<std::string> texts{"I loved every minute of it.", "Dull, and far too long."};
  const auto there = device->classify(texts, {}, {}), here = cpu->classify(texts, {}, {});
  ASSERT_TRUE(there.ok()) << there.error().to_string();
  ASSERT_TRUE(here.ok());
  for (size_t i = 0; i < texts.size(); ++i)
    for (size_t k = 0; k < here.value()[i].logits.size(); ++k)
      EXPECT_NEAR(there.value()[i].logits[k], here.value()[i].logits[k], 1e-4);
}

TEST(DeviceTest, TellsWhereItRuns) {
  std::vector<std::string> stages;
  const auto opened =
      Session::open(on_device(smollm2(), "cuda:1"),
                    [&](std::string_view stage, uint64_t, uint64_t) { stages.emplace_back(stage); }, {});
  ASSERT_TRUE(opened.ok()) << opened.error().to_string();
  const auto& session = opened.value();
  EXPECT_THAT(stages, Contains("Uploading to Test device"));
  EXPECT_EQ(stages.back(), "Reading the tokenizer");
  const auto plan = session->plan(Phase::decode);
  ASSERT_TRUE(plan.ok()) << plan.error().to_string();
  for (const PlanStep& step : plan.value().steps) {
    EXPECT_EQ(step.device, "cuda:1");
    EXPECT_THAT(step.kernel, StartsWith("cuda.test."));
  }
  EXPECT_EQ(session->limits().cpu, "Test device");
  const MachineLimits& limits = session->limits();
  EXPECT_NEAR(limits.reading.back().bytes_per_second, 4800e9, 100e9) << "of the data sheet";
  EXPECT_GT(limits.reading.front().bytes_per_second, 2 * 4800e9) << "from its cache";
  EXPECT_NEAR(limits.operations_per_second[static_cast<size_t>(Arithmetic::bf16)], 989e12, 1e12);
  const uint64_t before = session->memory_use().session();
  EXPECT_GT(before, 90U << 20);
  BenchOptions bench;
  bench.prompt = 16;
  bench.gen = 4;
  bench.repeats = 1;
  const auto measured = session->bench(bench, {}, {});
  ASSERT_TRUE(measured.ok()) << measured.error().to_string();
  EXPECT_EQ(measured.value().device, "cuda:1");
  EXPECT_GT(session->memory_use().session(), before) << "pages of the KV cache";
  const std::vector<DeviceVitals> vitals = session->vitals();
  ASSERT_EQ(vitals.size(), 1U);
  EXPECT_EQ(vitals[0].device, "cuda:1");
  EXPECT_EQ(vitals[0].name, "Test device");
  EXPECT_EQ(vitals[0].memory_total, uint64_t{4096} << 20);
  EXPECT_GE(vitals[0].memory_used, session->memory_use().session());
  EXPECT_EQ(vitals[0].power_watts, 320);
  EXPECT_THAT(session->derived_weights(),
              Contains(testing::Field(&DerivedWeight::transform, HasSubstr("on Test device"))));
}

/// A bench that tells when each repeat begins; 0 is warming up.
Result<BenchResult> bench_watched(Session& session, const BenchOptions& options,
                                  const std::function<void(std::string_view, uint64_t)>& at_repeat) {
  return session.bench(
      options, [&](std::string_view stage, uint64_t repeat, uint64_t) { at_repeat(stage, repeat); }, {});
}

TEST(DeviceTest, BenchTimesOnlyReplays) {
  const auto decoder = open_or_fail(on_device(smollm2())), encoder = open_or_fail(on_device(minilm()));
  ASSERT_TRUE(decoder && encoder);
  ASSERT_TRUE(decoder->apply({"bypass", {{"scope", "layers.2-29"}}}).ok());
  BenchOptions options;
  options.prompt = 40;  // more than a page
  options.gen = 8;
  options.batch = 2;
  options.repeats = 17;  // one of 16 replays is measured
  options.tokens = 12;
  const FakeDeviceCounters* counters = fake_device_counters();
  ASSERT_TRUE(counters);
  for (Session* session : {decoder.get(), encoder.get()}) {
    std::map<std::string, uint64_t> at_first;
    std::string running;
    const auto expect_settled = [&] {
      if (running.empty()) return;
      EXPECT_EQ(counters->all(), at_first.at(running)) << running;
    };
    const auto done = bench_watched(*session, options, [&](std::string_view stage, uint64_t repeat) {
      if (repeat == 0) expect_settled();
      running = repeat == 0 ? "" : std::string(stage);
      if (repeat == 1) at_first[running] = counters->all();
      expect_settled();
    });
    ASSERT_TRUE(done.ok()) << done.error().to_string();
    expect_settled();
    EXPECT_EQ(at_first.size(), session == decoder.get() ? 2U : 1U);
    EXPECT_GT(counters->captures, 0U);
  }
}

TEST(DeviceTest, BenchReportsTheMedianAndItsRange) {
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->apply({"bypass", {{"scope", "layers.2-29"}}}).ok());
  BenchOptions options;
  options.prompt = 8;
  options.gen = 0;
  options.repeats = 5;
  const auto done = bench_watched(*session, options, [](std::string_view, uint64_t repeat) {
    if (repeat == 2 || repeat == 5)
      setenv("ORRERY_FAKE_DEVICE_SLOW_MS", "2000", 1);
    else
      unsetenv("ORRERY_FAKE_DEVICE_SLOW_MS");
  });
  unsetenv("ORRERY_FAKE_DEVICE_SLOW_MS");
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  const Rate& rate = *done.value().prefill;
  EXPECT_LE(rate.min, 8 / 2.0) << "two repeats of five were slow";
  EXPECT_GT(rate.tokens_per_second, 3 * rate.min) << "the mean would be at most 2.5 times as fast";
  EXPECT_GE(rate.max, rate.tokens_per_second);
  EXPECT_GT(rate.sd, 0);
}

TEST(DeviceTest, MeasuresNodesOnTheDevice) {
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  ASSERT_TRUE(session->chat(raw_request("Once upon a time", 40), {}, {}).ok());
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    const ProfilePtr profile = session->profile(phase);
    EXPECT_GT(profile->step.us, 0);
    EXPECT_FALSE(profile->model.rows().empty());
  }
}

TEST(DeviceTest, EditsRunWithoutUploadingAgain) {
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  const auto before = session->chat(raw_request("The capital of France is", 6), {}, {});
  ASSERT_TRUE(before.ok());
  const size_t uploaded = session->derived_weights().size();
  const auto edit = edit::parse_edit("bypass scope=layers.12");
  ASSERT_TRUE(edit.ok());
  const auto applied = session->apply(edit.value());
  ASSERT_TRUE(applied.ok()) << applied.error().to_string();
  ASSERT_TRUE(session->chat(raw_request("The capital of France is", 6), {}, {}).ok());
  ASSERT_TRUE(session->undo().ok());
  const auto after = session->chat(raw_request("The capital of France is", 6), {}, {});
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(ids_of(after.value()), ids_of(before.value()));
  EXPECT_EQ(session->derived_weights().size(), uploaded);
}

TEST(DeviceTest, ListsWhatThereIs) {
  const std::vector<DeviceEntry> devices = list_devices();
  ASSERT_EQ(devices.size(), 4U);
  EXPECT_EQ(devices[0].device, "cpu");
  EXPECT_GT(devices[0].memory_bytes, devices[0].free_bytes);
  EXPECT_GT(devices[0].free_bytes, 0U);
  EXPECT_EQ(devices[2].device, "cuda:1");
  EXPECT_EQ(devices[2].name, "Test device");
  EXPECT_EQ(devices[2].refusal, "");
  EXPECT_EQ(devices[2].memory_bytes, uint64_t{4096} << 20);
  const Variable none("ORRERY_FAKE_DEVICE_REFUSES", "the NVIDIA driver is not loaded: run nvidia-smi");
  const std::vector<DeviceEntry> refused = list_devices();
  ASSERT_EQ(refused.size(), 2U);
  EXPECT_EQ(refused[1].device, "cuda:0");
  EXPECT_THAT(refused[1].refusal, HasSubstr("driver is not loaded"));
}

TEST(DeviceTest, RefusesWithWhatToDo) {
  EXPECT_THAT(refusal(on_device(smollm2(), "cuda:7")),
              AllOf(HasSubstr("cuda:7"), HasSubstr("cuda:0 to cuda:2"), HasSubstr("--device cpu")));
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda0", "gpu", ""})
    EXPECT_THAT(refusal(on_device(smollm2(), name)), HasSubstr("use cpu, or cuda:0")) << name;
  const Variable none("ORRERY_FAKE_DEVICE_REFUSES", "the NVIDIA driver is not loaded");
  EXPECT_THAT(refusal(on_device(smollm2())), HasSubstr("driver is not loaded"));
}

TEST(DeviceTest, ALostDeviceEndsTheReplyAndIsStartedAnew) {
  const Variable lost("ORRERY_FAKE_DEVICE_LOST_AFTER", "9");
  const auto session = open_or_fail(on_device(smollm2()));
  ASSERT_TRUE(session);
  const ChatRequest request = raw_request("Once upon a time", 12);
  const auto failed = session->chat(request, {}, {});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::device);
  EXPECT_THAT(failed.error().to_string(), HasSubstr("open the model on the CPU"));
  const auto again = session->chat(request, {}, {});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  const auto cpu = open_or_fail(smollm2());
  ASSERT_TRUE(cpu);
  EXPECT_EQ(ids_of(again.value()), ids_of(cpu->chat(request, {}, {}).value()));
}

TEST(DeviceTest, AStopRequestEndsTheOpening) {
  std::stop_source stop;
  const auto opened = Session::open(
      on_device(smollm2()),
      [&](std::string_view stage, uint64_t, uint64_t) {
        if (stage.starts_with("Uploading")) stop.request_stop();
      },
      stop.get_token());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace orrery::api
