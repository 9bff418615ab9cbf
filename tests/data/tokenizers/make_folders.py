#!/usr/bin/env python3
"""Writes folders/NAME: the files of a tokenizer that comes without tokenizer.json, and what transformers makes of texts.

    make_folders.py

The vocabularies are those that make_tokenizers.py trained. Needs transformers 5 (its classes read the folders) and
sentencepiece. expected.json holds ids of texts, of pairs, and what the ids decode to.
"""
import json
import pathlib

import transformers
from sentencepiece import sentencepiece_model_pb2 as pb

HERE = pathlib.Path(__file__).parent
TEXTS = json.loads((HERE / "texts.json").read_text())
TEXTS += ["<s>one</s> two", "[CLS] a [SEP]", "<mask> [MASK]<extra>and</extra> <|endoftext|>done<|im_end|>", "  two  spaces "]


def flag(content, special=True, **more):
    return dict(dict(content=content, lstrip=False, rstrip=False, normalized=False, single_word=False, special=special), **more)


def vocabulary_of(name):
    """The model's own tokens in the order of their ids, and its merges."""
    model = json.loads((HERE / f"{name}.json").read_text())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].get)
    return tokens, [m if isinstance(m, str) else " ".join(m) for m in model.get("merges", [])]


def word_pieces(source, first):
    """vocab.txt with `first` in the place of the trained special tokens, as every class has its own."""
    tokens, _ = vocabulary_of(source)
    return {"vocab.txt": "\n".join(first + [t for t in tokens if t not in ("[UNK]", "[CLS]", "[SEP]")]) + "\n"}


SPECIAL = {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|begin|>", "<|end|>"}


def byte_pairs(source, first=()):
    tokens, merges = vocabulary_of(source)
    tokens = list(first) + [t for t in tokens if t not in SPECIAL]
    return {"vocab.json": json.dumps({t: i for i, t in enumerate(tokens)}, ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "\n".join(merges) + "\n"}


BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# name: (class of transformers, files by name, sentencepiece model, tokenizer_config.json, further JSON files)
FOLDERS = {
    "bert": ("BertTokenizer", word_pieces("bert", BERT), None, {"tokenizer_class": "BertTokenizer"}, {}),
    "bert_cased": ("BertTokenizer", word_pieces("bert_cased", BERT), None,
                   {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False,
                    "tokenizer_class": "BertTokenizer"}, {"added_tokens.json": {"<extra>": 425}}),
    "distilbert": ("DistilBertTokenizer", word_pieces("bert", ["<p>", "[UNK]", "<c>", "<s>", "[MASK]"]), None,
                   {"do_lower_case": True, "strip_accents": False, "tokenizer_class": "DistilBertTokenizer"},
                   {"special_tokens_map.json": {"cls_token": "<c>", "sep_token": "<s>", "pad_token": "<p>",
                                                "unk_token": "[UNK]", "mask_token": "[MASK]"}}),
    "mpnet": ("MPNetTokenizer", word_pieces("bert", ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]), None,
              {"tokenizer_class": "MPNetTokenizer"}, {}),
    "gpt2": ("GPT2Tokenizer", byte_pairs("gpt2", ["<|endoftext|>"]), None, {"tokenizer_class": "GPT2Tokenizer"}, {}),
    "gpt2_bos": ("GPT2Tokenizer", byte_pairs("gpt2", ["<|endoftext|>"]), None,
                 {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True, "add_bos_token": True,
                  "additional_special_tokens": ["<extra>"]}, {}),
    "roberta": ("RobertaTokenizer", byte_pairs("roberta", ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]), None,
                {"tokenizer_class": "RobertaTokenizer", "mask_token": dict(flag("<mask>", lstrip=True), __type="AddedToken")},
                {}),
    "qwen2": ("Qwen2Tokenizer", byte_pairs("llama3"), None,
              {"tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>",
               "added_tokens_decoder": {"598": flag("<|endoftext|>"), "599": flag("<|im_end|>"),
                                        "600": flag("<extra>", special=False)}}, {}),
    "llama": ("LlamaTokenizer", {}, "bpe_sp.model",
              {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": False, "legacy": False,
               "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}, {"added_tokens.json": {"<extra>": 600}}),
    "llama_legacy": ("LlamaTokenizer", {}, "bpe_sp.model",
                     {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": True, "legacy": True,
                      "bos_token": dict(flag("<s>"), __type="AddedToken"), "eos_token": "</s>"}, {}),
}


MODEL_TYPES = {"BertTokenizer": "bert", "DistilBertTokenizer": "distilbert", "MPNetTokenizer": "mpnet",
               "GPT2Tokenizer": "gpt2", "RobertaTokenizer": "roberta", "Qwen2Tokenizer": "qwen2", "LlamaTokenizer": "llama"}


def without_user_symbols(path):
    """transformers takes what users defined for ordinary pieces of BPE, sentencepiece cuts it out of the text first."""
    model = pb.ModelProto()
    model.ParseFromString(path.read_bytes())
    for number, piece in enumerate(model.pieces):
        if piece.type == pb.ModelProto.SentencePiece.USER_DEFINED:
            piece.piece, piece.type = f"<control{number}>", pb.ModelProto.SentencePiece.CONTROL
    del model.trainer_spec.user_defined_symbols[:]
    return model.SerializeToString()


def write_files(folder, files, model, config, more):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    if model:
        (folder / "tokenizer.model").write_bytes(without_user_symbols(HERE / model))
    more = more | {"tokenizer_config.json": config, "config.json": {"model_type": MODEL_TYPES[config["tokenizer_class"]]}}
    for name, value in more.items():
        (folder / name).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def expected(tokenizer):
    cases = []
    for text, other in zip(TEXTS, TEXTS[1:] + TEXTS[:1]):
        ids = tokenizer(text)["input_ids"]
        # Not tokenizer(text, other): that takes an empty second text for none.
        pair = tokenizer.backend_tokenizer.encode(text, other).ids
        cases.append({"text": text, "ids": ids, "second": other, "pair": pair,
                      "decoded": tokenizer.backend_tokenizer.decode(ids, skip_special_tokens=False)})
    return cases


def main():
    for name, (kind, *files) in FOLDERS.items():
        folder = HERE / "folders" / name
        write_files(folder, *files)
        tokenizer = getattr(transformers, kind).from_pretrained(folder)
        lines = [json.dumps(case, ensure_ascii=False) for case in expected(tokenizer)]
        (folder / "expected.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
