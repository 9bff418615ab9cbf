#include "engine/exporter/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/compile/source_slots.h"
#include "engine/io/tensor_writer.h"
#include "engine/models/builder.h"
#include "engine/ops/infer_support.h"

namespace orrery::exporter {
namespace {

/// general.file_type of a GGUF file most of whose bytes are of the type.
std::optional<int> file_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 0;
    case DType::f16:
      return 1;
    case DType::q4_0:
      return 2;
    case DType::q4_1:
      return 3;
    case DType::q8_0:
      return 7;
    case DType::q5_0:
      return 8;
    case DType::q5_1:
      return 9;
    case DType::q2_k:
      return 10;
    case DType::q3_k:
      return 12;
    case DType::q4_k:
      return 15;
    case DType::q5_k:
      return 17;
    case DType::q6_k:
      return 18;
    case DType::bf16:
      return 32;
    default:
      return std::nullopt;
  }
}

/// Whether columns are taken out by whole blocks.
bool takes_whole_blocks(const Step& step, DType dtype) {
  if (step.kind != Step::Kind::scale_columns) return true;
  const auto block = static_cast<size_t>(dtype_info(dtype).block_elements);
  for (size_t begin = 0; begin < step.factors.size(); begin += block)
    for (size_t i = begin; i < std::min(begin + block, step.factors.size()); ++i)
      if (step.factors[i] != step.factors[begin]) return false;
  return true;
}

bool holds_exactly(DType dtype, const std::vector<Step>& steps) {
  return dtype == DType::f32 || std::ranges::all_of(steps, [&](const Step& step) {
           return step.is_mask() && takes_whole_blocks(step, dtype);
         });
}

class Planning {
 public:
  Planning(Plan& plan, const Folded& folded, const graph::Graph& written, FoldedAs folded_as)
      : plan_(plan), folded_(folded), written_(written), folded_as_(folded_as) {}

  void run(const Matched& matched) {
    for (const NodeId id : written_.order())
      if (const auto found = matched.weights.find(id); found != matched.weights.end())
        add_parts(id, found->second);
    const std::vector<io::Tensor>& tensors = plan_.candidate.file->tensors;
    for (size_t i = 0; i < tensors.size(); ++i) {
      PlannedTensor planned{tensors[i], std::move(parts_[tensors[i].name]), plan_.candidate.originals[i]};
      settle(planned);
      plan_.bytes += io::stored_bytes(planned.header);
      plan_.tensors.push_back(std::move(planned));
    }
    if (plan_.candidate.is_gguf()) tell_types();
  }

 private:
  void differ(std::string where, std::string what) {
    plan_.differences.push_back({std::move(where), std::move(what)});
  }

  void add_parts(NodeId written, NodeId edited) {
    const graph::Node &model = written_.node(written), &node = folded_.graph.node(edited);
    const weights::WeightView place = compile::view_of(model), source = compile::view_of(node);
    Part part{place,
              source,
              source.dtype.value_or(DType::f32),
              {},
              folded_.made.contains(edited),
              ops::text(node.attributes, "transform").starts_with("adapter")};
    if (const auto steps = folded_.steps.find(edited); steps != folded_.steps.end())
      part.steps = steps->second;
    paths_[place.tensor] = node.path();
    if (place.stacked == 0 && source.stacked == 0) {
      parts_[place.tensor].push_back(std::move(part));
      return;
    }
    if (place.stacked != source.stacked)
      return differ(node.path(), "The file keeps the experts of a layer apart, and this is one tensor");
    for (int64_t i = 0; i < place.stacked; ++i) {
      Part member = part;
      member.place = weights::WeightView(place.member(i));
      member.source = weights::WeightView(source.member(i));
      member.source.file = source.file;
      member.source.dtype = source.dtype;
      paths_[member.place.tensor] = node.path();
      parts_[place.member(i)].push_back(std::move(member));
    }
  }

  /// Type, and how the bytes come about.
  void settle(PlannedTensor& tensor) {
    io::Tensor& header = tensor.header;
    const std::string& where = paths_[header.name];
    if (tensor.parts.empty()) {
      tensor.as_it_is = true;
      tensor.how = "as it is";
      if (!tensor.original) differ(header.name, "Nothing of the graph is to be written there");
      return;
    }
    const DType dtype = tensor.parts.front().dtype;
    for (const Part& part : tensor.parts)
      if (part.dtype != dtype)
        return differ(
            where,
            fmt::format("The file keeps it in one tensor with others, {}, of which one is {} and one {}: "
                        "store them alike",
                        header.name, name_of(dtype), name_of(part.dtype)));
    const bool exact = std::ranges::all_of(tensor.parts, [&](const Part& part) {
      return part.steps.empty() || holds_exactly(dtype, part.steps);
    });
    header.dtype = exact || folded_as_ == FoldedAs::stored ? dtype : DType::f32;
    header.foreign_type = {};
    tensor.as_it_is =
        std::ranges::all_of(tensor.parts, [&](const Part& part) { return is_original(part, tensor); });
    if (!tensor.as_it_is && !is_covered(tensor))
      differ(where, fmt::format("It is a part of the file's {}, and nothing reads the rest", header.name));
    if (!plan_.candidate.is_gguf() && !io::is_safetensors_type(header.dtype))
      differ(where, fmt::format("It is {}, and safetensors has f16, bf16 and f32", name_of(header.dtype)));
    tensor.how = described(tensor);
  }

  /// The part of the original tensor that stands in the same place there, untouched.
  static bool is_original(const Part& part, const PlannedTensor& tensor) {
    const weights::WeightView& source = part.source;
    return tensor.original && part.steps.empty() && !part.made && !part.adapted && source.file.path.empty() &&
           source.merged.empty() && source.tensor == tensor.original->name &&
           part.dtype == tensor.original->dtype && source.rows == part.place.rows && source.columns.empty() &&
           source.transposed == part.place.transposed;
  }

  static bool is_covered(const PlannedTensor& tensor) {
    int64_t covered = 0;
    for (const Part& part : tensor.parts) {
      if (part.place.rows.empty()) return true;
      covered += weights::row_count(part.place.rows).value_or(0);
    }
    const bool transposed = tensor.parts.front().place.transposed;
    return covered == (transposed ? tensor.header.shape.back() : tensor.header.shape.front());
  }

  static std::string described(const PlannedTensor& tensor) {
    if (tensor.as_it_is) return "as it is";
    const bool folded =
        std::ranges::any_of(tensor.parts, [](const Part& part) { return !part.steps.empty(); });
    const std::string type(name_of(tensor.header.dtype));
    if (folded) return "with what was folded in, " + type;
    const weights::WeightView& source = tensor.parts.front().source;
    if (!source.file.path.empty()) return fmt::format("{} of {}", type, source.file.path);
    const bool requantised = tensor.original && tensor.original->dtype != tensor.header.dtype;
    return requantised ? fmt::format("{}, was {}", type, tensor.original->type_name())
                       : fmt::format("of {}", source.tensor);
  }

  /// What the metadata say of the tensors' types.
  void tell_types() {
    std::map<DType, uint64_t> bytes;
    bool changed = false, quantised = false;
    for (const PlannedTensor& tensor : plan_.tensors) {
      if (!tensor.header.foreign_type.empty()) return;
      bytes[tensor.header.dtype] += io::stored_bytes(tensor.header);
      quantised = quantised || is_quantised(tensor.header.dtype);
      changed = changed || !tensor.original || tensor.original->dtype != tensor.header.dtype;
    }
    const Metadata& metadata = plan_.candidate.file->metadata;
    const auto set = [&](const char* key, int value) {
      plan_.candidate.edits.push_back({MetadataEdit::Action::set, key, std::to_string(value), "u32"});
    };
    const auto most = std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; });
    const auto type = most == bytes.end() ? std::nullopt : file_type_of(most->first);
    if (changed && type && metadata.find("general.file_type")) set("general.file_type", *type);
    if (changed && quantised && !metadata.find("general.quantization_version"))
      set("general.quantization_version", 2);
  }

  Plan& plan_;
  const Folded& folded_;
  const graph::Graph& written_;
  FoldedAs folded_as_;
  std::map<std::string, std::vector<Part>> parts_;
  std::map<std::string, std::string> paths_;  // of the edited graph, by tensor
};

}  // namespace

Result<Plan> plan(const Edited& edited, weights::WeightStore& weights, FoldedAs folded_as,
                  kernels::ThreadTeam& team) {
  ORRERY_ASSIGN(Folded folded, fold(edited.graph, edited.opened, weights, team));
  Plan plan{.folded = folded.graph};
  plan.dropped = std::move(folded.dropped);
  const Layers layers = layers_of(folded.graph, plan.differences);
  ORRERY_ASSIGN(plan.candidate,
                candidate_of(weights.file(), edited.adapter, layers, folded, plan.differences));
  const auto built = models::build(*plan.candidate.file, nullptr);
  if (!built.ok()) {
    plan.differences.push_back({built.error().where, built.error().what});
    return plan;
  }
  Matched matched = match(folded.graph, built->graph);
  for (Difference& difference : matched.differences) plan.differences.push_back(std::move(difference));
  for (std::string& dropped : matched.dropped) plan.dropped.push_back(std::move(dropped));
  if (!plan.differences.empty()) return plan;
  Planning(plan, folded, built->graph, folded_as).run(matched);
  return plan;
}

}  // namespace orrery::exporter
