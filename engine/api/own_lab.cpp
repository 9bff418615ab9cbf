#include "engine/api/own_lab.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include "engine/custom/sizes.h"
#include "engine/custom/store.h"
#include "engine/ops/infer_support.h"
#include "engine/ops/lowering.h"

namespace orrery::api {
namespace {

namespace lab = kernels::lab;
using custom::Body;
using custom::OwnKernel;
using custom::Running;
using Elements = std::vector<std::byte>;

constexpr std::string_view kSingle = "one";  // a tensor of no dims
const custom::SizePlan kSmall{{1024, 256, 64, 8, 4, 2}, {64}}, kLarge{{4096, 1024, 64, 8, 4, 2}, {1024}};

/// The sizes of an input as a problem tells them.
std::string sizes_word(const orrery_tensor& tensor) {
  if (tensor.rank == 0) return std::string(kSingle);
  return fmt::format("{}", fmt::join(tensor.sizes, tensor.sizes + tensor.rank, "x"));
}

bool is_first_type(const custom::InputPort& port, int32_t dtype) {
  return custom::dtype_of(dtype) == (port.types.empty() ? DType::f32 : port.types.front());
}

/// The forward call of a body, without data.
struct Asked {
  graph::Attributes attributes;  // the call's texts are theirs
  orrery_call call{};
};

/// A problem's words, each taken once.
class OwnWords {
 public:
  OwnWords(const Body& forward, std::string_view problem) : forward_(forward) {
    std::istringstream words{std::string(problem)};
    for (std::string word; words >> word;) {
      const size_t equals = word.find('=');
      given_[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
  }

  Result<Asked> read() {
    Asked asked;
    const custom::Signature& signature = forward_.library().signature();
    for (const graph::AttributeSpec& spec : signature.attributes)
      if (const auto word = take(spec.name)) {
        ORRERY_TRY(read_attribute(spec, *word, asked.attributes));
      }
    asked.call = forward_.start(asked.attributes);
    for (size_t i = 0; i < signature.inputs.size(); ++i)
      if (const auto word = take(signature.inputs[i].name)) {
        ORRERY_ASSIGN(asked.call.inputs[i], tensor_in(signature.inputs[i], *word));
      }
    if (!given_.empty())
      return wrong(fmt::format("it has neither an input nor an attribute {}", given_.begin()->first));
    for (size_t i = 0; i < signature.inputs.size(); ++i)
      if (asked.call.inputs[i].rank < 0 && !signature.inputs[i].optional) {
        ORRERY_ASSIGN(asked.call.inputs[i], follow(signature, asked.call, i));
      }
    if (const auto fits = forward_.complete(asked.call); !fits) return wrong(fits.error().what);
    return asked;
  }

 private:
  static Error wrong(std::string what) { return {ErrorCode::invalid_argument, std::move(what), "", ""}; }

  std::optional<std::string> take(const std::string& name) {
    const auto found = given_.find(name);
    if (found == given_.end()) return std::nullopt;
    std::string word = std::move(found->second);
    given_.erase(found);
    return word;
  }

  static Result<void> read_attribute(const graph::AttributeSpec& spec, const std::string& word,
                                     graph::Attributes& attributes) {
    const auto no_value = [&] {
      return wrong(fmt::format("{} is no value of {}: it is {}", word.substr(0, 40), spec.name,
                               name_of(static_cast<graph::AttributeType>(spec.fallback->index()))));
    };
    const auto number = [&](auto value) {
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size()) return false;
      attributes[spec.name] = value;
      return true;
    };
    if (std::holds_alternative<std::string>(*spec.fallback))
      attributes[spec.name] = word;
    else if (std::holds_alternative<bool>(*spec.fallback) && (word == "true" || word == "false"))
      attributes[spec.name] = word == "true";
    else if (!(std::holds_alternative<int64_t>(*spec.fallback) && number(int64_t{})) &&
             !(std::holds_alternative<double>(*spec.fallback) && number(double{})))
      return no_value();
    return {};
  }

  static Result<orrery_tensor> tensor_in(const custom::InputPort& port, const std::string& word) {
    constexpr int64_t kMost = int64_t{1} << 34;  // elements
    const auto no_shape = [&] {
      return wrong(
          fmt::format("{}={} has no shape in it, as {}=64x1024", port.name, word.substr(0, 40), port.name));
    };
    orrery_tensor tensor{};
    const size_t colon = std::min(word.find(':'), word.size());
    tensor.dtype = custom::number_of(port.types.empty() ? DType::f32 : port.types.front());
    if (colon < word.size()) {
      const auto type = ops::parse_dtype(word.substr(colon + 1));
      tensor.dtype = type ? custom::number_of(*type) : -1;
      if (tensor.dtype < 0)
        return wrong(fmt::format("{} is no type of elements", word.substr(colon + 1, 40)));
    }
    std::string_view text = std::string_view(word).substr(0, colon);
    if (text == kSingle) return tensor;
    int64_t elements = 1;
    while (true) {
      int64_t size = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
      if (error != std::errc() || size < 1 || tensor.rank >= ORRERY_MAX_RANK) return no_shape();
      if (size > kMost / elements) return wrong(fmt::format("{} would have too many elements", port.name));
      elements *= size;
      tensor.sizes[tensor.rank++] = size;
      text.remove_prefix(static_cast<size_t>(end - text.data()));
      if (text.empty()) return tensor;
      if (text.front() != 'x') return no_shape();
      text.remove_prefix(1);
    }
  }

  /// The sizes of an input that was not told, by the names that others share with it.
  static Result<orrery_tensor> follow(const custom::Signature& signature, const orrery_call& call,
                                      size_t input) {
    custom::SizeNames names;
    std::vector<int64_t> leading;
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const orrery_tensor& tensor = call.inputs[i];
      const custom::Sizes& sizes = signature.inputs[i].sizes;
      const auto dims = static_cast<int32_t>(sizes.dims.size());
      if (tensor.rank < dims || !sizes.given) continue;
      for (int32_t d = 0; d < dims; ++d)
        if (const std::string& name = sizes.dims[static_cast<size_t>(d)].name; !name.empty())
          names.emplace(name, tensor.sizes[tensor.rank - dims + d]);
      if (sizes.leading && leading.empty()) leading.assign(tensor.sizes, tensor.sizes + tensor.rank - dims);
    }
    const custom::InputPort& port = signature.inputs[input];
    const bool known =
        port.sizes.given && std::ranges::all_of(port.sizes.dims, [&](const custom::Size& size) {
          return size.name.empty() || names.contains(size.name);
        });
    if (!known || (port.sizes.leading && leading.empty()))
      return wrong(fmt::format("tell the shape of {}, as {}=64x1024", port.name, port.name));
    return custom::planned_tensor(port, {kSmall.sizes, leading}, names, 0);
  }

  const Body& forward_;
  std::map<std::string, std::string, std::less<>> given_;
};

/// Problems for the sizes that the signature names; those of the op's `trial` where others do not fit.
std::vector<std::string> known_problems(const Body& forward) {
  const custom::Signature& signature = forward.library().signature();
  std::vector<custom::SizePlan> plans = {kSmall, kLarge};
  if (const char* trial = forward.library().op().trial)
    if (const auto said = custom::plans_of(trial, kSmall)) plans = *said;
  std::vector<std::string> problems;
  std::string first;
  for (const custom::SizePlan& plan : plans) {
    custom::SizeNames names = plan.named;
    const graph::Attributes attributes = custom::planned_attributes(signature, names);
    orrery_call call = forward.start(attributes);
    std::string words;
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const custom::InputPort& port = signature.inputs[i];
      call.inputs[i] = custom::planned_tensor(port, plan, names, 0);
      words += fmt::format("{}{}={}", i > 0 ? " " : "", port.name, sizes_word(call.inputs[i]));
      if (!is_first_type(port, call.inputs[i].dtype))
        words += fmt::format(":{}", name_of(custom::dtype_of(call.inputs[i].dtype)));
    }
    for (const auto& [name, value] : attributes)
      words += fmt::format(" {}={}", name, graph::to_string(value));
    if (first.empty()) first = words;
    if (forward.complete(call)) problems.push_back(words);
  }
  if (problems.empty()) problems.push_back(first);
  return problems;
}

/// "src=SIZES bias=SIZES [amount=1]"
std::string shape_words(const custom::Signature& signature) {
  std::string words;
  for (const custom::InputPort& port : signature.inputs) {
    const std::string one = port.name + "=SIZES[:TYPE]";
    words += (words.empty() ? "" : " ") + (port.optional ? "[" + one + "]" : one);
  }
  for (const graph::AttributeSpec& spec : signature.attributes)
    words += fmt::format(" [{}={}]", spec.name, graph::to_string(*spec.fallback));
  return words;
}

/// A call of a body with its inputs.
class OwnCase {
 public:
  using Op = OwnKernel;

  OwnCase(std::shared_ptr<const Running> running, Asked asked)
      : problem{running.get()}, running_(std::move(running)), asked_(std::move(asked)) {
    std::mt19937 random{17};
    orrery_call& call = asked_.call;
    const Body& body = running_->body;
    for (int32_t i = 0; i < call.input_count; ++i) add_input(random_of(call.inputs[i], random));
    if (!body.is_backward()) return;
    const Body forward(body.shared_library(), false);
    const std::vector<Elements> outputs = made(forward, call, false);
    const orrery_call of_forward = call;
    call = body.start(asked_.attributes);
    std::copy_n(of_forward.inputs, inputs_.size(), call.inputs);
    size_t at = inputs_.size();
    for (const bool gradient : {false, true})
      for (size_t o = 0; o < outputs.size(); ++o) {
        call.inputs[at++] = of_forward.outputs[o];
        add_input(gradient ? random_of(of_forward.outputs[o], random) : outputs[o]);
      }
  }

  /// Types and sizes of a backward call; refused where its op gives no floats.
  Result<void> complete() {
    return running_->body.is_backward() ? running_->body.complete(asked_.call) : Result<void>();
  }

  lab::Call<OwnKernel> place(const kernels::Row<OwnKernel>&, lab::Place& place) const {
    orrery_call call = asked_.call;
    for (size_t i = 0; i < inputs_.size(); ++i)
      call.inputs[i].data =
          call.inputs[i].rank < 0 ? nullptr : place.put(inputs_[i].data(), inputs_[i].size(), 64);
    for (int32_t o = 0; o < call.output_count; ++o) {
      const Elements untouched(custom::bytes_of(call.outputs[o]), std::byte{0xA5});
      call.outputs[o].data = place.put(untouched.data(), untouched.size(), 64);
    }
    // The host's, until the place goes: a row copies it when it is launched.
    auto* const kept =
        reinterpret_cast<orrery_call*>(place.host().put(&call, sizeof call, alignof(orrery_call)));
    return {{running_.get(), kept}, [this, call](lab::Place& from) {
              std::vector<Elements> outputs;
              for (int32_t o = 0; o < call.output_count; ++o) {
                outputs.emplace_back(custom::bytes_of(call.outputs[o]));
                from.get(outputs.back().data(), call.outputs[o].data, outputs.back().size());
              }
              return as_outputs(outputs);
            }};
  }

  /// The reference's, or the CPU's body on one thread.
  std::vector<lab::Expected> expected(kernels::DeviceKind device) const {
    const Body& body = running_->body;
    std::vector<lab::Expected> all;
    const bool same = device == kernels::DeviceKind::cpu && !body.has_reference();
    for (lab::Output& output : as_outputs(made(body, asked_.call, body.has_reference()))) {
      const int32_t dtype = asked_.call.outputs[all.size()].dtype;
      all.push_back(
          {std::move(output), same ? 0 : custom::tolerance_of(body.library().op().tolerance, dtype)});
    }
    return all;
  }

  lab::Work work() const {
    lab::Work work{0, running_->body.flops(asked_.call)};
    for (const Elements& input : inputs_) work.bytes += static_cast<double>(input.size());
    for (int32_t o = 0; o < asked_.call.output_count; ++o)
      work.bytes += static_cast<double>(custom::bytes_of(asked_.call.outputs[o]));
    return work;
  }

  OwnKernel::Problem problem;

 private:
  static Elements random_of(const orrery_tensor& tensor, std::mt19937& random) {
    return tensor.rank < 0 ? Elements() : custom::random_elements(tensor, random);
  }
  void add_input(Elements elements) { inputs_.push_back(std::move(elements)); }

  /// What a body, or its reference, makes of the inputs.
  std::vector<Elements> made(const Body& body, orrery_call call, bool reference) const {
    std::vector<Elements> outputs;
    for (size_t i = 0; i < inputs_.size(); ++i)
      call.inputs[i].data = call.inputs[i].rank < 0 ? nullptr : const_cast<std::byte*>(inputs_[i].data());
    for (int32_t o = 0; o < call.output_count; ++o) {
      outputs.emplace_back(custom::bytes_of(call.outputs[o]));
      call.outputs[o].data = outputs.back().data();
    }
    if (call.items > 0) reference ? body.run_reference(call) : body.run(call, 0, call.items);
    return outputs;
  }

  std::vector<lab::Output> as_outputs(const std::vector<Elements>& elements) const {
    std::vector<lab::Output> outputs;
    for (size_t o = 0; o < elements.size(); ++o) {
      const orrery_tensor& type = asked_.call.outputs[o];
      lab::Output output{.name = running_->body.outputs()[o],
                         .cols = std::max<int64_t>(1, ORRERY_COLS(type))};
      output.values.resize(static_cast<size_t>(custom::elements_of(type)));
      for (size_t i = 0; i < output.values.size(); ++i)
        output.values[i] = static_cast<float>(custom::element_at(elements[o].data(), type.dtype, i));
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  std::shared_ptr<const Running> running_;
  Asked asked_;
  std::vector<Elements> inputs_;
};

class OwnExperiment final : public lab::Experiment {
 public:
  OwnExperiment(std::string name, std::shared_ptr<const Running> running, OwnCase c)
      : Experiment(std::move(name)), running_(std::move(running)), rows_(*running_), case_(std::move(c)) {}

  std::string_view op() const override { return running_->body.name(); }
  lab::Work work() const override { return case_.work(); }
  std::vector<lab::Version> versions(kernels::DeviceKind device) const override {
    if (device == kernels::DeviceKind::cuda && !running_->written_for_cards) return {};
    const kernels::Row<OwnKernel>& row = row_on(device);
    return {{std::string(row.name), lab::refusal_of(row, case_.problem)}};
  }
  lab::Record measure(size_t, lab::Place& place, const lab::Timing& timing) override {
    const kernels::DeviceKind device = lab::kind_of(place);
    const kernels::Row<OwnKernel>& row = row_on(device);
    lab::Record record{.op = std::string(op()),
                       .problem = name(),
                       .row = std::string(row.name),
                       .refusal = lab::refusal_of(row, case_.problem),
                       .work = work()};
    if (!record.refusal.empty()) return record;
    lab::verify_and_time(case_, row, case_.expected(device), place, timing, record);
    return record;
  }

 private:
  const kernels::Row<OwnKernel>& row_on(kernels::DeviceKind device) const {
    return (device == kernels::DeviceKind::cpu ? rows_.cpu : rows_.card).front();
  }

  std::shared_ptr<const Running> running_;
  custom::OwnRows rows_;
  OwnCase case_;
};

}  // namespace

std::shared_ptr<const Running> own_body(const std::string& name) {
  const graph::OpPtr op = ops::registry()->find(name);
  return op ? custom::running_of(*op) : nullptr;
}

LabKernel own_kernel(const Running& running) {
  const Body forward(running.body.shared_library(), false);
  LabKernel kernel{running.body.name(),
                   shape_words(running.body.library().signature()),
                   known_problems(forward),
                   {running.cpu_name},
                   {}};
  kernel.own = true;
  if (running.written_for_cards) kernel.cuda.push_back(running.cuda_name);
  const custom::Store store = custom::Store::of_user();
  for (const custom::Store::Kept& kept : store.list())
    if (kept.name == running.body.library().name())
      for (const std::string& file : kept.files)
        if (!file.ends_with(".so"))
          kernel.sources[file.ends_with(".cu") ? running.cuda_name : running.cpu_name] =
              (kept.folder / file).string();
  return kernel;
}

std::vector<LabKernel> own_kernels() {
  std::vector<LabKernel> kernels;
  for (const graph::OpPtr& op : ops::registry()->all())
    if (const auto running = custom::running_of(*op)) kernels.push_back(own_kernel(*running));
  std::ranges::sort(kernels, {}, &LabKernel::name);
  return kernels;
}

Result<std::unique_ptr<lab::Experiment>> own_experiment(std::shared_ptr<const Running> running,
                                                        const std::string& problem) {
  const Body forward(running->body.shared_library(), false);
  ORRERY_ASSIGN(Asked asked, OwnWords(forward, problem).read());
  OwnCase made(running, std::move(asked));
  ORRERY_TRY(made.complete());
  return std::unique_ptr<lab::Experiment>(
      std::make_unique<OwnExperiment>(problem, std::move(running), std::move(made)));
}

}  // namespace orrery::api
