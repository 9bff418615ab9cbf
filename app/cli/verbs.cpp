#include "app/cli/verbs.h"

namespace orrery::cli {
namespace {

constexpr Verb kVerbs[] = {
    {"list", "models found in the library folders", prepare_list, false},
    {"info", "what a file holds, and the memory it will need", prepare_info, false},
    {"metadata", "the metadata of a GGUF file; edited, as a new file", prepare_metadata, false},
    {"graph", "the graph, before or after the passes", prepare_graph},
    {"plan", "compiled steps: chosen kernels, and why faster ones were refused", prepare_plan},
    {"passes", "what each pass did to the graph; measured, what it is worth", prepare_passes},
    {"preview", "what edits would change: nodes, context, memory, step time", prepare_preview},
    {"sweep", "one edit at a time over all places, each measured: what can go, what must stay",
     prepare_sweep},
    {"mix", "the types of a model's tensors for a size, chosen from sweeps", prepare_mix, false},
    {"diff", "how two models, or a model and its edits, differ", prepare_diff},
    {"recipe", "recipes of edits as files: made, checked, shown, compared", prepare_recipe},
    {"export", "the edited model as a file that other programs load", prepare_export},
    {"ops", "the registry: every op with its help", prepare_ops},
    {"op", "one op on arrays from files; without --in, what it takes", prepare_op},
    {"custom", "ops of one's own: checked, added, removed, begun", prepare_custom, false},
    {"run", "a graph of one's own on arrays from files", prepare_run},
    {"lab", "every row of a kernel, held against the reference, then timed on this machine", prepare_lab},
    {"tokenize", "the bytes of stdin to token ids, or back", prepare_tokenize, false},
    {"render", "a conversation through a chat template, as the model would get it", prepare_render, false},
    {"chat", "one reply, or a conversation when no prompt is given", prepare_chat},
    {"score", "how likely a text is", prepare_score},
    {"attribute", "which tokens of a text an answer follows from: gradient x input", prepare_attribute},
    {"classify", "labels and their probabilities; metrics where labels are given", prepare_classify},
    {"embed", "sentence vectors", prepare_embed},
    {"rerank", "passages by how well they answer a query", prepare_rerank},
    {"bench", "tokens per second of prefill, decode and encoding, warm-up left out", prepare_bench},
    {"compare", "the same text through two settings: time of every node, and where the numbers part",
     prepare_compare},
    {"profile", "time of every node in both phases; a trace for Perfetto", prepare_profile},
    {"first-light", "a first look: chat in a terminal; otherwise one question and one classification",
     prepare_first_light},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

}  // namespace orrery::cli
