#!/usr/bin/env python3
"""What other engines compute of exported models is what Orrery computes of the edited one: SmolLM2 with each of the
edits of tests/data/edits/surgery.py, as a GGUF file in transformers and llama.cpp (as the model is stored, and in
float32), and as a folder in transformers. Exits with 77 where a package or the model is not there.

  pip install cyllama==0.2.18 transformers==5.24.0 torch gguf==0.19.0 accelerate
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
# the perplexity's ratio. In float32; and in llama.cpp on 4 bits, whose own arithmetic is 3e-3 off on the file that was
# never edited: its bar tells a model that runs from one that is broken, and no more.
FLOAT, ROUNDED = (2e-3, 1e-4, 1e-4), (None, 0.1, None)


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


try:
    import torch
    import transformers
    from cyllama.llama import llama_cpp
    sys.path.insert(0, str(DATA))
    import surgery
except ImportError as missing:
    skip(f"{missing}: pip install cyllama transformers torch gguf")


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


def adds_vector(edits):
    """Which becomes a bias that the Llama of transformers does not have."""
    return any(edit.startswith("steer") for edit in edits)


def edit_words(edits):
    return [word for edit in edits for word in ("--edit", edit)]


def of_logits(logits, ids):
    logprobs = torch.log_softmax(torch.as_tensor(logits).double(), -1)
    told = logprobs[:-1].gather(1, torch.tensor(ids)[1:, None])
    return logprobs[-1], -told.mean().item()


class Model(llama_cpp.LlamaModel):
    """With the size that the wrapper asks its model for."""
    @property
    def n_vocab(self):
        return self.get_vocab().n_vocab


def in_llama_cpp(path, ids):
    params = llama_cpp.LlamaContextParams()
    params.n_ctx = params.n_batch = params.n_ubatch = 512
    params.n_threads = params.n_threads_batch = 2
    params.type_k = params.type_v = 0  # f32
    params.flash_attn_type = 0
    context = llama_cpp.LlamaContext(Model(str(path)), params)
    batch = llama_cpp.LlamaBatch(n_tokens=len(ids), embd=0, n_seq_max=1)
    for position, token in enumerate(ids):
        batch.add(token, position, [0], True)
    context.decode(batch)
    return of_logits([context.get_logits_ith(i) for i in range(len(ids))], ids)


def in_transformers(path, ids):
    where = dict(pretrained_model_name_or_path=path) if path.is_dir() else dict(
        pretrained_model_name_or_path=path.parent, gguf_file=path.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32).eval()
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
        self.orrery.run("export", model, "--exact", *edit_words(edits), "--out", out)  # vectors of texts too
        return out

    def gguf(self, model, case, edits, ids):
        out = self.exported(model, edits, "as-stored.gguf")
        ours = self.orrery.score(model, edits)
        if not adds_vector(edits):
            self.expect(case, "transformers, GGUF", ours, in_transformers(out, ids), FLOAT)
        self.expect(case, "llama.cpp", ours, in_llama_cpp(out, ids), ROUNDED)
        if not edits and out.read_bytes() != model.read_bytes():
            self.failures.append(f"{case}: the file is another than the model's")
        out.unlink()
        edits = [*edits, "quantise scope=* type=f32"]
        out = self.exported(model, edits, "float.gguf")
        self.expect(case, "llama.cpp, f32", self.orrery.score(model, edits), in_llama_cpp(out, ids), FLOAT)
        out.unlink()

    def folder(self, model, case, edits, ids):
        if adds_vector(edits):
            told = self.orrery.run("export", model, *edit_words(edits), "--dry-run")
            if not told["problems"]:
                self.failures.append(f"{case}: a vector was exported to a folder")
            return
        out = self.exported(model, edits, "folder-of-" + case.replace(" ", "-"))
        self.expect(case, "transformers, folder", self.orrery.score(model, edits), in_transformers(out, ids), FLOAT)


def folder_of(file, work):
    """The same model as transformers saves it."""
    out = work / "model"
    read = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    sizes = {key: value for key, value in read.config.to_dict().items() if key != "quantization_config"}
    model = type(read)(type(read.config).from_dict(sizes))  # one that was read from GGUF cannot be saved
    model.load_state_dict(read.state_dict())
    model.save_pretrained(out)
    transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(out)
    return out


def main(program, table):
    file = model_file()
    if not file.exists():
        skip(f"{file} was not fetched: ./bootstrap.sh test does")
    torch.set_num_threads(2)
    llama_cpp.disable_logging()
    llama_cpp.llama_backend_init()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
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
