"""How busy the machine is, and how a benchmark's process is run: pinned, with passive OpenMP threads, its CPU time and memory measured."""
import json
import os
import signal
import subprocess
import threading
import time

SCALING_MIN = 1.95
SPIN_S = 0.15
CALIBRATION_SPINS = 10


def cores():
    return sorted(os.sched_getaffinity(0))


def _spin(iterations):
    x = 1
    for _ in range(iterations):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return x


def _spin_in_child(core, iterations, gate):
    """Starts a child on one core that waits for the gate to open; returns (pid, pipe that gets its seconds)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.sched_setaffinity(0, {core})
        os.read(gate, 1)
        start = time.perf_counter()
        _spin(iterations)
        os.write(writer, repr(time.perf_counter() - start).encode())
        os._exit(0)
    os.close(writer)
    return pid, reader


def _spin_on(on_cores, iterations):
    """Seconds of each of the processes that spin at once, one on each of the cores."""
    gate_reader, gate_writer = os.pipe()
    children = [_spin_in_child(core, iterations, gate_reader) for core in on_cores]
    os.write(gate_writer, b"x" * len(on_cores))
    seconds = []
    for pid, reader in children:
        seconds.append(float(os.read(reader, 64)))
        os.close(reader)
        os.waitpid(pid, 0)
    os.close(gate_reader)
    os.close(gate_writer)
    return seconds


class _Spin:
    """One spin on this machine: how many rounds it has, and the seconds that it took so far, wherever it ran."""
    rounds = None
    seconds = []

    @classmethod
    def alone_s(cls):
        """A spin on a core that nobody else uses. A neighbour on the host may slow a core for seconds on end, so one spin right now says little: this
        is the fastest tenth of all that were seen."""
        return sorted(cls.seconds)[len(cls.seconds) // 10]


def _calibrate():
    start = time.perf_counter()
    _spin(1_000_000)
    _Spin.rounds = max(1, int(SPIN_S / (time.perf_counter() - start) * 1_000_000))
    for _ in range(CALIBRATION_SPINS):
        for core in cores()[:2]:
            _Spin.seconds += _spin_on([core], _Spin.rounds)


def two_thread_scaling():
    """How much more two spinning processes on two cores get done than one: 2.0 on a quiet machine, less on a busy one."""
    available = cores()
    if len(available) < 2:
        return 1.0
    if _Spin.rounds is None:
        _calibrate()
    both = _spin_on(available[:2], _Spin.rounds)
    _Spin.seconds += both
    return 2 * _Spin.alone_s() / max(both)


class Failed(Exception):
    pass


def run(command, threads, timeout_s=900):
    """Runs one side of a pair. Returns its last JSON line with process_wall_s, process_cpu_s and process_peak_rss_mib added."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), OMP_WAIT_POLICY="passive",
                       HF_HUB_OFFLINE="1", PYTHONDONTWRITEBYTECODE="1")
    start = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               process_group=0, preexec_fn=lambda: os.sched_setaffinity(0, cores()[:2]))
    try:
        return _outcome(process, command, start, timeout_s)
    finally:
        _end_group(process.pid)


def _end_group(group):
    """Ends what a command left behind, ranks of a ring for one; mostly there is nothing."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _outcome(process, command, start, timeout_s):
    errors = []
    # Daemon threads: a driver that is told to end waits for neither.
    drain = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)
    drain.start()
    timer = threading.Timer(timeout_s, lambda: _end_group(process.pid))
    timer.daemon = True
    timer.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall_s = time.perf_counter() - start
    timer.cancel()
    drain.join()
    process.stdout.close()
    process.stderr.close()
    if process.returncode != 0:
        last = (errors[0].strip() or output.strip()).splitlines()[-1:] or ["no output"]
        raise Failed(f"{os.path.basename(command[0])} ended with {process.returncode}: {last[0][:200]}")
    result = _last_json(output)
    result.update(process_wall_s=wall_s, process_cpu_s=usage.ru_utime + usage.ru_stime, process_peak_rss_mib=usage.ru_maxrss / 1024)
    return result


def _last_json(output):
    for line in reversed(output.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    return {}
