"""Edits of SmolLM2, and the same done to the modules of transformers."""
import torch

# The words after --edit; {vector} stands for the file of a vector that is added.
EDITS = {
    "as it is": [],
    "layers repeated": ["repeat scope=layers.4-7 times=2"],
    "layers deleted": ["delete scope=layers.3,layers.7"],
    "a layer moved": ["move scope=layers.9 after=layers.2"],
    "a layer bypassed": ["bypass scope=layers.12"],
    "a head zeroed": ["zero node=layers.10.attention.sdpa heads=2"],
    "a factor": ["scale node=layers.6.attention.o_proj factor=0.5"],
    "a vector added": ["steer scope=layers.10 strength=2 file={vector}"],
    "a vector of two texts": ['steer scope=layers.10 strength=3 toward="What a wonderful, happy day it is!" '
                              'from="What a sad and terrible day that was."'],
    "all of it": ["repeat scope=layers.20-21 times=3", "move scope=layers.9 after=layers.2", "delete scope=layers.25",
                  "bypass scope=layers.12", "zero node=layers.10.attention.sdpa heads=0,4",
                  "scale node=layers.6.attention.o_proj factor=0.5", "steer scope=layers.10 strength=2 file={vector}"],
}
HEAD = 64


def vector(width):
    """Of the size of what a layer adds to the stream."""
    return torch.sin(torch.arange(width, dtype=torch.float32)) / 2


def take_layers(model, order):
    model.model.layers = torch.nn.ModuleList([model.model.layers[i] for i in order])
    model.config.num_hidden_layers = len(order)


def without_heads(layer, heads):
    with torch.no_grad():
        for head in heads:
            layer.self_attn.o_proj.weight[:, head * HEAD:(head + 1) * HEAD] = 0


def half_attention(layer):
    with torch.no_grad():
        layer.self_attn.o_proj.weight *= 0.5


def add_vector(layer, added):
    def hook(module, inputs, output):
        return (output[0] + added, *output[1:]) if isinstance(output, tuple) else output + added
    layer.register_forward_hook(hook)


def mean_after(layer, model, tokenizer, text):
    """Of what leaves a layer over the tokens of a text but the first."""
    kept = []
    hook = layer.register_forward_hook(
        lambda module, inputs, output: kept.append(output[0] if isinstance(output, tuple) else output))
    with torch.no_grad():
        model(tokenizer(text, return_tensors="pt")["input_ids"], use_cache=False)
    hook.remove()
    return kept[0].reshape(-1, kept[0].shape[-1])[1:].mean(0)


def operate(model, name, tokenizer):
    """Does to a model of transformers what the edits of that name do."""
    count = len(model.model.layers)
    layers, every = model.model.layers, list(range(count))
    added = 2 * vector(model.config.hidden_size)
    if name == "layers repeated":
        take_layers(model, every[:8] + every[4:])
    elif name == "layers deleted":
        take_layers(model, [i for i in every if i not in (3, 7)])
    elif name == "a layer moved":
        take_layers(model, [0, 1, 2, 9, 3, 4, 5, 6, 7, 8] + every[10:])
    elif name == "a layer bypassed":
        take_layers(model, [i for i in every if i != 12])
    elif name == "a head zeroed":
        without_heads(layers[10], [2])
    elif name == "a factor":
        half_attention(layers[6])
    elif name == "a vector added":
        add_vector(layers[10], added)
    elif name == "a vector of two texts":
        toward, away = (mean_after(layers[10], model, tokenizer, text)
                        for text in ("What a wonderful, happy day it is!", "What a sad and terrible day that was."))
        add_vector(layers[10], 3 * (toward - away))
    elif name == "all of it":
        without_heads(layers[10], [0, 4])
        half_attention(layers[6])
        add_vector(layers[10], added)
        take_layers(model, [0, 1, 2, 9, 3, 4, 5, 6, 7, 8, 10, 11] + every[13:22] + [20, 21] * 2 + [22, 23, 24] +
                    every[26:])
    return model
