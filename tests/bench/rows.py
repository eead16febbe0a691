"""The table of benchmarks: one entry a row. A new benchmark is a new entry."""
import pathlib
from dataclasses import dataclass, field
from typing import Callable, Optional


@dataclass
class Figure:
    """One number of a row. `ours` and `peer` are keys of the JSON that the two commands print (peer: None for a figure of ours alone)."""
    name: str
    ours: str
    peer: Optional[str] = None
    unit: str = ""
    scale: float = 1.0           # ours is multiplied by it for display
    peer_scale: float = 1.0      # brings the peer's number to the same unit
    at_most: Optional[float] = None
    at_least: Optional[float] = None
    text: bool = False           # a name instead of a number: that of most pairs is shown
    timed: bool = True           # False: a busy machine does not change it (memory, counts)


@dataclass
class Row:
    name: str
    title: str
    ours: Callable               # (paths) -> command
    figures: list
    peer: Optional[Callable] = None
    prepare: Optional[Callable] = None  # (paths) -> command that makes what both sides need, or None when it is there
    threads: int = 1
    needs: list = field(default_factory=list)  # programs that must have been built


def _model_folder(paths):
    return str(paths.cache / "bench" / "llama-58m")


def _make_model(paths):
    if (paths.cache / "bench" / "llama-58m" / "model.safetensors").exists():
        return None
    return [paths.python, str(paths.peers / "make_model.py"), "--out", _model_folder(paths)]


def _ring(paths, ranks, tokens=8192, kv_heads=8, *options):
    return [str(paths.tests / "bench_ring_attention"), "--ranks", str(ranks), "--tokens", str(tokens), "--heads", "8", "--kv-heads", str(kv_heads),
            "--head-size", "64", "--repeats", str(_ring_repeats(tokens)), *options]


def _ring_python(paths, tokens, *options):
    return [paths.python, str(paths.peers / "ring_cpu_peer.py"), "--seq", str(tokens), "--repeats", str(_ring_repeats(tokens)), *options]


def _ring_repeats(tokens):
    """A pair is short, so that it fits into a quiet moment."""
    return 1 if tokens >= 8192 else 5


def _ring_rows(tokens, share, wall, python, library):
    """The rows of one length against one rank, the ring in Python and the library; shares and speed-ups to reach."""
    words = f"{tokens:,} tokens, 8 heads of 64, causal, forward + backward"
    suffix = "" if tokens == 8192 else f"-{tokens}"
    program = ["tests/bench_ring_attention"]
    return [
        Row(f"ring{suffix}", f"Ring attention, {words}: 2 ranks of 1 thread against 1 rank", needs=program,
            ours=lambda p: _ring(p, 2, tokens), peer=lambda p: _ring(p, 1, tokens),
            figures=[Figure("CPU time of the slowest rank", "cpu_s_slowest", "cpu_s_slowest", "s", at_most=share),
                     Figure("wall time", "wall_s", "wall_s", "s", at_most=wall),
                     Figure("slowest rank over fastest", "slowest_over_fastest", at_most=1.03)]),
        Row(f"ring-python{suffix}", f"Ring attention, {words}: ours against the ring in Python, both on 2 ranks of 1 thread", needs=program,
            ours=lambda p: _ring(p, 2, tokens), peer=lambda p: _ring_python(p, tokens),
            figures=[Figure("wall time", "wall_s", "ring_fwd_bwd_ms", "s", peer_scale=1e-3, at_most=python)]),
        Row(f"ring-library{suffix}", f"Ring attention, {words}: ours against axolotl-ringmaster, both on 2 ranks of 1 thread", needs=program,
            ours=lambda p: _ring(p, 2, tokens), peer=lambda p: _ring_python(p, tokens, "--library"),
            figures=[Figure("wall time", "wall_s", "library_fwd_bwd_ms", "s", peer_scale=1e-3, at_most=library)]),
    ]


def _packed_row(documents, layout):
    packed = ["--documents", str(documents), "--layout", layout, "--method", "ranged" if layout == "balanced" else "ring"]
    apart = ["--documents", str(documents), "--layout", "thd", "--one-by-one"]
    return Row(f"packed-{layout}-{documents}", f"{documents} documents in 8,192 tokens, 2 ranks of 1 thread: packed ({layout}) against one after the other",
               ours=lambda p: _ring(p, 2, 8192, 8, *packed), peer=lambda p: _ring(p, 2, 8192, 8, *apart), needs=["tests/bench_ring_attention"],
               figures=[Figure("wall time", "wall_s", "wall_s", "s", at_most=1.10),
                        Figure("CPU time of the slowest rank over the mean", "slowest_over_mean", at_most=1.05)])


def _memory_row(ranks, share):
    return Row(f"ring-memory-{ranks}", f"Live tensor bytes of ring attention, 8,192 tokens, 8 heads of 64, forward + backward: {ranks} ranks against 1",
               ours=lambda p: _ring(p, ranks), peer=lambda p: _ring(p, 1), needs=["tests/bench_ring_attention"],
               figures=[Figure("peak of the rank with the most", "live_mib", "live_mib", "MiB", at_most=share, timed=False)])


def _methods_row(ranks):
    """Every method at every length, each as a multiple of the fastest there; what `auto` takes must be near it."""
    lengths = (1024, 2048, 4096, 8192, 16384)
    methods = ("ring", "ranged", "all_gather", "all_to_all") + (("all_to_all+ring",) if ranks > 2 else ())
    figures = [Figure("fastest method", "crossover", text=True)]
    for tokens in lengths:
        figures += [Figure(f"{tokens:,} tokens, {name} over the fastest", f"{name}_{tokens}") for name in methods]
        figures += [Figure(f"{tokens:,} tokens, auto takes", f"chosen_{tokens}", text=True),
                    Figure(f"{tokens:,} tokens, auto over the fastest", f"auto_{tokens}", at_most=1.05)]
    return Row("methods" if ranks == 2 else f"methods-{ranks}",
               f"Attention methods on {ranks} ranks of 1 thread, 8 heads of 64, causal, forward + backward: wall time over that of the fastest",
               ours=lambda p: [p.system_python, str(p.bench / "methods.py"), str(p.tests / "bench_ring_attention"), str(ranks), *map(str, lengths)],
               needs=["tests/bench_ring_attention"], figures=figures)


def _transport(paths, name):
    return [str(paths.tests / "bench_transport"), "--transport", name]


def _metric_stream(paths):
    return [str(paths.tests / "bench_metric_stream"), "--worker", str(paths.bin / "ringwright-worker")]


def _history(paths, name="history.db"):
    return str(paths.cache / "bench" / name)


def _make_history(paths, name="history.db", *options):
    if pathlib.Path(_history(paths, name)).exists():
        return None
    (paths.cache / "bench").mkdir(parents=True, exist_ok=True)
    return [str(paths.tests / "bench_history_reads"), "make", "--store", _history(paths, name), *options]


def _history_reads(paths, what, name="history.db"):
    return [str(paths.tests / "bench_history_reads"), what, "--store", _history(paths, name)]


def _console(paths, *arguments):
    return [str(paths.tests / "bench_console"), *arguments]


def _under_xvfb(command):
    return ["xvfb-run", "-a", "-s", "-screen 0 1920x1200x24 -noreset", *command]


def _frame_figures(p95_ms, p99_ms, moved, words):
    """Of a steady frame, and of one while the operator does something (`moved` is the prefix of its keys)."""
    return [Figure("steady, p95", "p95_ms", unit="ms", at_most=p95_ms), Figure("steady, p99", "p99_ms", unit="ms", at_most=p99_ms),
            Figure("steady, allocations a frame", "allocations", at_most=0, timed=False),
            Figure(f"{words}, p95", f"{moved}_p95_ms", unit="ms", at_most=p95_ms), Figure(f"{words}, p99", f"{moved}_p99_ms", unit="ms", at_most=p99_ms)]


_CONSOLE = ["tests/bench_console"]
_HISTORY_PROGRAMS = ["tests/bench_history_reads", "ringwright"]
_LARGE_HISTORY = ("history-100m.db", "--runs", "0", "--metrics", "0", "--points", "100000000")
_QUERY = 'state = failed and mesh.cp >= 2 and loss.last < 2.1 and recipe.policy.model_name ~ "qwen" order by started desc limit 20'
_METRIC_PROGRAMS = ["tests/bench_metric_stream", "ringwrightd", "ringwright-worker"]
_STEP = ["--batch", "1", "--seq", "1024", "--steps", "5"]

ROWS = [
    *_ring_rows(8192, share=0.52, wall=1 / 1.93, python=1.0, library=0.2),
    *_ring_rows(2048, share=0.57, wall=1 / 1.75, python=1 / 1.12, library=0.2),
    Row("ring-gqa", "Ring attention, 8,192 tokens, 8 query heads, 2 ranks of 1 thread: 2 key/value heads against 8",
        ours=lambda p: _ring(p, 2, kv_heads=2), peer=lambda p: _ring(p, 2, kv_heads=8), needs=["tests/bench_ring_attention"],
        figures=[Figure("CPU time of the slowest rank", "cpu_s_slowest", "cpu_s_slowest", "s", at_most=1.0),
                 Figure("wall time", "wall_s", "wall_s", "s", at_most=1.0)]),
    Row("check-recipes", "`ringwright check` on 300 recipes with the public recipes' keys and values, chains of 1 to 6 files, in one call",
        ours=lambda p: [p.system_python, str(p.bench / "recipes" / "check_recipes.py"), str(p.bin / "ringwright")], needs=["ringwright"],
        figures=[Figure("wall time", "wall_s", unit="s", at_most=2.0), Figure("CPU time", "cpu_s", unit="s"),
                 Figure("recipes", "recipes", timed=False), Figure("files", "files", timed=False)]),
    Row("layout-maps", "Layout maps of 1,048,576 tokens at cp = 64: each layout made, all ranks' maps and their inverse, the slowest layout",
        ours=lambda p: [str(p.tests / "bench_layout_maps")], needs=["tests/bench_layout_maps"],
        figures=[Figure("time", "slowest_ms", unit="ms", at_most=20),
                 Figure("allocations per token", "allocations_per_token", at_most=0.01, timed=False)]),
    *[_packed_row(documents, layout) for layout in ("thd", "balanced") for documents in (1, 5, 50)],
    _methods_row(2),
    _methods_row(4),
    _memory_row(2, 0.80),
    _memory_row(4, 0.45),
    Row("transport", "Blocks of 8 MiB both ways between 2 ranks of one host: shared memory against Gloo over loopback TCP",
        ours=lambda p: _transport(p, "shared_memory"), peer=lambda p: _transport(p, "gloo"), needs=["tests/bench_transport"],
        figures=[Figure("GiB per second, each way", "gib_per_s", "gib_per_s", "GiB/s", at_least=1.0),
                 Figure("CPU time per GiB", "cpu_s_per_gib", "cpu_s_per_gib", "s", at_most=1.0),
                 Figure("a step with 64 bytes", "small_us", "small_us", "us", at_most=1.0)]),
    Row("train-step", "Training step, 58M Llama, 1 x 1,024 tokens, cp = 1, 2 threads: ours against PyTorch + transformers",
        ours=lambda p: [str(p.tests / "bench_train_step"), "--model", _model_folder(p), *_STEP], threads=2, prepare=_make_model,
        peer=lambda p: [p.python, str(p.peers / "train_step.py"), "--model", _model_folder(p), *_STEP], needs=["tests/bench_train_step"],
        figures=[Figure("tokens per second", "tokens_per_s", "tokens_per_s", "tokens/s", at_least=1.0),
                 Figure("CPU time of the process", "process_cpu_s", "process_cpu_s", "s"),
                 Figure("peak memory", "peak_rss_mib", "peak_rss_mib", "MiB", at_most=0.7, timed=False)]),
    Row("metrics", "Metric points from 4 talk-only workers through the daemon into SQLite",
        ours=_metric_stream, needs=_METRIC_PROGRAMS,
        figures=[Figure("points per second", "points_per_s", unit="points/s", at_least=100_000),
                 Figure("points lost", "lost", at_most=0, timed=False),
                 Figure("daemon's peak memory", "daemon_peak_rss_mib", unit="MiB", timed=False)]),
    Row("metrics-stalled", "The same with a console that takes nothing: against no console",
        ours=lambda p: [*_metric_stream(p), "--stalled-subscriber"], peer=_metric_stream, needs=_METRIC_PROGRAMS,
        figures=[Figure("points per second", "points_per_s", "points_per_s", "points/s", at_least=0.95),
                 Figure("points lost", "lost", at_most=0, timed=False)]),
    Row("metrics-8", "Metric points from 8 talk-only workers through the daemon into SQLite, durable",
        ours=lambda p: [*_metric_stream(p), "--workers", "8", "--points", "4000000"], needs=_METRIC_PROGRAMS,
        figures=[Figure("points per second", "points_per_s", unit="points/s", at_least=200_000),
                 Figure("points lost", "lost", at_most=0, timed=False),
                 Figure("daemon's CPU time per second", "daemon_cores", at_most=1.0),
                 Figure("daemon's peak memory", "daemon_peak_rss_mib", unit="MiB", at_most=100, timed=False)]),
    Row("history-list", "ringwright runs list of 10,000 runs with a filter",
        ours=lambda p: [str(p.bin / "ringwright"), "runs", "list", _QUERY, "--store", _history(p)], prepare=_make_history, needs=_HISTORY_PROGRAMS,
        figures=[Figure("time", "process_wall_s", unit="ms", scale=1e3, at_most=100)]),
    Row("history-show", "ringwright runs show of a run with 12,000 metrics",
        ours=lambda p: [str(p.bin / "ringwright"), "runs", "show", "r_f0000001", "--store", _history(p)], prepare=_make_history,
        needs=_HISTORY_PROGRAMS, figures=[Figure("time", "process_wall_s", unit="ms", scale=1e3, at_most=200)]),
    Row("history-reduce", "A series of 1,000,000 points reduced to 2,000 pixels, the file out of the cache",
        ours=lambda p: _history_reads(p, "reduce"), prepare=_make_history, needs=_HISTORY_PROGRAMS,
        figures=[Figure("time", "cold_ms", unit="ms", at_most=20),
                 Figure("then another stretch of it", "zoom_ms", unit="ms"),
                 Figure("values read for each pixel", "values_per_pixel", at_most=4, timed=False),
                 Figure("spikes and NaN marks lost", "lost", at_most=0, timed=False)]),
    Row("history-open", "A history of 100,000,000 values opened, the file out of the cache (made first: 5 GiB)",
        ours=lambda p: _history_reads(p, "open", _LARGE_HISTORY[0]), prepare=lambda p: _make_history(p, *_LARGE_HISTORY), needs=_HISTORY_PROGRAMS,
        figures=[Figure("time", "open_ms", unit="ms", at_most=300)]),
    Row("daemon", "ringwrightd from its start to READY=1",
        ours=lambda p: [p.system_python, str(p.bench / "daemon_ready.py"), str(p.bin / "ringwrightd")], needs=["ringwrightd"],
        figures=[Figure("ready after", "ready_ms", unit="ms", at_most=50),
                 Figure("memory", "memory_mib", unit="MiB", at_most=30, timed=False)]),
    Row("console-plots", "Console frame, NewFrame to Render, null backend: 8 plots x 20 series x 1M points", needs=_CONSOLE,
        ours=lambda p: _console(p, "plots"), figures=_frame_figures(8, 16, "zoom", "zooming")),
    Row("console-plots-smoothed", "The same with smoothed lines over the raw ones, 100,000 points a series", needs=_CONSOLE,
        ours=lambda p: _console(p, "plots", "--points", "100000", "--smoothing", "0.9"), figures=_frame_figures(8, 16, "zoom", "zooming")),
    Row("console-layout", "Console frame, Layout view with 64 ranks x 1M tokens", needs=_CONSOLE,
        ours=lambda p: _console(p, "layout"), figures=_frame_figures(8, None, "zoom", "zooming")),
    Row("console-runs", "Console frame, Runs table with 10,000 runs", needs=_CONSOLE,
        ours=lambda p: _console(p, "runs"),
        figures=[*_frame_figures(8, None, "scroll", "scrolling"), Figure("filter answers after", "filter_ms", unit="ms", at_most=100)]),
    Row("console-logs", "Console frame, Logs with 1M lines", needs=_CONSOLE,
        ours=lambda p: _console(p, "logs"),
        figures=[*_frame_figures(8, None, "scroll", "scrolling"), Figure("filter answers after, the page shown", "filter_ms", unit="ms", at_most=100),
                 Figure("all lines filtered after", "filter_all_ms", unit="ms"), Figure("lines", "lines", timed=False)]),
    Row("console-first-frame", "Console: from main() to the end of the first frame under Xvfb, raster by llvmpipe", needs=_CONSOLE,
        ours=lambda p: _under_xvfb(_console(p, "first-frame")),
        figures=[Figure("first frame after", "first_frame_ms", unit="ms", at_most=500),
                 Figure("a later frame, raster included", "frame_with_raster_ms", unit="ms")]),
    Row("console-idle", "Console window on a history file in which nothing goes on, under Xvfb", needs=_CONSOLE,
        ours=lambda p: _under_xvfb(_console(p, "idle")), figures=[Figure("share of a core", "idle_core", at_most=0.01)]),
    Row("console-latency", "From a worker's metric call through the daemon to the console's drawn frame, under Xvfb", needs=_CONSOLE,
        ours=lambda p: _under_xvfb(_console(p, "latency")),
        figures=[Figure("p95", "p95_ms", unit="ms", at_most=100), Figure("median", "p50_ms", unit="ms")]),
    Row("check", "ringwright check of the demo's recipe",
        ours=lambda p: [str(p.bin / "ringwright"), "check", str(p.source / "assets" / "recipes" / "demo-sft-cp2.yaml")], needs=["ringwright"],
        figures=[Figure("time", "process_wall_s", unit="ms", scale=1e3, at_most=20)]),
]
