#include "engine/custom/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>

namespace orrery::custom {
namespace {

constexpr std::array kTypes = {DType::f32, DType::f16, DType::bf16, DType::i8,     DType::i16,
                               DType::i32, DType::i64, DType::u8,   DType::boolean};

std::optional<DType> type_named(std::string_view name) {
  for (const DType type : kTypes)
    if (name_of(type) == name) return type;
  return std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

/// Parts between separators that stand outside brackets and quotes. None of an empty text.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  if (trimmed(text).empty()) return parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (text[i] != separator || depth > 0) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

Error wrong(std::string what, std::string_view where) {
  return {ErrorCode::invalid_argument, std::move(what), fmt::format("\"{}\"", where.substr(0, 120)),
          "orrery_op.h has the form"};
}

Result<Sizes> parse_sizes(std::string_view text, std::string_view part) {
  Sizes sizes;
  sizes.given = true;
  for (const std::string_view dim : split(text, ',')) {
    if (dim == "...") {
      if (sizes.leading || !sizes.dims.empty()) return wrong("... only comes first", part);
      sizes.leading = true;
      continue;
    }
    Size size;
    const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), size.number);
    if (error != std::errc()) {
      const bool name = !dim.empty() && std::all_of(dim.begin(), dim.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '_';
      });
      if (!name) return wrong(fmt::format("\"{}\" is no size", dim), part);
      size.name = std::string(dim);
    } else if (end != dim.data() + dim.size() || size.number < 0) {
      return wrong(fmt::format("\"{}\" is no size", dim), part);
    }
    sizes.dims.push_back(std::move(size));
  }
  if (sizes.dims.size() > ORRERY_MAX_RANK) return wrong("More than 6 dims", part);
  return sizes;
}

/// "src f32[..., cols]" as its name, its types as text, and its sizes.
struct Port {
  std::string name, types;
  Sizes sizes;
};

Result<Port> parse_port(std::string_view part) {
  Port port;
  const size_t space = std::min(part.find(' '), part.size());
  port.name = std::string(part.substr(0, space));
  std::string_view rest = trimmed(part.substr(space));
  if (port.name.empty() || rest.empty()) return wrong("A name and a type are needed", part);
  if (const size_t bracket = rest.find('['); bracket != std::string_view::npos) {
    if (rest.back() != ']') return wrong("] is missing", part);
    ORRERY_ASSIGN(port.sizes, parse_sizes(rest.substr(bracket + 1, rest.size() - bracket - 2), part));
    rest = trimmed(rest.substr(0, bracket));
  }
  port.types = std::string(rest);
  return port;
}

Result<InputPort> parse_input(std::string_view part) {
  ORRERY_ASSIGN(Port port, parse_port(part));
  InputPort input{std::move(port.name), false, {}, std::move(port.sizes)};
  if (input.name.ends_with('?')) {
    input.optional = true;
    input.name.pop_back();
  }
  if (port.types == "any") return input;
  for (const std::string_view name : split(port.types, '|')) {
    const auto type = type_named(name);
    if (!type) return wrong(fmt::format("\"{}\" is no type of elements", name), part);
    input.types.push_back(*type);
  }
  return input;
}

Result<OutputPort> parse_output(std::string_view part, const Signature& signature) {
  ORRERY_ASSIGN(Port port, parse_port(part));
  OutputPort output{std::move(port.name), type_named(port.types), "", std::move(port.sizes)};
  if (!output.type) {
    if (std::ranges::find(signature.inputs, port.types, &InputPort::name) == signature.inputs.end())
      return wrong(fmt::format("\"{}\" is neither a type nor an input", port.types), part);
    output.like = port.types;
  } else if (!output.sizes.given) {
    return wrong("An output of a type needs its sizes", part);
  }
  return output;
}

/// What a size in an output stands for: sizes of inputs, and whole attributes.
Result<void> check_names(const Signature& signature, std::string_view outputs) {
  std::set<std::string, std::less<>> known;
  bool leading = false;
  for (const InputPort& input : signature.inputs) {
    leading = leading || input.sizes.leading;
    for (const Size& size : input.sizes.dims) known.insert(size.name);
  }
  for (const graph::AttributeSpec& attribute : signature.attributes)
    if (std::holds_alternative<int64_t>(*attribute.fallback)) known.insert(attribute.name);
  for (const OutputPort& output : signature.outputs) {
    if (output.sizes.leading && !leading) return wrong("... stands in no input", outputs);
    for (const Size& size : output.sizes.dims)
      if (!size.name.empty() && !known.contains(size.name))
        return wrong(fmt::format("No input has the size {}, and no whole attribute is called so", size.name),
                     outputs);
  }
  return {};
}

std::optional<graph::Attribute> value_in(std::string_view text) {
  if (text == "true" || text == "false") return graph::Attribute(text == "true");
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return graph::Attribute(std::string(text.substr(1, text.size() - 2)));
  const char* const last = text.data() + text.size();
  int64_t whole = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, whole);
      error == std::errc() && end == last)
    return graph::Attribute(whole);
  double real = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, real); error == std::errc() && end == last)
    return graph::Attribute(real);
  return std::nullopt;
}

/// "k = 5: how many are taken"
Result<graph::AttributeSpec> parse_attribute(std::string_view part) {
  const size_t equals = part.find('=');
  if (equals == std::string_view::npos) return wrong("An attribute is NAME = DEFAULT: what it means", part);
  std::string_view rest = trimmed(part.substr(equals + 1));
  bool quoted = false;
  size_t colon = 0;
  for (; colon < rest.size() && (quoted || rest[colon] != ':'); ++colon)
    if (rest[colon] == '"') quoted = !quoted;
  graph::AttributeSpec attribute;
  attribute.name = std::string(trimmed(part.substr(0, equals)));
  attribute.doc = std::string(trimmed(rest.substr(std::min(colon + 1, rest.size()))));
  attribute.fallback = value_in(trimmed(rest.substr(0, colon)));
  if (!attribute.fallback) return wrong("The default is no number, true, false or text in quotes", part);
  return attribute;
}

/// What names stand for in one call.
struct Bound {
  std::map<std::string, int64_t, std::less<>> names;
  std::optional<std::vector<int64_t>> leading;
};

std::string described(const InputPort& input) {
  std::string text;
  for (const DType type : input.types) text += (text.empty() ? "" : "|") + std::string(name_of(type));
  if (text.empty()) text = "any";
  if (!input.sizes.given) return text;
  std::vector<std::string> dims;
  if (input.sizes.leading) dims.emplace_back("...");
  for (const Size& size : input.sizes.dims)
    dims.push_back(size.name.empty() ? std::to_string(size.number) : size.name);
  return fmt::format("{}[{}]", text, fmt::join(dims, ", "));
}

Result<void> bind(const InputPort& input, const orrery_tensor& tensor, Bound& bound) {
  const auto refuse = [&](const std::string& why) {
    return Error{
        ErrorCode::shape_mismatch,
        fmt::format("{} is {}, and {} is taken{}", input.name, to_string(tensor), described(input), why),
        input.name, ""};
  };
  if (!input.types.empty() && std::ranges::find(input.types, dtype_of(tensor.dtype)) == input.types.end())
    return refuse("");
  if (!input.sizes.given) return {};
  const auto named = static_cast<int32_t>(input.sizes.dims.size());
  if (input.sizes.leading ? tensor.rank < named : tensor.rank != named) return refuse("");
  const int32_t before = tensor.rank - named;
  if (input.sizes.leading) {
    std::vector<int64_t> leading(tensor.sizes, tensor.sizes + before);
    if (bound.leading && *bound.leading != leading)
      return refuse(fmt::format(", where ... is [{}]", fmt::join(*bound.leading, ", ")));
    bound.leading = std::move(leading);
  }
  for (int32_t d = 0; d < named; ++d) {
    const Size& size = input.sizes.dims[static_cast<size_t>(d)];
    const int64_t given = tensor.sizes[before + d];
    if (size.name.empty()) {
      if (size.number != given) return refuse("");
    } else if (const auto [known, fresh] = bound.names.emplace(size.name, given);
               !fresh && known->second != given) {
      return refuse(fmt::format(", where {} is {}", size.name, known->second));
    }
  }
  return {};
}

}  // namespace

Result<Signature> parse_signature(std::string_view inputs, std::string_view outputs,
                                  std::string_view attributes) {
  Signature signature;
  for (const std::string_view part : split(inputs, ',')) {
    ORRERY_ASSIGN(InputPort input, parse_input(part));
    signature.inputs.push_back(std::move(input));
  }
  for (const std::string_view part : split(attributes, ';')) {
    ORRERY_ASSIGN(graph::AttributeSpec attribute, parse_attribute(part));
    signature.attributes.push_back(std::move(attribute));
  }
  for (const std::string_view part : split(outputs, ',')) {
    ORRERY_ASSIGN(OutputPort output, parse_output(part, signature));
    signature.outputs.push_back(std::move(output));
  }
  if (signature.outputs.empty()) return wrong("There is no output", outputs);
  if (std::max(signature.inputs.size(), signature.outputs.size()) > ORRERY_MAX_TENSORS)
    return wrong("More than 12 inputs or outputs", inputs);
  if (signature.attributes.size() > ORRERY_MAX_ATTRIBUTES)
    return wrong("More than 16 attributes", attributes);
  ORRERY_TRY(check_names(signature, outputs));
  return signature;
}

Result<void> declare_outputs(const Signature& signature, orrery_call& call) {
  Bound bound;
  for (size_t i = 0; i < signature.inputs.size(); ++i)
    if (call.inputs[i].rank >= 0) ORRERY_TRY(bind(signature.inputs[i], call.inputs[i], bound));
  for (size_t i = 0; i < signature.attributes.size(); ++i)
    bound.names.emplace(signature.attributes[i].name, call.attributes[i].integer);
  for (size_t i = 0; i < signature.outputs.size(); ++i) {
    const OutputPort& port = signature.outputs[i];
    orrery_tensor& output = call.outputs[i];
    output = {};
    if (!port.like.empty()) {
      const auto source = std::ranges::find(signature.inputs, port.like, &InputPort::name);
      const orrery_tensor& like = call.inputs[source - signature.inputs.begin()];
      output = like;
      output.data = nullptr;
      if (like.rank < 0)
        return Error{ErrorCode::shape_mismatch,
                     fmt::format("{} is like {}, which is left out", port.name, port.like), port.like, ""};
    }
    if (port.type) output.dtype = number_of(*port.type);
    if (!port.sizes.given) continue;
    std::vector<int64_t> sizes;
    if (port.sizes.leading && bound.leading) sizes = *bound.leading;
    for (const Size& size : port.sizes.dims) {
      const auto known = bound.names.find(size.name);
      if (!size.name.empty() && known == bound.names.end())
        return Error{
            ErrorCode::shape_mismatch,
            fmt::format("The size {} of {} is not known, as an input is left out", size.name, port.name),
            port.name, ""};
      sizes.push_back(size.name.empty() ? size.number : known->second);
    }
    if (sizes.size() > ORRERY_MAX_RANK)
      return Error{ErrorCode::shape_mismatch,
                   fmt::format("{} would have {} dims, more than 6", port.name, sizes.size()), port.name, ""};
    output.rank = static_cast<int32_t>(sizes.size());
    std::ranges::copy(sizes, output.sizes);
  }
  return {};
}

bool is_dtype(int32_t dtype) { return dtype >= 0 && dtype < static_cast<int32_t>(kTypes.size()); }
DType dtype_of(int32_t dtype) { return kTypes[static_cast<size_t>(dtype)]; }
int32_t number_of(DType dtype) {
  const auto* const found = std::ranges::find(kTypes, dtype);
  return found == kTypes.end() ? -1 : static_cast<int32_t>(found - kTypes.begin());
}

std::string to_string(const orrery_tensor& tensor) {
  if (tensor.rank < 0) return "left out";
  return fmt::format("{}[{}]", name_of(dtype_of(tensor.dtype)),
                     fmt::join(tensor.sizes, tensor.sizes + tensor.rank, ", "));
}

int64_t elements_of(const orrery_tensor& tensor) {
  if (tensor.rank < 0) return 0;
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= tensor.sizes[d];
  return count;
}

size_t bytes_of(const orrery_tensor& tensor) {
  return static_cast<size_t>(elements_of(tensor)) *
         static_cast<size_t>(dtype_info(dtype_of(tensor.dtype)).block_bytes);
}

}  // namespace orrery::custom
