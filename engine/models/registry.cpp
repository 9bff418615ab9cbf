#include <fmt/format.h>

#include "engine/models/architectures.h"

namespace orrery::models {
namespace {

constexpr std::string_view kEncoderTasks = "vectors; labels of texts, of pairs of texts and of tokens";

}  // namespace

std::span<const Architecture> architectures() {
  static constexpr Architecture kArchitectures[] = {
      {"llama", build_llama},         // one per line
      {"mistral", build_llama},       //
      {"qwen2", build_qwen2},         //
      {"qwen3", build_qwen3},         //
      {"gemma2", build_gemma2},       //
      {"gemma3", build_gemma3},       //
      {"gemma3_text", build_gemma3},  //
      {"phi3", build_phi3},           //
      {"gpt2", build_gpt2},           //
      {"gpt_neox", build_gpt_neox},   //
      {"gptneox", build_gpt_neox},    //
      {"smollm3", build_smollm3},     //
      {"olmo2", build_olmo2},         //
      {"granite", build_granite},     //
      {"stablelm", build_stablelm},   //
      {"mixtral", build_mixtral},     //
      {"mamba", build_mamba},         //
      {"qwen3_moe", build_qwen3_moe},
      {"qwen3moe", build_qwen3_moe},
      {"bert", build_bert, kEncoderTasks},
      {"distilbert", build_distilbert, kEncoderTasks},
      {"mpnet", build_mpnet, kEncoderTasks},
      {"modernbert", build_modernbert, kEncoderTasks},
      {"modern-bert", build_modernbert, kEncoderTasks},
      {"roberta", build_roberta, kEncoderTasks},
      {"xlm-roberta", build_roberta, kEncoderTasks},
  };
  return kArchitectures;
}

Result<BuiltModel> build(const io::ModelFile& file, const io::Adapter* adapter) {
  std::string known;
  for (const Architecture& architecture : architectures()) {
    if (architecture.name != file.architecture) {
      (known += known.empty() ? "" : ", ") += architecture.name;
      continue;
    }
    if (adapter) ORRERY_TRY(io::check_adapter(file, *adapter));
    return architecture.build(file, adapter);
  }
  return Error{ErrorCode::unsupported,
               file.architecture.empty()
                   ? std::string("The file does not say what architecture it holds")
                   : fmt::format("The architecture {:?} is not known", file.architecture),
               file.path.string(), "Models of these architectures can be opened: " + known};
}

}  // namespace orrery::models
