// Mamba (Gu and Dao 2023, arXiv 2312.00752): layers of a norm and a selective state space, and nothing that
// looks at single tokens of the past. GGUF files store the states' decay as it is used, folders its
// logarithm.
#include "engine/models/architectures.h"
#include "engine/models/decoder_source.h"

namespace orrery::models {
namespace {

constexpr KeyName kMambaKeys[] = {{"rms_norm_eps", "layer_norm_epsilon"}};

Result<StateSpace> read_space(const DecoderSource& source, const Decoder& decoder) {
  const Config& config = source.config();
  const bool gguf = source.is_gguf();
  if (gguf && config.flag("ssm.dt_b_c_rms", false))
    return config.unsupported("This Mamba norms its steps and selections (Falcon Mamba)",
                              "Open one that does not");
  StateSpace space;
  space.width = decoder.width;
  ORRERY_ASSIGN(space.inner, config.size(gguf ? "ssm.inner_size" : "intermediate_size"));
  ORRERY_ASSIGN(space.kernel, config.size(gguf ? "ssm.conv_kernel" : "conv_kernel"));
  ORRERY_ASSIGN(space.states, config.size(gguf ? "ssm.state_size" : "state_size"));
  ORRERY_ASSIGN(space.rank, config.size(gguf ? "ssm.time_step_rank" : "time_step_rank"));
  if (space.kernel < 2)
    return config.unsupported("The convolutions of this Mamba see one token only",
                              "Open one whose convolutions see several");
  space.activation = decoder.activation;
  space.log_a = !gguf;
  space.flat_convolution = gguf;
  return space;
}

DecoderLayerSettings layer_of(const DecoderSource& source, const StateSpace& all, int64_t layer) {
  const std::string at = source.layer_prefix(layer);
  const auto named = [&](const char* gguf, const char* folder) {
    return at + (source.is_gguf() ? gguf : folder);
  };
  DecoderLayerSettings settings;
  settings.tensors.attention_norm = named("attn_norm", "norm");
  StateSpace& space = settings.state_space.emplace(all);
  space.in = named("ssm_in", "mixer.in_proj");
  space.convolution = named("ssm_conv1d", "mixer.conv1d");
  space.selection = named("ssm_x", "mixer.x_proj");
  space.step = named("ssm_dt", "mixer.dt_proj");
  space.a = named("ssm_a", "mixer.A_log");
  space.d = named("ssm_d", "mixer.D");
  space.out = named("ssm_out", "mixer.out_proj");
  return settings;
}

}  // namespace

Result<BuiltModel> build_mamba(const io::ModelFile& file, const io::Adapter* adapter) {
  DecoderSource source(file, adapter,
                       {.gguf_name = "mamba",
                        .folder_keys = kMambaKeys,
                        .folder_prefix = "backbone.",
                        .context_length = int64_t{1} << 20,
                        .token_table = "embeddings",
                        .output_norm = "norm_f"});
  ORRERY_ASSIGN(Decoder decoder, source.read_outer());
  ORRERY_ASSIGN(const StateSpace space, read_space(source, decoder));
  decoder.layer = [&](int64_t layer) { return layer_of(source, space, layer); };
  return build_decoder(source.builder(), decoder);
}

}  // namespace orrery::models
