"""Recipes like NeMo RL's public ones, as many as asked for: the keys, their values and how often each is set, from tests/cases/recipes/keys.tsv.

    make_recipes.py FOLDER [--recipes N] [--seed S]

Writes roots, files in between and the recipes themselves, in chains of 1 to 6 files as long as the public ones are; prints the recipes' paths. The same
seed gives the same files.
"""
import argparse
import json
import pathlib
import random

KEYS = pathlib.Path(__file__).resolve().parents[2] / "cases" / "recipes" / "keys.tsv"
PUBLIC_RECIPES = 295
# Of the public recipes: how many are for an algorithm, and how many have a chain of that many files.
ALGORITHMS = {"grpo": 217, "sft": 29, "distillation": 17, "dpo": 12, "ppo": 10, "eval": 9, "rm": 1}
CHAIN_LENGTHS = {1: 8, 2: 139, 3: 105, 4: 34, 5: 8, 6: 1}
SHARED = ("data", "env", "logger", "checkpointing", "cluster")
SECTIONS = {
    "grpo": ("grpo", "loss_fn", "policy", "data_plane"),
    "sft": ("sft", "policy"),
    "dpo": ("dpo", "policy"),
    "rm": ("rm", "policy"),
    "ppo": ("ppo", "loss_fn", "value_loss_fn", "policy", "value"),
    "distillation": ("distillation", "loss_fn", "policy", "teacher"),
    "eval": ("eval",),
}
COMPUTED = {
    "policy.sequence_packing.train_mb_tokens": "${mul:${policy.max_total_sequence_length}, ${policy.train_micro_batch_size}}",
    "data.max_input_seq_length": "${policy.max_total_sequence_length}",
    "policy.tokenizer.name": "${policy.model_name}",
}
SCHEDULER = [
    {"name": "torch.optim.lr_scheduler.LinearLR", "kwargs": {"start_factor": 0.1, "end_factor": 1.0, "total_iters": 10}},
    {"name": "torch.optim.lr_scheduler.ConstantLR", "kwargs": {"factor": 1.0, "total_iters": 10000000000}},
    {"milestones": [10]},
]


class Key:
    def __init__(self, line):
        self.name, _, recipes, files, values = line.rstrip("\n").split("\t")
        self.recipes, self.files = int(recipes), int(files)
        self.values = [(value, count) for value, count in json.loads(values) if "${" not in str(value)]

    def draw(self, dice):
        if not self.values:
            return None
        return dice.choices([value for value, _ in self.values], [count for _, count in self.values])[0]


def read_keys():
    """Without sections: they are there by their keys."""
    keys = [Key(line) for line in KEYS.read_text().splitlines() if not line.startswith("#")]
    names = {key.name for key in keys}
    sections = {name[:at] for name in names for at, letter in enumerate(name) if letter == "."}
    return [key for key in keys if key.name not in sections and ".scheduler." not in key.name]


def put(tree, name, value):
    *path, last = name.split(".")
    for segment in path:
        tree = tree.setdefault(segment, {})
    tree[last] = value


def lines(tree, depth, dice):
    for name, value in tree.items():
        indent = "  " * depth
        comment = "  # as measured" if dice.random() < 0.05 else ""
        if isinstance(value, dict) and value:
            yield f"{indent}{name}:{comment}"
            yield from lines(value, depth + 1, dice)
        else:
            written = value if isinstance(value, str) and value.startswith("${") else json.dumps(value, ensure_ascii=False)
            yield f"{indent}{name}: {written}{comment}"


class Maker:
    def __init__(self, folder, seed):
        self.folder = folder
        self.dice = random.Random(seed)
        self.keys = read_keys()
        self.parents = {}  # (algorithm, files above it) -> what there is to choose from

    def write(self, place, tree, parent):
        file = self.folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "# Made by tests/bench/recipes/make_recipes.py\n"
        if parent:
            up = "/".join([".."] * (len(pathlib.PurePath(place).parts) - 1))
            text += f"defaults: {up + '/' if up else ''}{parent}\n"
        file.write_text(text + "\n".join(lines(tree, 0, self.dice)) + "\n")
        return place

    def of(self, algorithm):
        sections = SECTIONS[algorithm] + SHARED
        return [key for key in self.keys if key.name.split(".")[0] in sections]

    def root(self, algorithm, place):
        """What most recipes of the algorithm have."""
        tree = {}
        computed = COMPUTED if "policy" in SECTIONS[algorithm] else {}
        for key in self.of(algorithm):
            most = max(1, min(ALGORITHMS[algorithm], PUBLIC_RECIPES) // 2)
            if key.recipes >= most or (key.recipes == 0 and self.dice.random() < 0.2):
                put(tree, key.name, computed.get(key.name, key.draw(self.dice)))
        if algorithm != "eval":
            put(tree, "policy.model_name", "Qwen/Qwen2.5-1.5B")
            put(tree, "policy.scheduler", SCHEDULER)
        return self.write(place, tree, None)

    def child(self, algorithm, place, parent):
        """As many keys as the public files set themselves."""
        tree = {}
        for key in self.of(algorithm):
            if key.values and self.dice.random() < key.files / PUBLIC_RECIPES:
                put(tree, key.name, key.draw(self.dice))
        return self.write(place, tree, parent)

    def parent(self, algorithm, above):
        """A file with `above` files above it: mostly one that others have, too."""
        known = self.parents.setdefault((algorithm, above), [])
        if known and (above == 0 or self.dice.random() < 0.8):
            return self.dice.choice(known)
        place = f"common/{algorithm}-{above}-{len(known)}.yaml"
        made = self.root(algorithm, place) if above == 0 else self.child(algorithm, place, self.parent(algorithm, above - 1))
        known.append(made)
        return made

    def recipe(self, number):
        algorithm = self.dice.choices(list(ALGORITHMS), list(ALGORITHMS.values()))[0]
        files = self.dice.choices(list(CHAIN_LENGTHS), list(CHAIN_LENGTHS.values()))[0]
        place = f"recipes/{algorithm}/{number:04}-{files}-files.yaml"
        if files == 1:
            return self.root(algorithm, place)
        return self.child(algorithm, place, self.parent(algorithm, files - 2))


def make_recipes(folder, recipes=300, seed=1):
    """The paths of the recipes."""
    maker = Maker(pathlib.Path(folder), seed)
    return [str(maker.folder / maker.recipe(number)) for number in range(recipes)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes recipes.")
    parser.add_argument("folder")
    parser.add_argument("--recipes", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("\n".join(make_recipes(arguments.folder, arguments.recipes, arguments.seed)))
