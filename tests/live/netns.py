"""Machines made of namespaces: each has its own network, mounts and host name, and a bridge joins them.

    with NetCluster(["n1", "n2"]) as cluster:       # droverd on this machine, an agent on each of the others
        cluster.on("n1", "squeue")

What a machine doesn't have in reality it doesn't see here: droverd's state folder is hidden from it, and its own
state and runtime folders are on file systems of its own. Everything made here is removed, also after a failure.
Needs root and the `ip` command (Debian: iproute2).
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from cluster import BIN, Cluster, remove_groups, runtime_folder

PORT = 7411


def with_machines(test):
    """For tests that need machines; says why when there are none to be had."""
    if os.geteuid() != 0:
        return unittest.skip("needs root, to make network namespaces")(test)
    if shutil.which("ip") is None or shutil.which("nsenter") is None:
        return unittest.skip("needs `ip` (iproute2) and `nsenter` (util-linux)")(test)
    probe = f"dprobe{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if made.returncode != 0:
        return unittest.skip(f"no network namespaces here: {made.stderr.strip()}")(test)
    subprocess.run(["ip", "netns", "del", probe], check=False)
    return test


def ip(*words, check=True):
    return subprocess.run(["ip", *words], check=check, capture_output=True, text=True)


class Network:
    """A bridge on this machine; machines are added to it."""
    def __init__(self):
        self.mark = f"d{os.getpid() % 1_000_000}"
        self.net = f"10.213.{os.getpid() % 250}"
        self.address = f"{self.net}.1"
        self.machines = {}
        ip("link", "add", self.mark, "type", "bridge")
        ip("addr", "add", f"{self.address}/24", "dev", self.mark)
        ip("link", "set", self.mark, "up")

    def add(self, name, hidden, state):
        self.machines[name] = Machine(self, name, len(self.machines) + 11, hidden, state)
        return self.machines[name]

    def close(self):
        for machine in self.machines.values():
            with contextlib.suppress(Exception):
                machine.close()
        ip("link", "del", self.mark, check=False)


class Machine:
    SETUP = """set -e
hostname "$NAME"
mount --make-rprivate /
mount --bind "$HOSTS" /etc/hosts
mount -t tmpfs hidden "$HIDDEN"
mkdir -p "$STATE" /run/drover
mount -t tmpfs own "$STATE"
mount -t tmpfs run /run/drover
echo ready
exec sleep infinity
"""

    def __init__(self, network, name, host, hidden, state):
        self.name = name
        self.ns = f"{network.mark}-{name}"
        self.address = f"{network.net}.{host}"
        self.holder = None
        self.hosts = f"/tmp/{self.ns}.hosts"
        near, far = f"{network.mark}{name}a", f"{network.mark}{name}b"
        self.cable = near
        with open(self.hosts, "w") as file:
            file.write(f"127.0.0.1 localhost\n{self.address} {name}\n{network.address} controller\n")
        ip("netns", "add", self.ns)
        ip("link", "add", near, "type", "veth", "peer", "name", far)
        ip("link", "set", near, "master", network.mark, "up")
        ip("link", "set", far, "netns", self.ns)
        ip("-n", self.ns, "addr", "add", f"{self.address}/24", "dev", far)
        ip("-n", self.ns, "link", "set", far, "up")
        ip("-n", self.ns, "link", "set", "lo", "up")
        self.holder = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{self.ns}", "unshare", "--mount", "--uts", "sh", "-c", self.SETUP],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env={**os.environ, "NAME": name, "HOSTS": self.hosts, "HIDDEN": str(hidden), "STATE": str(state)})
        if self.holder.stdout.readline() != "ready\n":
            raise AssertionError(f"machine {name} could not be made")

    def words(self, *words):
        """The command line that runs `words` on this machine."""
        return ["nsenter", "-t", str(self.holder.pid), "--mount", "--uts", "--net", *map(str, words)]

    def plug(self, inserted):
        """Its cable, in or out."""
        ip("link", "set", self.cable, "up" if inserted else "down")

    def processes(self):
        space = os.readlink(f"/proc/{self.holder.pid}/ns/net")  # keepers have mounts of their own
        found = []
        for entry in os.listdir("/proc"):
            with contextlib.suppress(OSError):
                if entry.isdigit() and os.readlink(f"/proc/{entry}/ns/net") == space:
                    found.append(int(entry))
        return [pid for pid in found if pid != self.holder.pid]

    def close(self):
        nodes = []
        if self.holder is not None:
            with contextlib.suppress(OSError):
                nodes = os.listdir(f"/proc/{self.holder.pid}/root/run/drover")
            for number in (signal.SIGTERM, signal.SIGKILL):
                end = time.monotonic() + 3
                for pid in self.processes():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
                while self.processes() and time.monotonic() < end:
                    time.sleep(0.05)
            self.holder.kill()
            self.holder.wait()
            self.holder.stdout.close()
        for node in nodes:
            remove_groups(node)
        ip("netns", "del", self.ns, check=False)
        with contextlib.suppress(OSError):
            os.unlink(self.hosts)


YAML = """\
cluster: test
listen: {address}:{port}
nodes:
{nodes}
partitions:
  - {{name: main, default: true, nodes: all, max_time: 7d}}
settings: {{kill_grace: 2s, requeue_delay: 1s, node_timeout: 10s}}
"""


class NetCluster(Cluster):
    """droverd on this machine, agents on machines of their own. `through`: the address that agents are told."""
    def __init__(self, names, submit=(), through=None, words=()):
        self.network = Network()
        try:
            nodes = "\n".join(f"  - {{name: {n}{', submit: true' if n in submit else ''}}}" for n in names)
            super().__init__(YAML.format(address=self.network.address, port=PORT, nodes=nodes), nodes=list(names))
            self.through = through or f"{self.network.address}:{PORT}"
            self.more = list(words)
            self.here = []
            self.agent_words_of = {}  # more, by name
            for name in names:
                self.network.add(name, self.state, self.base / f"m-{name}")
        except BaseException:
            self.network.close()
            raise

    def start_controller(self, wait=True):
        argv = [str(BIN / "droverd"), "--state", str(self.state), "--cluster", str(self.file), *self.more]
        child = self._spawn("droverd", argv)
        if wait:
            self.until(lambda: self.run("squeue", "-h", check=False).returncode == 0 or child.poll() is not None,
                       "droverd answers")
            if child.poll() is not None:
                raise AssertionError(f"droverd ended with {child.returncode}: {self.log('droverd')}")
        return child

    def token(self, *words):
        """A fresh one, from what `drover node token` prints."""
        return re.search(r"--token (\S+)", self.run("drover", "node", "token", *words).stdout).group(1)

    def agent_words(self, name, *words):
        return self.network.machines[name].words(BIN / "drover-agent", "--state", self.base / f"m-{name}", *words)

    def start_agent(self, name):
        joined = self.network.machines[name].words("test", "-e", self.base / f"m-{name}/identity")
        words = []
        if subprocess.run(joined, check=False).returncode != 0:
            words = ["--join", self.through, "--token", self.token()]
        return self._spawn(name, self.agent_words(name, *words, *self.agent_words_of.get(name, [])))

    def start_here(self, name):
        """One on the controller's own machine, which joins like the others."""
        self.here.append(name)
        return self._spawn(name, [str(BIN / "drover-agent"), "--state", str(self.base / f"m-{name}"), "--node", name,
                                  "--join", self.through, "--token", self.token(name)])

    def runtime_folders(self):
        return [runtime_folder(self.base / f"m-{name}", name) for name in self.here]

    def try_agent(self, name, *words):
        """An agent that is expected to end by itself: its exit code and last line."""
        done = subprocess.run(self.agent_words(name, *words), capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL, env=self.environment, check=False)
        return done.returncode, done.stderr.strip().splitlines()[-1]

    def on(self, name, *words, **options):
        """A command on that machine."""
        return self.run(*self.network.machines[name].words(*words), **options)

    def pid_behind(self, child):
        return child.pid  # nsenter becomes the program that it starts

    def close(self):
        try:
            super().close()
        finally:
            self.network.close()
