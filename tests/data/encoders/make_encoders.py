#!/usr/bin/env python3
"""Tiny encoders with seeded random weights, and what transformers makes of three texts that are run one by one.

Each folder holds config.json, model.safetensors, expected.json {tokens, types, outputs} and, for vectors, the files of
sentence-transformers. bert_pairs and bert_tokens have a tokenizer and what comes of words too. NAME_gguf holds the model
of NAME as model.gguf, its tensors named as llama.cpp's converter names them. Made with transformers 5.23:  python3 make_encoders.py [name ...]
"""
import json
import math
import re
import shutil
import sys
from pathlib import Path

import gguf
import tokenizers
import torch
import transformers as tf

HERE = Path(__file__).parent
LENGTHS = (3, 12, 71)
SIZES = dict(vocab_size=61, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40)
LABELS = dict(id2label={0: "low", 1: "middle", 2: "high"}, label2id={"low": 0, "middle": 1, "high": 2})


def bert(**more):
    return tf.BertConfig(**SIZES, max_position_embeddings=80, **more)


def distilbert(**more):
    return tf.DistilBertConfig(vocab_size=61, dim=24, n_layers=2, n_heads=3, hidden_dim=40, max_position_embeddings=80,
                               **more)


def roberta(kind=tf.RobertaConfig, **more):
    return kind(**SIZES, max_position_embeddings=82, type_vocab_size=1, pad_token_id=1, **more)


def mpnet(**more):
    return tf.MPNetConfig(**SIZES, max_position_embeddings=82, **more)


def modernbert(**more):
    return tf.ModernBertConfig(**{**SIZES, "num_hidden_layers": 4}, max_position_embeddings=80, local_attention=16,
                               global_attn_every_n_layers=3, pad_token_id=0, bos_token_id=1, eos_token_id=2,
                               cls_token_id=1, sep_token_id=2, **more)


# name -> class, config, how the text's vector is pooled (None: the class ends in logits), normalised, pairs of texts
MODELS = {
    "bert": (tf.BertModel, bert(), "mean", True, False),
    "bert_cls": (tf.BertModel, bert(), "cls", False, False),
    "bert_last": (tf.BertModel, bert(hidden_act="relu"), "lasttoken", False, False),
    "bert_texts": (tf.BertForSequenceClassification, bert(**LABELS), None, False, False),
    "bert_pairs": (tf.BertForSequenceClassification, bert(num_labels=1), None, False, True),
    "bert_tokens": (tf.BertForTokenClassification, bert(hidden_act="gelu_new", **LABELS), None, False, False),
    "distilbert": (tf.DistilBertModel, distilbert(), "mean", False, False),
    "distilbert_texts": (tf.DistilBertForSequenceClassification, distilbert(**LABELS), None, False, False),
    "distilbert_tokens": (tf.DistilBertForTokenClassification, distilbert(**LABELS), None, False, False),
    "roberta_texts": (tf.RobertaForSequenceClassification, roberta(**LABELS), None, False, False),
    "roberta_tokens": (tf.RobertaForTokenClassification, roberta(**LABELS), None, False, False),
    "xlm_roberta": (tf.XLMRobertaModel, roberta(tf.XLMRobertaConfig), "cls", True, False),
    "mpnet": (tf.MPNetModel, mpnet(), "mean", True, False),
    "mpnet_texts": (tf.MPNetForSequenceClassification, mpnet(**LABELS), None, False, False),
    "modernbert": (tf.ModernBertModel, modernbert(), "mean", False, False),
    "modernbert_texts": (tf.ModernBertForSequenceClassification, modernbert(classifier_pooling="mean", **LABELS), None,
                         False, False),
    "modernbert_tokens": (tf.ModernBertForTokenClassification, modernbert(**LABELS), None, False, False),
}


def randomise(model, seed):
    """Weights large enough that every part of the network is heard in the result."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in sorted(model.named_parameters()):
        values = torch.randn(parameter.shape, generator=generator)
        is_norm = parameter.dim() == 1 and name.endswith("weight")
        scale = 1.2 / math.sqrt(parameter.shape[-1]) if parameter.dim() == 2 else 0.2
        if "embeddings" in name or "attention_bias" in name:
            scale = 1.0
        parameter.data = values * scale + (1.0 if is_norm else 0.0)


def texts(seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randint(5, 61, (length,), generator=generator).tolist() for length in LENGTHS]


def pooled(hidden, pooling):
    return {"mean": hidden.mean(0), "cls": hidden[0], "lasttoken": hidden[-1]}[pooling]


def run(model, tokens, types, pooling, normalised):
    inputs = dict(input_ids=torch.tensor([tokens]))
    if types:
        inputs["token_type_ids"] = torch.tensor([types])
    with torch.no_grad():
        result = model(**inputs)
    if pooling is None:
        return result.logits[0].reshape(-1)
    vector = pooled(result.last_hidden_state[0], pooling)
    return vector / vector.norm() if normalised else vector


def padded(model, tokens, hidden):
    """The same texts in one padded batch. Hidden keys get `hidden` added to their scores."""
    longest = max(map(len, tokens))
    ids = torch.tensor([text + [0] * (longest - len(text)) for text in tokens])
    seen = torch.tensor([[1.0] * len(text) + [0.0] * (longest - len(text)) for text in tokens])
    mask = ((1 - seen) * hidden)[:, None, None, :].expand(-1, 1, longest, longest)
    with torch.no_grad():
        return model(input_ids=ids, attention_mask=mask).logits


WORDS = ("a the of to in is was it on for comet moon planet star orbit sun ring dust light dark far near old new red "
         "blue cold hot small large turns moves shines falls rises sees ##s ##ed ##ing ##er . , ? ! earth mars venus sky "
         "night day year time path line wave").split()


def tokenizer():
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])}
    assert len(vocabulary) <= SIZES["vocab_size"], len(vocabulary)
    made = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = tokenizers.normalizers.BertNormalizer()
    made.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    made.decoder = tokenizers.decoders.WordPiece()
    made.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return made


def words(name, model, folder):
    """What the model makes of words, with a tokenizer of its own."""
    if name not in ("bert_pairs", "bert_tokens"):
        return {}
    made = tokenizer()
    made.save(str(folder / "tokenizer.json"), pretty=False)
    if name == "bert_tokens":
        text = "The red planet moves near the comets."
        encoded = made.encode(text)
        logits = run(model, encoded.ids, [], None, False).reshape(len(encoded.ids), -1)
        labels = [LABELS["id2label"][int(row.argmax())] for row in logits]
        return dict(text=text, ids=encoded.ids, labels=labels, probabilities=[numbers(row) for row in logits.softmax(-1)])
    query = "Is the moon near?"
    passages = ["The moon is far.", "Dust falls on the large rings of a planet, far in the night sky.", "Comet!"]
    pairs = [made.encode(query, passage) for passage in passages]
    return dict(query=query, passages=passages,
                relevance=[float(run(model, pair.ids, pair.type_ids, None, False)[0]) for pair in pairs])


def numbers(tensor):
    return [float(f"{value:.8g}") for value in tensor.tolist()]


GGUF_NAMES = [
    (r"^(roberta|bert|model)\.", ""),
    (r"embeddings\.(word|tok)_embeddings", "token_embd"), (r"embeddings\.position_embeddings", "position_embd"),
    (r"embeddings\.token_type_embeddings", "token_types"), (r"embeddings\.(LayerNorm|norm)", "token_embd_norm"),
    (r"(encoder\.layer|layers)\.(\d+)\.", r"blk.\2."),
    (r"attention\.self\.query", "attn_q"), (r"attention\.self\.key", "attn_k"), (r"attention\.self\.value", "attn_v"),
    (r"attention\.output\.dense", "attn_output"), (r"attention\.output\.LayerNorm", "attn_output_norm"),
    (r"intermediate\.dense", "ffn_up"), (r"(blk\.\d+)\.output\.dense", r"\1.ffn_down"),
    (r"(blk\.\d+)\.output\.LayerNorm", r"\1.layer_output_norm"),
    (r"attn\.Wqkv", "attn_qkv"), (r"attn\.Wo", "attn_output"), (r"mlp_norm", "ffn_norm"), (r"mlp\.Wi", "ffn_up"),
    (r"mlp\.Wo", "ffn_down"), (r"final_norm", "output_norm"),
    (r"(pooler|classifier|head)\.dense", "cls"), (r"head\.norm", "cls.norm"),
    (r"classifier(\.out_proj)?\.", "cls.output."),
]
GGUF_ARCHITECTURES = {"bert_texts": "bert", "bert_cls": "bert", "roberta_texts": "bert", "modernbert": "modern-bert"}


def write_gguf(name, model, pooling):
    """As the converter of llama.cpp writes it; positions begin at row 0, a table of one row is a vector."""
    folder = HERE / f"{name}_gguf"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    config, roberta = model.config, name.startswith("roberta")
    writer = gguf.GGUFWriter(folder / "model.gguf", GGUF_ARCHITECTURES[name])
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings - 2 * roberta)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(getattr(config, "layer_norm_eps", None) or config.norm_eps)
    writer.add_pooling_type({"mean": gguf.PoolingType.MEAN, "cls": gguf.PoolingType.CLS}.get(pooling, gguf.PoolingType.RANK))
    if name.startswith("modernbert"):
        writer.add_sliding_window(config.local_attention)
        writer.add_sliding_window_pattern(3)
        writer.add_rope_freq_base(160000.0)
        writer.add_rope_freq_base_swa(10000.0)
    if pooling is None:
        writer.add_classifier_output_labels(list(LABELS["label2id"]))
    for tensor_name, tensor in model.state_dict().items():
        if tensor_name.endswith("position_ids") or (pooling and "pooler" in tensor_name):
            continue
        for pattern, replacement in GGUF_NAMES:
            tensor_name = re.sub(pattern, replacement, tensor_name)
        if tensor_name == "position_embd.weight" and roberta:
            tensor = tensor[2:]
        if tensor_name == "token_types.weight":
            tensor = tensor.squeeze()
        writer.add_tensor(tensor_name, tensor.numpy().copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    shutil.copy(HERE / name / "expected.json", folder)


def write_sentence_files(folder, pooling, normalised):
    modules = [("0", "", "Transformer"), ("1", "1_Pooling", "Pooling")] + ([("2", "2_Normalize", "Normalize")] * normalised)
    entries = [dict(idx=int(i), name=i, path=path, type=f"sentence_transformers.models.{kind}") for i, path, kind in modules]
    (folder / "modules.json").write_text(json.dumps(entries, indent=1) + "\n")
    (folder / "1_Pooling").mkdir()
    modes = {"mean": "mean_tokens", "cls": "cls_token", "lasttoken": "lasttoken"}
    config = {f"pooling_mode_{mode}": name == pooling for name, mode in modes.items()}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def make(name, seed):
    kind, config, pooling, normalised, pairs = MODELS[name]
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomise(model, seed)
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    tokens = texts(seed)
    types = [[int(i > len(text) // 2) for i in range(len(text))] if pairs else [] for text in tokens]
    expected = dict(tokens=tokens, types=types,
                    outputs=[numbers(run(model, *text, pooling, normalised)) for text in zip(tokens, types)])
    expected |= words(name, model, folder)
    if name == "distilbert_texts":
        expected["padded"] = {label: [numbers(row) for row in padded(model, tokens, hidden)]
                              for label, hidden in (("-10000", -10000.0), ("-inf", torch.finfo(torch.float32).min))}
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")
    if pooling:
        write_sentence_files(folder, pooling, normalised)
    if name in GGUF_ARCHITECTURES:
        write_gguf(name, model, pooling)


if __name__ == "__main__":
    for place, model_name in enumerate(MODELS):
        if len(sys.argv) < 2 or model_name in sys.argv[1:]:
            make(model_name, 100 + place)
