"""A private cluster for live tests: real daemons, real processes, real commands.

    with Cluster() as cluster:
        job = cluster.sbatch("--wrap", "true")
        cluster.ended(job)

The daemons are started one by one (not by `drover up`), so that a test may kill each of them and
decide when it comes back. Everything lives in one folder under /tmp and is gone afterwards.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BIN = Path(os.environ.get("DROVER_BIN", ROOT / "build/dev/bin")).resolve()
SLOW = float(os.environ.get("DROVER_SLOW", "1"))  # for sanitizers and loaded machines: all patience times this

# What the tests run on: small, with declared GPUs. Real CPUs and memory are not exceeded by n1.
YAML = """\
cluster: test
nodes:
  - {name: n1, cpus: 8, memory: 8G, features: [big, fast], gpus: {model: a100, count: 2, memory: 80GB}}
  - {name: n2, cpus: 4, memory: 4G, features: [big], gpus: {model: t4, count: 1}}
  - {name: n3, cpus: 4, memory: 4G, gpus: none}
partitions:
  - {name: main, default: true, nodes: all, max_time: 7d}
  - {name: short, nodes: [n3], max_time: 30m}
settings: {kill_grace: 2s, requeue_delay: 1s, node_timeout: 10s}
"""

ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "DEADLINE",
         "BOOT_FAIL"}


def as_root(test):
    """For tests of isolation, which only root can build."""
    return unittest.skipUnless(os.geteuid() == 0, "needs root")(test)


def command_line(pid):
    try:
        return [os.fsdecode(a) for a in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0") if a]
    except OSError:
        return []


def alive(pid):
    """Whether the process runs (a zombie doesn't)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def runtime_folder(state, node):
    mark = 14695981039346656037
    own = Path(state) / "mark"
    for byte in os.fsencode(os.path.realpath(state)) + (own.read_bytes() if own.exists() else b""):
        mark = (mark ^ byte) * 1099511628211 % (1 << 64)
    return f"/run/drover/{mark & 0xffffffff:08x}-{node}"


def remove_runtime_folder(folder):
    """Also the tmpfs that an agent mounts there where /run is on a disk."""
    if os.path.ismount(folder):
        subprocess.run(["umount", "-l", folder], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def remove_groups(node):
    """The empty cgroups that a node's keeper leaves for the next jobs. `node`: the name of its runtime folder."""
    for root in [Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").glob("*/")]:
        for folder, _, _ in os.walk(root / "drover" / node, topdown=False):
            with contextlib.suppress(OSError):
                os.rmdir(folder)


class Cluster:
    def __init__(self, yaml=YAML, nodes=None, state=None, tracer=()):
        self.base = Path(tempfile.mkdtemp(prefix="dt-", dir="/tmp"))
        os.chmod(self.base, 0o755)
        self.state = Path(state) if state else self.base / "s"
        self.work = self.base / "w"
        self.state.mkdir(exist_ok=True)
        self.work.mkdir()
        os.chmod(self.work, 0o1777)
        self.file = self.base / "cluster.yaml"
        self.file.write_text(yaml)
        self.names = nodes or re.findall(r"name: (\w+), cpus", yaml)
        self.tracer = list(tracer)
        self.children = {}
        self.environment = {k: v for k, v in os.environ.items()
                            if not re.match(r"(SLURM|SBATCH|SQUEUE|SACCT|SINFO|SCANCEL|CUDA)_", k)}
        self.environment.update(DROVER_STATE=str(self.state), TZ="UTC",
                                # python3 is the one that runs the tests: any user may start it
                                PATH=f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}")

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.show_logs()
        self.close()

    # The daemons.

    def start(self):
        self.start_controller()
        for name in self.names:
            self.start_agent(name)
        self.until(lambda: self.idle_nodes() == len(self.names), f"all of {self.names} are up")

    def _spawn(self, key, argv):
        log = open(self.base / f"{key}.log", "ab")
        self.children[key] = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                              env=self.environment, cwd="/", start_new_session=True)
        log.close()
        return self.children[key]

    def start_controller(self, wait=True):
        argv = self.tracer + [str(BIN / "droverd"), "--state", str(self.state), "--cluster", str(self.file)]
        child = self._spawn("droverd", argv)
        if wait:
            self.until(lambda: self.run("squeue", "-h", check=False).returncode == 0 or child.poll() is not None,
                       "droverd answers")
            if child.poll() is not None:
                raise AssertionError(f"droverd ended with {child.returncode}: {self.log('droverd')}")
        return child

    def start_agent(self, name):
        folder = self.state / "nodes" / name
        folder.mkdir(parents=True, exist_ok=True)
        return self._spawn(name, [str(BIN / "drover-agent"), "--cluster", str(self.file), "--node", name, "--state",
                                  str(folder), "--controller", f"unix:{self.state}/droverd.sock"])

    def start_all(self):
        self.start_controller()
        for name in self.names:
            self.start_agent(name)

    def kill(self, key, number=signal.SIGKILL):
        child = self.children.pop(key)
        os.kill(self.pid_behind(child), number)
        child.wait(timeout=30 * SLOW)

    def pid_behind(self, child):
        """The daemon's own pid, also under a tracer."""
        if not self.tracer or Path(command_line(child.pid)[0]).name != Path(self.tracer[0]).name:
            return child.pid
        for pid in self.processes():
            line = command_line(pid)
            if line and Path(line[0]).name == "droverd":
                return pid
        return child.pid

    def kill_all(self):
        """droverd, agents and keepers, with -9; never a job's shim."""
        for key in list(self.children):
            self.kill(key)
        for pid in self.keepers():
            os.kill(pid, signal.SIGKILL)

    def runtime_folders(self):
        """Where keepers and shims of this cluster live (native/discovery.h: node_paths)."""
        return [runtime_folder(self.state / "nodes" / name, name) for name in self.names]

    def processes(self):
        """Everything whose command line names this cluster's state or runtime folders."""
        places = [f"{p}/" for p in [self.state, *self.runtime_folders()]]
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            line = command_line(int(entry.name))
            if any(a == str(self.state) or any(p in a for p in places) for a in line):
                found.append(int(entry.name))
        return found

    def keepers(self):
        """The keepers: those that hold the lock of their folder. Shims have the same command line."""
        found = []
        for pid in self.processes():
            line = command_line(pid)
            if Path(line[0]).name == "drover-shim" and "--dir" in line:
                with contextlib.suppress(OSError, ValueError):
                    if int((Path(line[line.index("--dir") + 1]) / "lock").read_text()) == pid:
                        found.append(pid)
        return found

    def close(self):
        with contextlib.suppress(Exception):
            if "droverd" in self.children and self.children["droverd"].poll() is None:
                self.run("scancel", "--me", check=False)
                self.run("scancel", "-u", "nobody", check=False)
                self.until(lambda: not self.run("squeue", "-h", "-t", "R,CG", check=False).stdout.strip(),
                           "jobs have ended", 10)
        for child in self.children.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid_behind(child), signal.SIGTERM)
        for child in self.children.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout=10)
            if child.poll() is None:
                child.kill()
                child.wait()
        for pid in self.processes():  # keepers, and shims of jobs that never ended
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + 3
        while self.processes() and time.monotonic() < end:
            time.sleep(0.05)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for folder in self.runtime_folders():
            remove_runtime_folder(folder)
            remove_groups(Path(folder).name)
        shutil.rmtree(self.base, ignore_errors=True)

    def log(self, key, lines=20):
        path = self.base / f"{key}.log"
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:]) if path.exists() else ""

    def show_logs(self):
        for path in sorted(self.base.glob("*.log")):
            print(f"--- {path.name}\n{self.log(path.stem)}", flush=True)

    # The commands.

    def run(self, *words, check=True, cwd=None, env=None, stdin=None, user=None, timeout=60):
        done = subprocess.run([str(w) for w in words], cwd=cwd or self.work, capture_output=True, text=True,
                              env={**self.environment, **(env or {})}, timeout=timeout * SLOW,
                              **({"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}),
                              **({"user": user, "group": user, "extra_groups": []} if user is not None else {}))
        if check and done.returncode != 0:
            raise AssertionError(f"{words} exits {done.returncode}: {done.stderr or done.stdout}")
        return done

    def sbatch(self, *words, **options):
        answer = self.run("sbatch", *words, **options).stdout
        found = re.match(r"Submitted batch job (\d+)\n$", answer)
        if not found:
            raise AssertionError(f"sbatch {words} says {answer!r}")
        return found.group(1)

    def wrap(self, script, *words, **options):
        return self.sbatch(*words, "--wrap", script, **options)

    def idle_nodes(self):
        found = self.run("sinfo", "-h", "-N", "-p", "main", "-o", "%t", check=False)
        return found.stdout.split().count("idle") if found.returncode == 0 else 0

    def queue(self, job, what="%T"):
        return self.run("squeue", "-h", "-t", "all", "-j", job, "-o", what, check=False).stdout.strip()

    def sacct(self, job, fields="State,ExitCode", *words):
        return [line for line in
                self.run("sacct", "-X", "-n", "-P", "-j", job, "-o", fields, *words).stdout.splitlines() if line]

    def show(self, job):
        """`scontrol show job` as a dictionary."""
        text = self.run("scontrol", "show", "job", job).stdout
        return dict(re.findall(r"(\S+?)=(.*?)(?=\s+\S+=|\s*$)", text, re.M))

    def output(self, name):
        path = self.work / name
        return path.read_text(errors="replace") if path.exists() else ""

    # Waiting.

    def until(self, ready, what, patience=30):
        end = time.monotonic() + patience * SLOW
        while True:
            answer = ready()
            if answer:
                return answer
            if time.monotonic() > end:
                queue = self.run("squeue", "-t", "all", check=False)
                raise AssertionError(f"after {patience * SLOW:.0f} s still not: {what}\n{queue.stdout}{queue.stderr}")
            time.sleep(0.05)

    def running(self, job, patience=30):
        self.until(lambda: self.queue(job) == "RUNNING", f"job {job} runs ({self.queue(job, '%T %R')})", patience)

    def ended(self, job, patience=60):
        """Waits for the end in the accounts; returns the states of all its records."""
        def states():
            found = [row.split(" ")[0] for row in self.sacct(job, "State")]
            return found if found and all(s in ENDED for s in found) else None
        try:
            return self.until(states, f"job {job} has ended", patience)
        except AssertionError as late:
            raise AssertionError(f"{late}: {self.queue(job, '%T %R')} {self.sacct(job, 'State')}") from None

    def result(self, job, patience=60):
        """Waits for the end; then "STATE|exit:signal"."""
        self.ended(job, patience)
        return self.sacct(job)[0]
