"""Starts ringwrightd with folders of its own, and measures how long it takes to say READY=1 (sd_notify) and how much memory it has then."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time


def measure(program):
    with tempfile.TemporaryDirectory(prefix="rw-bench-") as folder:
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notify.bind(os.path.join(folder, "notify"))
        notify.settimeout(10)
        environment = dict(os.environ, NOTIFY_SOCKET=os.path.join(folder, "notify"))
        for name in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
            environment[name] = os.path.join(folder, name.lower())
            os.mkdir(environment[name], 0o700)
        start = time.perf_counter()
        daemon = subprocess.Popen([program, "--foreground"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while b"READY=1" not in notify.recv(4096):
                pass
            ready_ms = (time.perf_counter() - start) * 1e3
            with open(f"/proc/{daemon.pid}/status") as status:
                memory_mib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(timeout=20)
            notify.close()
        return {"job": "daemon_ready", "ready_ms": ready_ms, "memory_mib": memory_mib}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
