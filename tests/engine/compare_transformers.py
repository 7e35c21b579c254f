#!/usr/bin/env python3
"""Loss and gradients of headroom-engine against transformers' autograd: the same random weights, by safetensors.

Usage: compare_transformers.py --build BUILD [--device cpu|cuda] [--keep FOLDER] [MODEL...]
  BUILD    a build folder of preset `engine`: its headroom and headroom-engine run
  MODEL    names of the table below; default: all

Needs torch, transformers and safetensors. Tiny models in fp32, several chunks; the engine trains one step of SGD
without clipping at a known rate, so that (weights before - weights after) / rate are its gradients. What
a step of rate 0 saved must load in transformers, with the same loss to the bit. Prints a table; exit 1 where an error
is above its bound.

Bound: as tests/engine/run/truth_test.cpp derives it for fp32. Both sides round here, so twice that of one.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from safetensors.torch import load_file

BOUND = 2 * 1.2e-4
# A power of two, so that dividing is exact; far above the weights over their gradients, so that what is lost in the
# sum is a rounding of the gradient, not of the weight.
RATE = 2.0**12
CONTEXT, CHUNK, PAGE = 150, 40, 8

SIZES = {
    "vocab_size": 160,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-6,
    "initializer_range": 0.15,
    "attention_dropout": 0.0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


def rope(theta, **scaling):
    """As transformers 5 names it; older ones take the same numbers under two keys."""
    parameters = {"rope_theta": theta, "rope_type": "default", **scaling}
    if int(transformers.__version__.split(".")[0]) >= 5:
        return {"rope_parameters": parameters}
    return {"rope_theta": theta, "rope_scaling": scaling or None}


def gemma_rope():
    kinds = {"sliding_attention": 100.0, "full_attention": 1000.0}
    if int(transformers.__version__.split(".")[0]) >= 5:
        full = {"rope_theta": kinds["full_attention"], "rope_type": "linear", "factor": 8.0}
        sliding = {"rope_theta": kinds["sliding_attention"], "rope_type": "default"}
        return {"rope_parameters": {"full_attention": full, "sliding_attention": sliding}}
    return {
        "rope_theta": kinds["full_attention"],
        "rope_local_base_freq": kinds["sliding_attention"],
        "rope_scaling": {"rope_type": "linear", "factor": 8.0},
    }


def models():
    t = transformers
    llama3 = {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64,
    }
    return {
        "qwen2": lambda: t.Qwen2Config(**SIZES, **rope(1000.0), tie_word_embeddings=False),
        "qwen2-tied": lambda: t.Qwen2Config(**SIZES, **rope(1000.0), tie_word_embeddings=True),
        "qwen3": lambda: t.Qwen3Config(**SIZES, **rope(1000.0), head_dim=16, tie_word_embeddings=False),
        "llama": lambda: t.LlamaConfig(**SIZES, **rope(1000.0), tie_word_embeddings=False),
        "llama-linear": lambda: t.LlamaConfig(
            **SIZES, **rope(1000.0, rope_type="linear", factor=8.0), tie_word_embeddings=False
        ),
        "llama-llama3": lambda: t.LlamaConfig(**SIZES, **rope(1000.0, **llama3), tie_word_embeddings=False),
        "mistral": lambda: t.MistralConfig(
            **SIZES, **rope(1000.0), head_dim=16, sliding_window=20, tie_word_embeddings=False
        ),
        "gemma3": lambda: t.Gemma3TextConfig(
            **SIZES,
            **gemma_rope(),
            head_dim=16,
            query_pre_attn_scalar=24,
            sliding_window=20,
            layer_types=["sliding_attention", "sliding_attention", "full_attention"],
            tie_word_embeddings=True,
        ),
    }


def truth(config, tokens, folder, device):
    """Loss and gradients by name; writes the weights and the config into `folder`."""
    torch.manual_seed(1)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32)
    with torch.no_grad():  # norms and biases too: those that training begins with would hide a wrong gradient
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    ids = torch.from_numpy(tokens.astype(numpy.int64))[None].to(device)
    model.to(device).train()
    loss = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    return loss.item(), {name: p.grad.cpu() for name, p in model.named_parameters()}


SCENARIO = """
model = "{folder}/config.json"
hardware = "h200-sxm-pcie5"
context = {context}

[training]
optimizer = "sgd"
gradients = "fp32"

[plan]
strategy = "chunked"
chunk = {chunk}
page = {page}
weights_dtype = "fp32"
kv_dtype = "fp32"
kv_gradients_dtype = "fp32"
attention = {{ kind = "dense" }}
"""


def step(build, folder, device, rate, saved):
    """Loss of one step of headroom-engine from the weights of `folder`; those after it go into its folder `saved`."""
    words = [build / "engine/headroom-engine", "run", folder / "plan.json", "--device", device, "--steps", "1"]
    words += ["--weights", folder, "--tokens", folder / "tokens.npy", "--save-weights", folder / saved]
    words += ["--learning-rate", str(rate), "--clip-norm", "0"]
    lines = [json.loads(line) for line in call(words).splitlines()]
    return next(line["loss"] for line in lines if line["event"] == "step")


def engine(build, folder, tokens, device):
    """Loss and gradients by name of one step of headroom-engine."""
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO.format(folder=folder, context=CONTEXT, chunk=CHUNK, page=PAGE))
    numpy.save(folder / "tokens.npy", tokens.astype(numpy.uint32))
    call([build / "sim/cli/headroom", "plan", scenario, "-q", "-o", folder / "plan.json"])
    loss = step(build, folder, device, RATE, "after")
    before, after = load_file(folder / "model.safetensors"), load_file(folder / "after/model.safetensors")
    return loss, {name: (before[name].double() - after[name].double()) / RATE for name in before}


def reloaded(folder, tokens, device):
    """Loss of a model that transformers loads from `folder`."""
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float32, output_loading_info=True
    )
    wrong = {key: found for key, found in info.items() if found}
    if wrong:
        sys.exit(f"{folder}: transformers does not load it whole: {wrong}")
    ids = torch.from_numpy(tokens.astype(numpy.int64))[None].to(device)
    with torch.no_grad():
        return model.to(device).train()(input_ids=ids, labels=ids, use_cache=False).loss.item()


def call(words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nexit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def off(a, b):
    b = b.double()
    return ((a.double() - b).norm() / b.norm()).item()


def compare(name, make, build, device, root):
    folder = pathlib.Path(root) / name
    folder.mkdir(parents=True, exist_ok=True)
    tokens = numpy.random.default_rng(2).integers(0, SIZES["vocab_size"], CONTEXT)
    loss, gradients = truth(make(), tokens, folder, device)
    found_loss, found = engine(build, folder, tokens, device)
    step(build, folder, device, 0, "same")
    again = reloaded(folder / "same", tokens, device)
    missing = set(found) ^ set(gradients)
    if missing:
        sys.exit(f"{name}: gradients of one side only: {sorted(missing)}")
    errors = {key: off(found[key], gradients[key]) for key in gradients}
    worst = max(errors, key=errors.get)
    flat = [torch.cat([g[key].double().flatten() for key in sorted(gradients)]) for g in (found, gradients)]
    whole, of_loss = off(*flat), abs(found_loss - loss) / loss
    bad = not (of_loss < BOUND and errors[worst] < BOUND and again == loss)
    saved = "equal" if again == loss else again
    row = f"| {name} | {loss:.6f} | {of_loss:.1e} | {whole:.1e} | {errors[worst]:.1e}, {worst} | {saved} |"
    print(row, flush=True)
    return bad


def main():
    transformers.utils.logging.disable_progress_bar()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--keep", help="leave the files there, for a look")
    parser.add_argument("model", nargs="*", choices=[[], *models()])
    options = parser.parse_args()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {options.device}, fp32; bound {BOUND:.1e}")
    print("| model | loss | error of it | of all gradients | of the worst parameter | saved, loaded |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        chosen = options.model or list(models())
        root = options.keep or scratch
        bad = [n for n in chosen if compare(n, models()[n], options.build.resolve(), options.device, root)]
    if bad:
        sys.exit(f"above the bound: {', '.join(bad)}")


if __name__ == "__main__":
    main()
