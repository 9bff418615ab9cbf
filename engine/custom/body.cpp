#include "engine/custom/body.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/graph/own_content.h"

namespace orrery::custom {
namespace {

std::string text_of(const char* text) { return text ? text : ""; }

bool may_be_f32(const InputPort& input) {
  return input.types.empty() || std::ranges::find(input.types, DType::f32) != input.types.end();
}

/// What the op's author has to fix.
Result<void> check_output(const orrery_tensor& output, const std::string& name) {
  const auto refuse = [&](std::string what) {
    return Error{ErrorCode::invalid_argument, fmt::format("Its shape function gives {} {}", name, what),
                 "shape", "fix the op"};
  };
  if (!is_dtype(output.dtype)) return refuse(fmt::format("the type {}, which there is not", output.dtype));
  if (output.rank < 0 || output.rank > ORRERY_MAX_RANK) return refuse(fmt::format("{} dims", output.rank));
  double bytes = dtype_info(dtype_of(output.dtype)).block_bytes;
  for (int32_t d = 0; d < output.rank; ++d) {
    if (output.sizes[d] < 0) return refuse(fmt::format("the size {}", output.sizes[d]));
    bytes *= static_cast<double>(output.sizes[d]);
  }
  if (bytes > 1e15) return refuse("more elements than any memory has");
  return {};
}

}  // namespace

bool is_op_name(std::string_view name) {
  return !name.empty() && name.size() <= 48 && !std::isdigit(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

Result<std::shared_ptr<const Library>> Library::open(const std::filesystem::path& path) {
  const auto refuse = [&](std::string what, std::string advice) {
    return Error{ErrorCode::invalid_argument, std::move(what), path.string(), std::move(advice)};
  };
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) return refuse(fmt::format("The library cannot be opened: {}", text_of(dlerror())), "");
  const auto entry = reinterpret_cast<orrery_op_entry_function>(dlsym(handle, ORRERY_OP_ENTRY));
  if (!entry) return refuse("The library declares no op", "write ORRERY_OP(...) in one of its files");
  const orrery_op* declared = entry();
  if (!declared || declared->abi != ORRERY_OP_ABI)
    return refuse(fmt::format("The op was built against ABI {}, and this program has {}",
                              declared ? declared->abi : 0, ORRERY_OP_ABI),
                  "build it against this program's orrery_op.h");
  auto library = std::shared_ptr<Library>(new Library());
  std::memcpy(&library->op_, declared, std::min<size_t>(declared->bytes, sizeof(orrery_op)));
  const orrery_op& op = library->op_;
  library->name_ = text_of(op.name);
  library->doc_ = text_of(op.doc);
  if (!is_op_name(library->name_))
    return refuse(fmt::format("\"{}\" is no name of an op", library->name_.substr(0, 80)),
                  "use small letters, digits and _, 48 at most");
  if (!op.cpu)
    return refuse("The op has no body for the CPU", "give it .cpu: it is what a card is compared with");
  for (const int32_t items : {op.items, op.backward_items})
    if (items < ORRERY_ELEMENTS || items > ORRERY_WHOLE)
      return refuse(fmt::format("Its items are {}", items),
                    "use ORRERY_ELEMENTS, ORRERY_ROWS, ORRERY_COLUMNS or "
                    "ORRERY_WHOLE");
  for (const int32_t block : {op.cuda_block, op.backward_cuda_block})
    if (block < 0 || block > 1024)
      return refuse(fmt::format("A block has {} threads", block), "1 to 1024, or 0");
  auto signature = parse_signature(text_of(op.inputs), text_of(op.outputs), text_of(op.attributes));
  if (!signature) return std::move(signature).error();
  library->signature_ = *std::move(signature);
  if (library->has_backward() && !op.cpu_backward)
    return refuse("Its gradients have no body for the CPU", "give it .cpu_backward");
  for (const graph::AttributeSpec& attribute : library->signature_.attributes)
    if (attribute.name == graph::kContentAttribute)
      return refuse("Every op of one's own has the attribute content", "give this one another name");
  const size_t wide = library->signature_.inputs.size() + 2 * library->signature_.outputs.size();
  if (library->has_backward() && wide > ORRERY_MAX_TENSORS)
    return refuse(fmt::format("Its gradients take {} tensors, more than 12", wide),
                  "leave the backward body out");
  return std::shared_ptr<const Library>(std::move(library));
}

Body::Body(std::shared_ptr<const Library> library, bool backward)
    : library_(std::move(library)), backward_(backward), name_(library_->name()) {
  const Signature& signature = library_->signature();
  for (const InputPort& input : signature.inputs) inputs_.push_back({input.name, input.optional});
  if (!backward) {
    for (const OutputPort& output : signature.outputs) outputs_.push_back(output.name);
    return;
  }
  name_ += "_backward";
  for (const OutputPort& output : signature.outputs) inputs_.push_back({output.name});
  for (const OutputPort& output : signature.outputs) inputs_.push_back({"grad_" + output.name});
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (!may_be_f32(signature.inputs[i])) continue;
    gradients_.push_back(i);
    outputs_.push_back("grad_" + signature.inputs[i].name);
  }
}

std::string Body::doc() const {
  return backward_ ? fmt::format("The gradients of {}.", library_->name()) : library_->doc();
}

orrery_call Body::start(const graph::Attributes& attributes) const {
  orrery_call call{};
  call.input_count = static_cast<int32_t>(inputs_.size());
  call.output_count = static_cast<int32_t>(outputs_.size());
  for (orrery_tensor& input : call.inputs) input.rank = -1;
  for (const graph::AttributeSpec& spec : library_->signature().attributes) {
    const auto given = attributes.find(spec.name);
    const graph::Attribute& value = given == attributes.end() ? *spec.fallback : given->second;
    orrery_value& written = call.attributes[call.attribute_count++];
    if (const auto* flag = std::get_if<bool>(&value)) written.integer = *flag, written.real = *flag;
    if (const auto* whole = std::get_if<int64_t>(&value))
      written.integer = *whole, written.real = static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&value)) {
      written.real = *real;
      written.integer = *real > -9e18 && *real < 9e18 ? static_cast<int64_t>(*real) : 0;
    }
    if (const auto* text = std::get_if<std::string>(&value)) written.text = text->c_str();
  }
  return call;
}

Result<void> Body::complete(orrery_call& call) const {
  if (backward_) return complete_backward(call);
  ORRERY_TRY(declare_outputs(library_->signature(), call));
  if (const auto shape = library_->op().shape)
    if (const char* refused = shape(&call))
      return Error{ErrorCode::shape_mismatch, std::string(refused).substr(0, 400), name_, ""};
  for (size_t i = 0; i < outputs_.size(); ++i) ORRERY_TRY(check_output(call.outputs[i], outputs_[i]));
  call.items = items(call);
  return {};
}

/// The forward call says what the outputs are; they and their gradients must be given so.
Result<void> Body::complete_backward(orrery_call& call) const {
  const Signature& signature = library_->signature();
  const size_t inputs = signature.inputs.size(), outputs = signature.outputs.size();
  orrery_call forward = call;
  forward.input_count = static_cast<int32_t>(inputs);
  forward.output_count = static_cast<int32_t>(outputs);
  ORRERY_TRY(Body(library_, false).complete(forward));
  for (size_t i = 0; i < 2 * outputs; ++i) {
    const orrery_tensor &wanted = forward.outputs[i % outputs], &given = call.inputs[inputs + i];
    if (to_string(wanted) == to_string(given)) continue;
    const std::string& port = inputs_[inputs + i].name;
    return Error{
        ErrorCode::shape_mismatch,
        fmt::format("{} is {}, and {} has {} here", port, to_string(given), name_, to_string(wanted)), port,
        ""};
  }
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const orrery_tensor& input = call.inputs[gradients_[i]];
    if (input.rank < 0)
      return Error{ErrorCode::shape_mismatch,
                   fmt::format("{} is left out, and has no gradient", inputs_[gradients_[i]].name),
                   inputs_[gradients_[i]].name, "give it"};
    call.outputs[i] = input;
    call.outputs[i].data = nullptr;
  }
  call.items = items(call);
  return {};
}

int64_t Body::items(const orrery_call& call) const {
  // A backward body takes the op's inputs, then its outputs.
  return items_of(backward_ ? call.inputs[library_->signature().inputs.size()] : call.outputs[0],
                  shared_by());
}

int64_t items_of(const orrery_tensor& tensor, int32_t shared_by) {
  const int64_t elements = elements_of(tensor), last = ORRERY_COLS(tensor);
  switch (shared_by) {
    case ORRERY_ROWS:
      return last > 0 ? elements / last : 0;
    case ORRERY_COLUMNS:
      return elements > 0 ? last : 0;
    case ORRERY_WHOLE:
      return 1;
    default:
      return elements;
  }
}

}  // namespace orrery::custom
