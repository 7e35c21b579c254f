#!/usr/bin/env python3
"""Loss and gradients of headroom-engine against transformers' autograd: the same random weights, by safetensors.

Usage: compare_transformers.py --build BUILD [--device cpu|cuda] [--keep FOLDER] [MODEL...]
  BUILD    a build folder of preset `engine`: its headroom and headroom-engine run
  MODEL    names of the table below; default: all but qwen2.5-7b

Needs torch, transformers and safetensors. Tiny models in fp32, several chunks; the engine writes its gradients
(--save-gradients) and its weights after a step of rate 0, which must load in transformers, with the same loss to the
bit. Prints a table; exit 1 where an error is above its bound. With --device cuda there is one more, not among the
default ones: qwen2.5-7b, of that shape, with a context of 8192, chunks of 2048 and bf16 in the engine against
fp32 over the whole sequence in transformers (80 GB of device memory, 45 GB of disk or of memory under --keep).

Bounds: as tests/engine/run/truth_test.cpp derives them. fp32: both sides round here, so twice that of one. bf16: some 20
stored values a layer, forward and backward, each rounded by up to 2^-9; 28 layers make sqrt(560) 2^-9 = 4.6e-2, and
the bound is twice that, for all gradients as one vector.
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
BOUND_BF16 = 2 * 4.6e-2
CONTEXT, CHUNK, PAGE = 150, 40, 8
LARGE = "qwen2.5-7b"

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


def step(build, folder, device, *more):
    """Loss of one step of headroom-engine at rate 0 from the weights of `folder`."""
    words = [build / "engine/headroom-engine", "run", folder / "plan.json", "--device", device, "--steps", "1"]
    words += ["--weights", folder, "--tokens", folder / "tokens.npy", "--learning-rate", "0", *more]
    lines = [json.loads(line) for line in call(words).splitlines()]
    return next(line["loss"] for line in lines if line["event"] == "step")


def plan(build, folder, tokens, scenario):
    (folder / "scenario.toml").write_text(scenario)
    numpy.save(folder / "tokens.npy", tokens.astype(numpy.uint32))
    call([build / "sim/cli/headroom", "plan", folder / "scenario.toml", "-q", "-o", folder / "plan.json"])


def engine(build, folder, tokens, device):
    """Loss and gradients by name of one step of headroom-engine; its folder `same` gets the weights."""
    plan(build, folder, tokens, SCENARIO.format(folder=folder, context=CONTEXT, chunk=CHUNK, page=PAGE))
    loss = step(build, folder, device, "--save-gradients", folder / "gradients", "--save-weights", folder / "same")
    return loss, load_file(folder / "gradients/model.safetensors")


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


LARGE_SCENARIO = """
model = "{folder}/config.json"
hardware = "h200-sxm-pcie5"
context = {context}

[training]
optimizer = "sgd"
gradients = "fp32"

[plan]
strategy = "chunked"
chunk = 2048
page = 128
kv = "host"
kv_gradients = "host"
attention = {{ kind = "dense" }}
"""


def compare_large(build, root):
    """bf16 on the GPU against fp32 over the whole sequence, at the size of Qwen2.5-7B."""
    folder, context, device = pathlib.Path(root) / LARGE, 8192, "cuda"
    folder.mkdir(parents=True, exist_ok=True)
    shape = {"vocab_size": 152064, "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28}
    shape |= {"num_attention_heads": 28, "num_key_value_heads": 4, "max_position_embeddings": 32768}
    config = transformers.Qwen2Config(**{**SIZES, **shape, "initializer_range": 0.02}, **rope(1000000.0),
                                      tie_word_embeddings=False)
    config._attn_implementation = "sdpa"
    torch.manual_seed(1)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa", dtype=torch.bfloat16)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:  # norms and biases, of which training begins with ones and zeros
                parameter += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder, max_shard_size="100GB")
    tokens = numpy.random.default_rng(2).integers(0, shape["vocab_size"], context)
    ids = torch.from_numpy(tokens.astype(numpy.int64))[None].to(device)
    model.float().train()
    model.gradient_checkpointing_enable()
    loss = model(input_ids=ids, labels=ids, use_cache=False).loss
    loss.backward()
    loss, truth = loss.item(), {name: p.grad.cpu() for name, p in model.named_parameters()}
    del model
    torch.cuda.empty_cache()
    plan(build, folder, tokens, LARGE_SCENARIO.format(folder=folder, context=context))
    found_loss = step(build, folder, device, "--save-gradients", folder / "gradients")
    found = load_file(folder / "gradients/model.safetensors")
    if set(found) != set(truth):
        sys.exit(f"{LARGE}: gradients of one side only: {sorted(set(found) ^ set(truth))}")
    squares = {"difference": 0.0, "truth": 0.0}
    errors = {}
    for name, gradient in truth.items():
        exact, ours = gradient.to(device), found[name].to(device)
        difference, size = (ours - exact).double().norm().item(), exact.double().norm().item()
        errors[name] = difference / size
        squares["difference"] += difference**2
        squares["truth"] += size**2
    whole, worst = (squares["difference"] / squares["truth"]) ** 0.5, max(errors, key=errors.get)
    of_loss = abs(found_loss - loss) / loss
    print(f"| {LARGE}, bf16 | {loss:.6f} | {of_loss:.1e} | {whole:.1e} | {errors[worst]:.1e}, {worst} | |", flush=True)
    return not (whole < BOUND_BF16 and of_loss < BOUND_BF16)


def main():
    transformers.utils.logging.disable_progress_bar()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--keep", help="leave the files there, for a look")
    parser.add_argument("model", nargs="*", choices=[[], *models(), LARGE])
    options = parser.parse_args()
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, {options.device}, fp32; bound {BOUND:.1e}")
    print("| model | loss | error of it | of all gradients | of the worst parameter | saved, loaded |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        chosen = options.model or list(models())
        if LARGE in chosen and options.device != "cuda":
            parser.error(f"{LARGE} needs --device cuda")
        root = options.keep or scratch
        build = options.build.resolve()
        bad = [n for n in chosen if n != LARGE and compare(n, models()[n], build, options.device, root)]
        if LARGE in chosen and compare_large(build, root):
            bad.append(LARGE)
    if bad:
        sys.exit(f"above the bound: {', '.join(bad)}")


if __name__ == "__main__":
    main()
