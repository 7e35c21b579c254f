#!/usr/bin/env python3
"""How far the gradients of two runs are apart, by kind of tensor.

    headroom run a.plan.json --save-gradients A ...
    headroom run b.plan.json --save-gradients B ...
    tests/engine/compare_gradients.py A B

Prints |b - a| / |a| in the 2-norm, of all tensors of a kind together and of the worst one (docs/fp8-pages.md has
such tables). Needs torch and safetensors.
"""
import argparse
import pathlib
import re
import sys

import torch
from safetensors import safe_open


def relative(rows):
    size = sum(row[1] for row in rows)
    return (sum(row[0] for row in rows) / size) ** 0.5 if size > 0 else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", type=pathlib.Path, help="folder that --save-gradients wrote: what is compared with")
    parser.add_argument("b", type=pathlib.Path, help="the other one")
    parser.add_argument("--device", default="cpu", help="where to compute: cpu or cuda")
    arguments = parser.parse_args()
    files = []
    for folder in (arguments.a, arguments.b):
        file = folder / "model.safetensors"
        if not file.is_file():
            sys.exit(f"compare_gradients: {file}: no such file; allowed: a folder that --save-gradients wrote")
        files.append(safe_open(str(file), "pt"))
    a, b = files
    if sorted(a.keys()) != sorted(b.keys()):
        sys.exit("compare_gradients: the two have not the same tensors; allowed: runs of one model")
    kinds = {}
    for name in sorted(a.keys()):
        x = a.get_tensor(name).to(arguments.device, torch.float64)
        y = b.get_tensor(name).to(arguments.device, torch.float64)
        if not (torch.isfinite(x).all() and torch.isfinite(y).all()):
            sys.exit(f"compare_gradients: {name}: not finite")
        kind = re.sub(r"^model\.|layers\.\d+\.", "", name)
        difference, size = float((y - x).square().sum()), float(x.square().sum())
        kinds.setdefault(kind, []).append((difference, size, name))
    print("| tensors | all together | worst | which |\n|---|---|---|---|")
    everything = []
    for kind, rows in kinds.items():
        everything += rows
        worst = max(rows, key=lambda row: relative([row]))
        which = re.search(r"layers\.(\d+)", worst[2])
        print(f"| {kind} | {relative(rows):.2e} | {relative([worst]):.2e} | {'layer ' + which[1] if which else ''} |")
    worst = max(everything, key=lambda row: relative([row]))
    print(f"| all gradients | {relative(everything):.2e} | {relative([worst]):.2e} | {worst[2]} |")


if __name__ == "__main__":
    main()
