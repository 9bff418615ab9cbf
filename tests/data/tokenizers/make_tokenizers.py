#!/usr/bin/env python3
"""Trains small tokenizers that between them use every supported part, and writes what the reference makes of texts.

    make_tokenizers.py

Writes NAME.json (a tokenizer.json with what is expected under "cases") for each, NAME.model beside NAME.json for
those of sentencepiece, and gemma4_gguf.json, the keys that llama.cpp's converter makes of gemma4.json. Needs tokenizers
0.23, sentencepiece 0.2, transformers 5 and gguf.
"""
import io
import json
import pathlib
import tempfile

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
TEXTS = json.loads((HERE / "texts.json").read_text())
TEXTS += json.loads((HERE.parent / "golden" / "texts.json").read_text())["tokenize"]
# Trained on every second text, so that the others hold what the vocabulary has not seen.
CORPUS = [t for t in TEXTS[::2] if t.strip()] + ["the quick brown fox", "words and more words in English text"] * 4

GEMMA4_SPECIAL = ["<pad>", "<eos>", "<bos>", "<unk>", "<|turn>", "<turn|>"]
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
          r"\s*[\r\n]+|\s+(?!\S)|\s+")


def bpe(trainer_options, **model_options):
    tokenizer = Tokenizer(models.BPE(**model_options))
    return tokenizer, trainers.BpeTrainer(vocab_size=600, show_progress=False, **trainer_options)


def byte_level(pattern=None, **options):
    steps = [pre_tokenizers.Split(Regex(pattern), "isolated")] if pattern else []
    return pre_tokenizers.Sequence(steps + [pre_tokenizers.ByteLevel(use_regex=not pattern, **options)])


def gpt2():
    tokenizer, trainer = bpe({"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
                              "special_tokens": ["<|endoftext|>"]})
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer, trainer


def roberta():
    tokenizer, trainer = bpe({"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
                              "special_tokens": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]})
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer, trainer


def llama3():
    tokenizer, trainer = bpe({"initial_alphabet": pre_tokenizers.ByteLevel.alphabet(),
                              "special_tokens": ["<|begin|>", "<|end|>"]}, ignore_merges=True)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = byte_level(LLAMA3, add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing("<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1", [("<|begin|>", 0)])])
    return tokenizer, trainer


def byte_fallback():
    """As Llama 2 is converted: SentencePiece's BPE with byte tokens."""
    tokenizer, trainer = bpe({"special_tokens": ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)],
                              "limit_alphabet": 60},
                             unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", 1)])
    return tokenizer, trainer


def gemma4():
    """As Gemma 4 has it: characters, lines for words."""
    tokenizer, trainer = bpe({"special_tokens": GEMMA4_SPECIAL + [f"<0x{b:02X}>" for b in range(256)],
                              "limit_alphabet": 60}, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[^\n]+|\n+"), "isolated")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.post_processor = processors.TemplateProcessing("<bos> $A", "<bos> $A <bos> $B", [("<bos>", 2)])
    return tokenizer, trainer


def end_of_word():
    """As CLIP and the first GPT have it."""
    tokenizer, trainer = bpe({"special_tokens": ["<unk>"], "end_of_word_suffix": "</w>", "limit_alphabet": 60},
                             unk_token="<unk>", end_of_word_suffix="</w>")
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(r"\s+"), " "),
                                                 normalizers.Lowercase(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                       pre_tokenizers.Punctuation("contiguous"),
                                                       pre_tokenizers.Digits(individual_digits=True)])
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    return tokenizer, trainer


def subword_prefix():
    tokenizer, trainer = bpe({"special_tokens": ["<unk>"], "continuing_subword_prefix": "##", "limit_alphabet": 60},
                             unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True)
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    return tokenizer, trainer


def splits(behavior, invert):
    tokenizer, trainer = bpe({"special_tokens": []})
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"[\s\p{P}]"), behavior, invert), pre_tokenizers.Split("o", "merged_with_next"),
        pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.Digits(individual_digits=False)])
    return tokenizer, trainer


def bert(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=30))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    return tokenizer, trainers.WordPieceTrainer(vocab_size=600, special_tokens=["[UNK]", "[CLS]", "[SEP]"],
                                                limit_alphabet=80, show_progress=False)


def word_level():
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKD(), normalizers.Strip(right=False)])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(),
                                                       pre_tokenizers.Punctuation("merged_with_previous")])
    return tokenizer, trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False)


# A few rewrites of each kind that nmt_nfkc has, so that the compiled table stays small.
RULES = {"\u00a0": " ", "\u3000": " ", "\u2003": " ", "\n": " ", "\t": " ", "\r": " ", "\r\n": " ", "\u200b": " ",
         "\u00ad": "", "\u0007": "", "\ufb01": "fi", "\ufb00": "ff", "\u00bd": "1\u20442", "\u00b2": "2",
         "e\u0301": "\u00e9", "a\u0308": "\u00e4", "\uff76\uff9e": "\u30ac", "\uff76": "\u30ab", "\u2026": "...",
         "\u1112\u1161\u11ab": "\ud55c", "\u1112\u1161": "\ud558"} | {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}


def charsmap():
    """What sentencepiece compiles RULES into."""
    model = pb.ModelProto()
    model.ParseFromString((HERE / "unigram_sp.model").read_bytes())
    return model.normalizer_spec.precompiled_charsmap


def unigram(scheme, fallback=False):
    """As XLM-R and T5 are converted."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap()),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=scheme != "first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    special = ["<s>", "</s>", "<unk>"] + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>",
                                                             [("<s>", 0), ("</s>", 1)])
    return tokenizer, trainers.UnigramTrainer(vocab_size=500 + len(special), special_tokens=special, unk_token="<unk>",
                                              show_progress=False)


def literal_bytes():
    """Characters for bytes, seen by a model that is not byte-level BPE."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.ByteLevel()
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("\u0120"), "merged_with_next")
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainers.UnigramTrainer(vocab_size=500, special_tokens=["<unk>"], unk_token="<unk>",
                                              initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)


MADE = {"gpt2": gpt2, "roberta": roberta, "llama3": llama3, "byte_fallback": byte_fallback, "end_of_word": end_of_word,
        "subword_prefix": subword_prefix, "split_removed": lambda: splits("removed", False),
        "split_previous": lambda: splits("merged_with_previous", False),
        "split_contiguous": lambda: splits("contiguous", False), "split_inverted": lambda: splits("isolated", True),
        "bert": lambda: bert(True), "bert_cased": lambda: bert(False), "word_level": word_level,
        "unigram": lambda: unigram("always"), "unigram_first": lambda: unigram("first"),
        "unigram_bytes": lambda: unigram("never", True), "literal_bytes": literal_bytes}


def add_tokens(tokenizer):
    tokenizer.add_special_tokens([AddedToken("<|tool|>", special=True)])
    tokenizer.add_tokens([AddedToken("added", single_word=True), AddedToken("<blank>", lstrip=True, rstrip=True),
                          AddedToken("caf\u00e9", normalized=True), AddedToken("Text", normalized=False)])


def expected(tokenizer, texts):
    cases = []
    for text, other in zip(texts, texts[1:] + texts[:1]):
        one, two = tokenizer.encode(text), tokenizer.encode(text, other)
        case = {"text": text, "ids": one.ids, "decoded": tokenizer.decode(one.ids, skip_special_tokens=False),
                "without_special": tokenizer.decode(one.ids, skip_special_tokens=True)}
        if len(cases) % 4 == 0:
            case |= {"second": other, "pair": two.ids, "types": two.type_ids}
        cases.append(case)
    return cases


def write(name, tokenizer, more):
    made = json.loads(tokenizer.to_str())
    made["cases"] = expected(tokenizer, TEXTS + more)
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items() if k != "cases")
    cases = ",\n".join(json.dumps(c) for c in made["cases"])
    (HERE / f"{name}.json").write_text(f"{{{lines},\n\"cases\": [\n{cases}\n]}}\n")


def gemma4_gguf(tokenizer):
    """What the converter's own classes read in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        tokenizer.save(folder + "/tokenizer.json")
        names = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>", "unk_token": "<unk>",
                 "extra_special_tokens": ["<|turn>", "<turn|>"]}
        (pathlib.Path(folder) / "tokenizer_config.json").write_text(
            json.dumps({"tokenizer_class": "PreTrainedTokenizerFast", **names}))
        vocabulary = list(gguf.LlamaHfVocab(pathlib.Path(folder)).all_tokens())
        special = gguf.SpecialVocab(folder, load_merges=True, n_vocab=len(vocabulary))
    keys = {"tokens": [text.decode() for text, _, _ in vocabulary], "token_type": [kind for _, _, kind in vocabulary],
            "merges": special.merges, **{f"{name}_token_id": id for name, id in special.special_token_ids.items()}}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in keys.items())
    (HERE / "gemma4_gguf.json").write_text(f"{{{lines}}}\n")


def write_gemma4():
    tokenizer, trainer = gemma4()
    tokenizer.train_from_iterator(CORPUS + ["\n" * n for n in range(1, 9)] * 4, trainer)
    # The file's own one, which finds nothing to part: the spaces are gone by then.
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.add_tokens([AddedToken("<|tool_call>", normalized=False)])
    made = json.loads(tokenizer.to_str())  # its bytes are tokens like any other
    made["added_tokens"] = [t for t in made["added_tokens"] if not t["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(made))
    write("gemma4", tokenizer, ["\n" * 3 + "a" + "\n" * 20, "<|turn>user\nHi<turn|>\n<|tool_call>x"])
    gemma4_gguf(tokenizer)


def rules_file():
    file = tempfile.NamedTemporaryFile("w", suffix=".tsv")
    for key, value in RULES.items():
        file.write(" ".join(f"{ord(c):X}" for c in key) + "\t" + " ".join(f"{ord(c):X}" for c in value) + "\n")
    file.flush()
    return file


def sentencepiece_model(name, kind, **options):
    stream = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS * 3), model_writer=stream, model_type=kind,
                                             vocab_size=600, character_coverage=0.98, hard_vocab_limit=False,
                                             minloglevel=2, **options)
    (HERE / f"{name}.model").write_bytes(stream.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=stream.getvalue())
    cases = [{"text": t, "ids": processor.encode(t), "decoded": processor.decode(processor.encode(t))} for t in TEXTS]
    (HERE / f"{name}.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def main():
    with rules_file() as rules:
        sentencepiece_model("unigram_sp", "unigram", normalization_rule_tsv=rules.name)
    sentencepiece_model("bpe_sp", "bpe", byte_fallback=True, remove_extra_whitespaces=False,
                        normalization_rule_name="identity", user_defined_symbols=["<tool>", "\u2581\u2581"])
    for name, make in MADE.items():
        tokenizer, trainer = make()
        tokenizer.train_from_iterator(CORPUS, trainer)
        add_tokens(tokenizer)
        write(name, tokenizer, ["added Text addedly <|tool|> x <blank> y caf\u00e9s"])
    write_gemma4()


main()
