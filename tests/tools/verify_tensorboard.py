#!/usr/bin/env python3
"""Do PyTorch's SummaryWriter and TensorBoard's reader understand Ringwright, and it them? A run is written as NeMo RL writes one, imported, compared, exported, and read by
TensorBoard. usage: verify_tensorboard.py BIN (the folder of the built programs)"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

PROGRAM = os.path.join(os.path.abspath(sys.argv[1]), "ringwright")
STEPS = 50


def as_float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def values():
    odd = {7: math.nan, 8: math.inf, 9: -math.inf, 10: 1e-300}
    return {
        "train/loss": {step: 10 / step for step in range(1, STEPS + 1)},
        "train/grad_norm": {step: odd.get(step, step / 3) for step in range(1, STEPS + 1)},
        "validation/val_loss": {step: 2.5 for step in range(10, STEPS + 1, 10)},
        "timing/train/total_step_time": {step: 1.25 for step in range(1, STEPS + 1)},
    }


def write(folder):
    writer = SummaryWriter(folder)
    for tag, points in values().items():
        for step, value in points.items():
            writer.add_scalar(tag, value, step)
    writer.add_scalar("new_style", 0.5, 3, new_style=True)
    writer.add_text("config", "some text", 0)
    writer.add_histogram("weights", [0.0, 1.0, 2.0], 1)
    writer.add_hparams({"policy.model_name": "Qwen/Qwen2.5-1.5B", "policy.train_global_batch_size": 32, "sft.shuffle": True}, {}, run_name="hparams")
    writer.close()


def ringwright(folder, *arguments):
    environment = dict(os.environ, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder, XDG_RUNTIME_DIR=folder)
    result = subprocess.run([PROGRAM, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
    if result.returncode != 0:
        sys.exit(f"ringwright {' '.join(arguments)} exited with {result.returncode}:\n{result.stderr}")
    return result.stdout


def check(what, good):
    if not good:
        sys.exit(f"not equal: {what}")
    print(f"equal: {what}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(os.path.join(folder, "logs"))
        reports = json.loads(ringwright(folder, "runs", "import", "logs", "--name", "nemo", "--json"))
        expected = sum(len(points) for points in values().values()) + 1
        check(f"{expected} points imported", [report["points"] for report in reports] == [expected])
        run = reports[0]["run"]
        shown = json.loads(ringwright(folder, "runs", "show", run, "--json"))
        check("hyperparameters", shown["recipe"] == {"policy": {"model_name": "Qwen/Qwen2.5-1.5B", "train_global_batch_size": 32}, "sft": {"shuffle": True}})
        found = json.loads(ringwright(folder, "runs", "list", "recipe.policy.model_name ~ qwen and loss.last < 0.25 and grad_norm.nan = 1", "--json"))
        check("the run found by a query", [entry["id"] for entry in found] == [run])
        for tag, points in values().items():
            kept = json.loads(ringwright(folder, "runs", "metrics", run, "-m", tag, "--json"))["metrics"][tag]
            numbers = {point["step"]: float(point["value"]) for point in kept}
            check(f"{tag} as imported", numbers.keys() == points.keys() and all(same(numbers[step], as_float32(value)) for step, value in points.items()))
        ringwright(folder, "runs", "export", run, "--format", "tensorboard", "-o", "exported")
        accumulator = EventAccumulator(os.path.join(folder, "exported"), size_guidance={"scalars": 0})
        accumulator.Reload()
        check("tags", set(accumulator.Tags()["scalars"]) == set(values()) | {"new_style"})
        for tag, points in values().items():
            read = {event.step: event.value for event in accumulator.Scalars(tag)}
            check(f"{tag} as TensorBoard reads it", read.keys() == points.keys() and all(same(read[step], as_float32(value)) for step, value in points.items()))


if __name__ == "__main__":
    main()
