#!/usr/bin/env python3
"""What other engines compute of exported models is what Orrery computes of the edited one: SmolLM2 with each of the
edits of tests/data/edits/surgery.py, as a GGUF file in llama.cpp (as the model is stored, and in float32), and as a
folder in transformers. Exits with 77 where a package or the model is not there.

  pip install llama-cpp-py-sync==0.11739 transformers==5.24.0 torch gguf==0.19.0 accelerate
  other_engines_test.py build/release/bin/orrery-cli [--table]     --table: the numbers as Markdown
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
DATA = pathlib.Path(__file__).resolve().parents[2] / "data/edits"
TEXT = ("An orrery is a mechanical model of the solar system. Its arms are driven by a clockwork, so that each planet "
        "goes around the Sun at its own pace; the Moon goes around the Earth meanwhile, and")
TOP = 1000
# Of the largest difference of log-probabilities over the top 20, of KL over the top 1000 with all others as one, and of
# the perplexity's ratio: in float32, and where activations are rounded to 8 bits.
FLOAT, ROUNDED = (2e-3, 1e-4, 1e-4), (None, 2e-3, 5e-3)


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


try:
    import torch
    import transformers
    from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib
    sys.path.insert(0, str(DATA))
    import surgery
except ImportError as missing:
    skip(f"{missing}: pip install llama-cpp-py-sync transformers torch gguf")


def model_file():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    models = pathlib.Path(os.environ.get("ORRERY_MODELS") or cache / "orrery/models")
    return models / "smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


class Orrery:
    def __init__(self, program):
        self.program = program

    def run(self, *words):
        done = subprocess.run([self.program, *map(str, words), "--json"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return json.loads(done.stdout)

    def tokens(self, model):
        done = subprocess.run([self.program, "tokenize", str(model), "--json"], input=TEXT, capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)["ids"]

    def score(self, model, edits):
        """The likeliest next tokens with their log-probabilities, and the negative log-likelihood of a token."""
        with tempfile.TemporaryDirectory() as folder:
            recipe = pathlib.Path(folder) / "recipe.json"
            if edits:
                self.run("recipe", model, *edit_words(edits), "--out", recipe)
            told = self.run("score", model, "--exact", "--text", TEXT, "--top", TOP,
                            *(["--recipe", recipe] if edits else []))
        return {top["id"]: top["logprob"] for top in told["last_top"]}, told["nll_per_token"]


def edit_words(edits):
    return [word for edit in edits for word in ("--edit", edit)]


def of_logits(logits, ids):
    logprobs = torch.log_softmax(torch.as_tensor(logits).double(), -1)
    told = logprobs[:-1].gather(1, torch.tensor(ids)[1:, None])
    return logprobs[-1], -told.mean().item()


def llama_cpp(path, ids):
    ffi, lib = get_ffi(), get_lib()
    lib.llama_log_set(QUIET, ffi.NULL)
    lib.llama_backend_init()
    model = lib.llama_model_load_from_file(str(path).encode(), lib.llama_model_default_params())
    if model == ffi.NULL:
        raise RuntimeError(f"llama.cpp cannot load {path}")
    params = lib.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = 512
    params.n_threads = params.n_threads_batch = 2
    params.type_k = params.type_v = 0  # f32
    params.flash_attn_type = 0
    context = lib.llama_init_from_model(model, params)
    if context == ffi.NULL:
        raise RuntimeError(f"llama.cpp makes no context of {path}")
    batch = lib.llama_batch_init(len(ids), 0, 1)
    for i, token in enumerate(ids):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, i, 1, 0, 1
    batch.n_tokens = len(ids)
    if lib.llama_decode(context, batch):
        raise RuntimeError("llama.cpp decodes nothing")
    width = lib.llama_vocab_n_tokens(lib.llama_model_get_vocab(model))
    rows = torch.frombuffer(bytearray(ffi.buffer(lib.llama_get_logits(context), len(ids) * width * 4)),
                            dtype=torch.float32).reshape(len(ids), width)
    lib.llama_batch_free(batch)
    lib.llama_free(context)
    lib.llama_model_free(model)
    return of_logits(rows, ids)


QUIET = get_ffi().callback("void(int, const char *, void *)", lambda level, text, data: None)


def in_transformers(folder, ids):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return of_logits(model(torch.tensor([ids]), use_cache=False).logits[0], ids)


def difference(ours, theirs):
    """Largest of the top 20, KL, and by how much the perplexities' ratio is not 1."""
    (top, nll), (logprobs, their_nll) = ours, theirs
    ranked = sorted(top.items(), key=lambda entry: -entry[1])
    largest = max(abs(logprob - logprobs[token].item()) for token, logprob in ranked[:20])
    divergence = sum(math.exp(p) * (p - logprobs[token].item()) for token, p in ranked)
    rest = 1 - sum(math.exp(p) for _, p in ranked)
    their_rest = 1 - sum(math.exp(logprobs[token].item()) for token, _ in ranked)
    if rest > 0 and their_rest > 0:
        divergence += rest * math.log(rest / their_rest)
    return largest, divergence, abs(math.exp(their_nll - nll) - 1)


def within(found, bars):
    return all(bar is None or abs(value) <= bar for value, bar in zip(found, bars))


class Comparison:
    def __init__(self, orrery, work):
        self.orrery, self.work, self.rows, self.failures = orrery, work, [], []

    def expect(self, case, engine, ours, theirs, bars):
        found = difference(ours, theirs)
        self.rows.append((case, engine, *found))
        if not within(found, bars):
            self.failures.append(f"{case}, {engine}: {found} is more than {bars}")

    def exported(self, model, edits, name):
        out = self.work / name
        self.orrery.run("export", model, *edit_words(edits), "--out", out)
        return out

    def gguf(self, model, case, edits, ids):
        out = self.exported(model, edits, "as-stored.gguf")
        self.expect(case, "llama.cpp", self.orrery.score(model, edits), llama_cpp(out, ids), ROUNDED)
        out.unlink()
        edits = [*edits, "quantise scope=* type=f32"]
        out = self.exported(model, edits, "float.gguf")
        self.expect(case, "llama.cpp, f32", self.orrery.score(model, edits), llama_cpp(out, ids), FLOAT)
        out.unlink()

    def folder(self, model, case, edits, ids):
        if any(edit.startswith("steer") for edit in edits):  # a Llama of transformers has no bias there
            told = self.orrery.run("export", model, *edit_words(edits), "--dry-run")
            if not told["problems"]:
                self.failures.append(f"{case}: a vector was exported to a folder")
            return
        out = self.exported(model, edits, "folder-of-" + case.replace(" ", "-"))
        self.expect(case, "transformers", self.orrery.score(model, edits), in_transformers(out, ids), FLOAT)


def folder_of(file, work):
    """The same model as transformers saves it."""
    out = work / "model"
    transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name,
                                                      dtype=torch.float32).save_pretrained(out)
    transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(out)
    return out


def main(program, table):
    file = model_file()
    if not file.exists():
        skip(f"{file} was not fetched: ./bootstrap.sh test does")
    torch.set_num_threads(2)
    transformers.logging.set_verbosity_error()
    orrery = Orrery(program)
    ids = orrery.tokens(file)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        vector = work / "vector.npy"
        vector.write_bytes((DATA / "vector.npy").read_bytes())
        folder = folder_of(file, work)
        comparison = Comparison(orrery, work)
        for case, words in surgery.EDITS.items():
            edits = [edit.replace("{vector}", str(vector)) for edit in words]
            comparison.gguf(file, case, edits, ids)
            comparison.folder(folder, case, edits, ids)
    for row in comparison.rows:
        line = "| {} | {} | {:.5f} | {:.1e} | {:.1e} |" if table else "{}, {}: largest {:.5f}, KL {:.1e}, perplexity {:.1e}"
        print(line.format(*row))
    for failure in comparison.failures:
        print("FAILED", failure)
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--table" in sys.argv[2:]))
