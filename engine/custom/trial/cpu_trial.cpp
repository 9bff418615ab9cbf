#include "engine/custom/trial/cpu_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/custom/trial/guarded.h"
#include "engine/custom/trial/measured.h"
#include "engine/custom/trial/report.h"

namespace orrery::custom::trial {
namespace {

constexpr std::byte kFill{0xA5}, kOtherFill{0x5A};

using Ranges = std::vector<std::pair<int64_t, int64_t>>;

std::string place_of(const std::string& name, const orrery_tensor& tensor, size_t byte) {
  const size_t width = bytes_of(tensor) / static_cast<size_t>(elements_of(tensor));
  return fmt::format("element {} of {}, {}", byte / width, name, to_string(tensor));
}

/// One body and one case.
class Trying {
 public:
  Trying(const Body& body, const Case& one) : body_(body), case_(one) {}

  void all() const {
    const int64_t items = case_.call.items;
    const Ranges whole = {{0, items}};
    at("run");
    const auto first = run(whole, Flush::end, kFill);
    const auto moved = run(whole, Flush::begin, kOtherFill);
    at("run again");
    const auto again = run(whole, Flush::end, kFill);
    each(first, again, [&](size_t output, size_t byte) {
      fail(fmt::format("It gives other numbers each time: {}, with {}", place(output, byte), case_.words));
    });
    each(first, moved, [&](size_t output, size_t byte) {
      if (first[output][byte] == kFill && moved[output][byte] == kOtherFill)
        fail(fmt::format("It does not write {}, with {}", place(output, byte), case_.words));
      fail(fmt::format("It depends on memory that nobody wrote: {}, with {}", place(output, byte),
                       case_.words));
    });
    if (items < 2) return;
    at("run in three parts");
    const int64_t third = (items + 2) / 3;
    Ranges parts;
    for (int64_t begin = 0; begin < items; begin += third)
      parts.insert(parts.begin(), {begin, std::min(begin + third, items)});
    each(first, run(parts, Flush::end, kFill), [&](size_t output, size_t byte) {
      fail(
          fmt::format("It computes something else when its items are shared out, in any order: {}, with {}; "
                      "does it keep to begin and end?",
                      place(output, byte), case_.words));
    });
    keep_to_their_items(first);
  }

 private:
  void at(std::string_view what) const {
    tell("at", fmt::format("{} of {}, with {}", what, body_.name(), case_.words));
  }
  std::string place(size_t output, size_t byte) const {
    return place_of(body_.outputs()[output], case_.call.outputs[output], byte);
  }

  /// What the body makes of the ranges, between guard pages, in outputs filled with a byte.
  std::vector<Bytes> run(const Ranges& ranges, Flush flush, std::byte fill) const {
    orrery_call call = case_.call;
    std::vector<std::unique_ptr<GuardedTensor>> inputs, outputs;
    for (size_t i = 0; i < body_.inputs().size(); ++i) {
      if (call.inputs[i].rank < 0) continue;
      inputs.push_back(guarded(call.inputs[i], flush, body_.inputs()[i].name));
      std::ranges::copy(case_.inputs[i], inputs.back()->data().begin());
      inputs.back()->freeze();
    }
    for (size_t i = 0; i < body_.outputs().size(); ++i) {
      outputs.push_back(guarded(call.outputs[i], flush, body_.outputs()[i]));
      std::ranges::fill(outputs.back()->data(), fill);
    }
    for (const auto& [begin, end] : ranges)
      if (begin < end) trial::run(body_, call, begin, end);
    std::vector<Bytes> made;
    for (const auto& output : outputs) made.emplace_back(output->data().begin(), output->data().end());
    return made;
  }

  static std::unique_ptr<GuardedTensor> guarded(orrery_tensor& tensor, Flush flush, const std::string& name) {
    auto made = std::make_unique<GuardedTensor>(bytes_of(tensor), flush,
                                                fmt::format("{}, {}", name, to_string(tensor)));
    tensor.data = made->data().data();
    return made;
  }

  template <class Function>
  static void each(const std::vector<Bytes>& a, const std::vector<Bytes>& b, Function differs) {
    for (size_t i = 0; i < a.size(); ++i) {
      const auto [first, second] = std::ranges::mismatch(a[i], b[i]);
      if (first != a[i].end()) differs(i, static_cast<size_t>(first - a[i].begin()));
    }
  }

  /// Where items are elements or rows of the first output, it is known whose a byte is.
  void keep_to_their_items(const std::vector<Bytes>& whole) const {
    const orrery_tensor& first = case_.call.outputs[0];
    const int32_t shared = body_.library().op().items;
    if (body_.is_backward() || (shared != ORRERY_ELEMENTS && shared != ORRERY_ROWS)) return;
    const int64_t items = case_.call.items, half = items / 2;
    const size_t before = bytes_of(first) / static_cast<size_t>(items) * static_cast<size_t>(half);
    const std::byte fill = whole[0][0] == kFill ? kOtherFill : kFill;
    const Bytes made = run({{half, items}}, Flush::end, fill)[0];
    for (size_t byte = 0; byte < before; ++byte)
      if (made[byte] != fill)
        fail(fmt::format(
            "Asked for items {} to {} it writes others, too: {}, with {}; does it keep to begin and end?",
            half, items, place(0, byte), case_.words));
  }

  const Body& body_;
  const Case& case_;
};

float float_at(const Bytes& bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
  return value;
}

/// Gradients beside the differences of what the outputs do: d/dx sum(grad * output).
class Differences {
 public:
  Differences(const Body& forward, const Body& backward, const Case& one, const Case& gradients)
      : forward_(forward), backward_(backward), case_(one), gradients_(gradients) {}

  void compare() {
    std::vector<Bytes> inputs = gradients_.inputs;
    const std::vector<Bytes> found = outputs_of(backward_, gradients_.call, inputs);
    size_t output = 0;
    for (size_t input = 0; input < case_.inputs.size(); ++input) {
      const std::string name = "grad_" + forward_.inputs()[input].name;
      if (output >= backward_.outputs().size() || backward_.outputs()[output] != name) continue;
      if (case_.call.inputs[input].dtype == ORRERY_F32) compare_input(input, found[output], name);
      ++output;
    }
  }

 private:
  /// Some elements; a few may sit at a kink.
  void compare_input(size_t input, const Bytes& found, const std::string& name) {
    constexpr size_t kTried = 24;
    const size_t count = found.size() / sizeof(float), step = std::max<size_t>(1, count / kTried);
    double largest = 0;
    for (size_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(double{float_at(found, i)}));
    size_t tried = 0, wrong = 0;
    std::string told;
    for (size_t i = 0; i < count; i += step, ++tried) {
      const double expected = slope(input, i), given = float_at(found, i);
      const double allowed = 0.02 * std::max(std::abs(expected), std::abs(given)) + 5e-3 * largest + 2e-3;
      if (std::abs(expected - given) <= allowed) continue;  // a NaN is wrong
      if (wrong++ == 0)
        told = fmt::format("element {} of {} is {:.5g}, and differences of the outputs say {:.5g}, with {}",
                           i, name, given, expected, case_.words);
    }
    if (wrong > tried / 10) fail("Its gradients are wrong: " + told);
  }

  double slope(size_t input, size_t element) {
    const float x = float_at(case_.inputs[input], element), step = 0.01f;
    const float above = x + step, below = x - step;
    return (weighted(input, element, above) - weighted(input, element, below)) / (double{above} - below);
  }

  /// sum(grad * output) with one element of an input replaced.
  double weighted(size_t input, size_t element, float value) {
    std::vector<Bytes> inputs = case_.inputs;
    std::memcpy(inputs[input].data() + element * sizeof(float), &value, sizeof(float));
    const std::vector<Bytes> outputs = outputs_of(forward_, case_.call, inputs);
    double sum = 0;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Bytes& grad = gradients_.inputs[case_.inputs.size() + outputs.size() + o];
      if (case_.call.outputs[o].dtype != ORRERY_F32) continue;
      for (size_t i = 0; i < grad.size() / sizeof(float); ++i)
        sum += double{float_at(grad, i)} * float_at(outputs[o], i);
    }
    return sum;
  }

  const Body &forward_, &backward_;
  const Case &case_, &gradients_;
};

/// A case that passed: how long it takes, and how far it is from what the reference makes of it. What is too
/// far ends the process.
double measure_on_cpu(const Body& body, const Case& one) {
  tell("at", fmt::format("timing of {}, with {}", body.name(), one.words));
  std::vector<Bytes> inputs = one.inputs, outputs;
  orrery_call call = one.call;
  for (size_t i = 0; i < inputs.size(); ++i)
    call.inputs[i].data = inputs[i].empty() ? nullptr : inputs[i].data();
  for (size_t o = 0; o < body.outputs().size(); ++o) {
    outputs.emplace_back(bytes_of(call.outputs[o]));
    call.outputs[o].data = outputs.back().data();
  }
  const double us = median_us([&](int calls) {
    for (int i = 0; i < calls; ++i) run(body, call, 0, call.items);
  });
  Difference difference;
  if (body.has_reference()) {
    tell("at", fmt::format("the reference of {}, with {}", body.name(), one.words));
    std::vector<Bytes> expected;
    orrery_call plain = call;
    for (size_t o = 0; o < outputs.size(); ++o) {
      expected.emplace_back(outputs[o].size());
      plain.outputs[o].data = expected.back().data();
    }
    body.run_reference(plain);
    difference = difference_of(body, call, expected, outputs, "of .cpu", "of .reference");
  }
  tell_case(body, one, "CPU", body.has_reference() ? "the reference" : "", difference, us);
  if (difference.over())
    fail(fmt::format("It differs from its reference: {}, with {}", difference.where, one.words));
  return difference.most;
}

void try_gradients(const std::shared_ptr<const Library>& library, const std::vector<Case>& cases) {
  const Body forward(library, false), backward(library, true);
  int tried = 0;
  for (const Case& one : cases) {
    tell("at", fmt::format("the gradients, with {}", one.words));
    const auto gradients = backward_case(forward, backward, one);
    if (!gradients) continue;
    Trying(backward, *gradients).all();
    tell("at", fmt::format("differences, with {}", one.words));
    Differences(forward, backward, one, *gradients).compare();
    measure_on_cpu(backward, *gradients);
    ++tried;
  }
  if (tried == 0) fail("Its gradients could not be tried: no case has outputs that are f32 and all inputs");
  tell("ok", fmt::format("gradients agree with differences of the outputs, {} sizes", tried));
}

}  // namespace

std::vector<Bytes> outputs_of(const Body& body, orrery_call call, std::vector<Bytes>& inputs) {
  std::vector<Bytes> outputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    call.inputs[i].data = inputs[i].empty() ? nullptr : inputs[i].data();
  for (size_t i = 0; i < body.outputs().size(); ++i) {
    outputs.emplace_back(bytes_of(call.outputs[i]));
    call.outputs[i].data = outputs.back().data();
  }
  if (call.items > 0) run(body, call, 0, call.items);
  return outputs;
}

std::optional<Case> backward_case(const Body& forward, const Body& backward, const Case& one) {
  Case made;
  made.attributes = one.attributes;
  made.inputs = one.inputs;
  std::vector<Bytes> inputs = one.inputs;
  const std::vector<Bytes> outputs = outputs_of(forward, one.call, inputs);
  made.call = backward.start(made.attributes);
  std::copy_n(one.call.inputs, one.inputs.size(), made.call.inputs);
  std::mt19937 random(11);
  bool floats = true;
  for (const bool gradient : {false, true})
    for (size_t o = 0; o < outputs.size(); ++o) {
      const orrery_tensor& output = one.call.outputs[o];
      floats = floats && output.dtype == ORRERY_F32;
      made.call.inputs[made.inputs.size()] = output;
      made.inputs.push_back(gradient ? random_elements(output, random) : outputs[o]);
    }
  if (!floats || !backward.complete(made.call)) return std::nullopt;
  made.words = one.words;
  return made;
}

void try_on_cpu(const std::shared_ptr<const Library>& library) {
  const Body forward(library, false);
  const std::vector<Case> cases = cases_of(forward);
  int64_t items = 0;
  double most = 0;
  for (const Case& one : cases) {
    items += one.call.items;
    if (one.call.items == 0) continue;
    Trying(forward, one).all();
    most = std::max(most, measure_on_cpu(forward, one));
  }
  if (items == 0) fail("None of the inputs that it was tried with gives it anything to compute");
  tell("ok", fmt::format(
                 "{} sizes on the CPU: stays within its operands, writes all of its outputs, gives the same "
                 "numbers each time and however its items are shared out",
                 cases.size()));
  if (forward.has_reference())
    tell("ok", fmt::format("differs from its reference by {:.1e} of the largest number", most));
  if (library->has_backward()) try_gradients(library, cases);
}

}  // namespace orrery::custom::trial
