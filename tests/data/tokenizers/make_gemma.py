#!/usr/bin/env python3
"""Writes gemma3.json: what sentencepiece makes of texts with the vocabulary of a Gemma 3 GGUF file.

    make_gemma.py MODEL.gguf

The vocabulary itself stays in the model's file; only ids are kept here. Needs gguf and sentencepiece. The model file
that sentencepiece wants is built from the pieces, scores and types that GGUF carries.
"""
import json
import pathlib
import sys

import sentencepiece
from gguf import GGUFReader
from sentencepiece import sentencepiece_model_pb2 as pb

HERE = pathlib.Path(__file__).parent
USER_DEFINED = 4


def processor_of(path):
    fields = GGUFReader(path).fields
    read = lambda name: fields["tokenizer.ggml." + name].contents()
    model = pb.ModelProto()
    for token, score, kind in zip(read("tokens"), read("scores"), read("token_type")):
        # GGUF writes the runs of spaces that users defined as spaces.
        piece = token.replace(" ", "\u2581") if kind == USER_DEFINED else token
        model.pieces.add(piece=piece, score=score, type=kind)
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = pb.TrainerSpec.BPE
    trainer.vocab_size = len(model.pieces)
    trainer.byte_fallback = True
    trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id = 3, 2, 1, 0
    trainer.unk_piece, trainer.bos_piece, trainer.eos_piece, trainer.pad_piece = "<unk>", "<bos>", "<eos>", "<pad>"
    normalizer.name = "identity"
    normalizer.add_dummy_prefix = False
    normalizer.remove_extra_whitespaces = False
    return sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())


def main():
    processor = processor_of(sys.argv[1])
    texts = json.loads((HERE / "texts.json").read_text())
    texts += json.loads((HERE.parent / "golden" / "texts.json").read_text())["tokenize"]
    cases = [{"text": t, "ids": processor.encode(t), "decoded": processor.decode(processor.encode(t))} for t in texts]
    (HERE / "gemma3.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
