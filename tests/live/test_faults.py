"""What goes wrong between machines while steps run: they end as the documentation says, or go on, and srun says why."""
import contextlib
import os
import shutil
import signal
import subprocess
import time
import unittest

from cluster import SLOW
from netns import NetCluster, with_machines
from test_machine_steps import OnMachines

# Sets the clock of one program off by $CLOCK_OFF seconds.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long off(void) { const char* text = getenv("CLOCK_OFF"); return text ? atol(text) : 0; }
int clock_gettime(clockid_t id, struct timespec* at) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(id, at);
  if (id == CLOCK_REALTIME) at->tv_sec += off();
  return result;
}
time_t time(time_t* into) {
  struct timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  if (into) *into = at.tv_sec;
  return at.tv_sec;
}
int gettimeofday(struct timeval* at, void* zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""


@with_machines
class UnderAStep(OnMachines):
    """Faults under a step whose client is on another machine."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.start()

    def machine(self):
        return self.cluster.network.machines["n2"]

    def lines_of(self, child):
        """What it has said by now: its output and its errors."""
        said = {child.stdout.fileno(): b"", child.stderr.fileno(): b""}
        for fd in said:
            os.set_blocking(fd, False)

        def look():
            for fd in said:
                with contextlib.suppress(BlockingIOError):
                    while piece := os.read(fd, 65536):
                        said[fd] += piece
            return [text.decode() for text in said.values()]
        return look

    def begin(self, script):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c", script)
        look = self.lines_of(child)
        self.cluster.until(lambda: look()[0] == "begun\n", "it runs")
        return child, look

    def test_a_minute_without_network_ends_the_step_and_nothing_that_was_said_is_lost(self):
        child, look = self.begin("echo begun; sleep 20; echo half; sleep 300")
        self.machine().plug(False)
        began = time.monotonic()
        self.cluster.until(lambda: "n2: no connection to StepId=" in look()[1], "srun says what it waits for", 60)
        time.sleep(max(0.0, 60 - (time.monotonic() - began)))
        self.machine().plug(True)
        self.assertEqual(child.wait(timeout=90 * SLOW), 128 + signal.SIGTERM, look())
        out, err = look()
        self.assertEqual(out, "begun\nhalf\n", err)
        self.assertRegex(err, r"STEP \d+\.0 ON n2 CANCELLED")
        self.quiet()

    def test_a_node_that_vanishes_is_missed_and_given_up_when_somebody_says_so(self):
        child, look = self.begin("echo begun; sleep 300")
        self.cluster.children.pop("n2")
        for pid in self.machine().processes():
            os.kill(pid, signal.SIGKILL)  # agent, keeper, shim and task
        self.cluster.until(lambda: "n2: no connection to StepId=" in look()[1], "srun says what it waits for", 60)
        self.assertIsNone(child.poll(), "nobody knows yet that it won't come back")
        state = lambda: self.cluster.run("sinfo", "-h", "-n", "n2", "-o", "%t").stdout
        self.cluster.until(lambda: "*" in state(), "the controller misses it", 60)
        self.cluster.run("scontrol", "update", "nodename=n2", "state=dead", "reason=burnt")
        code = child.wait(timeout=60 * SLOW)
        self.assertNotEqual(code, 0)
        self.assertIn("is over", look()[1])
        self.cluster.run("scontrol", "update", "nodename=n2", "state=resume")
        self.cluster.start_agent("n2")
        self.cluster.until(lambda: self.cluster.idle_nodes() == 2, "it is back", 60)
        self.quiet()

    def test_a_killed_client_leaves_nothing_behind(self):
        child, _ = self.begin("echo begun; sleep 300")
        child.send_signal(signal.SIGKILL)
        child.wait()
        self.cluster.until(lambda: not self.cluster.run("squeue", "-h").stdout, "its allocation is given up", 90)
        self.cluster.until(lambda: not any("sleep\0300" in open(f"/proc/{pid}/cmdline").read()
                                           for pid in self.machine().processes()), "so is its task", 30)


@with_machines
class Revoking(OnMachines):
    def test_a_revoked_node_is_cut_off_in_the_middle_of_a_stream(self):
        self.cluster.start()
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c", "echo begun; sleep 300")
        self.assertEqual(child.stdout.readline(), "begun\n")
        began = time.monotonic()
        self.cluster.run("drover", "node", "revoke", "n2")
        out, err = child.communicate(timeout=120 * SLOW)
        self.assertNotEqual(child.returncode, 0)
        self.assertIn("revoked", err)
        self.assertLess(time.monotonic() - began, 90 * SLOW)


@with_machines
class WrongPapers(unittest.TestCase):
    def test_a_node_of_another_cluster_is_refused_with_one_line(self):
        with NetCluster(["n1"]) as cluster:
            cluster.kill("n1")
            cluster.kill("droverd")
            for name in ("store", "identity"):
                os.rename(cluster.state / name, cluster.base / f"old-{name}")
            cluster.start_controller()
            code, line = cluster.try_agent("n1")
            self.assertEqual(code, 2, line)
            self.assertIn("not of this cluster", line)

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_a_clock_an_hour_off_is_harmless_or_named(self):
        with NetCluster(["n1", "n2"]) as cluster:
            source, library = cluster.base / "clock.c", cluster.base / "clock.so"
            source.write_text(CLOCK)
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
            cluster.kill("n1")
            shifted = lambda off: ["env", f"LD_PRELOAD={library}", f"CLOCK_OFF={off}"]
            machine = cluster.network.machines["n1"]
            # Ahead: its certificate is good for days, and a job there runs as ever.
            words = machine.words(*shifted(3600), *cluster.agent_words("n1")[len(machine.words()):])
            cluster._spawn("n1", words)
            cluster.until(lambda: cluster.log("droverd").count("node n1 is up") == 2, "it is back")
            job = cluster.wrap("hostname", "-w", "n1", "--mem=50M", "-o", "ahead")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.run("sacct", "-nX", "-j", job, "-o", "elapsedraw").stdout.strip()[:1], "0")
            cluster.kill("n1")
            # Behind: by its clock its certificate begins in an hour. It says so, and that a clock is wrong.
            behind = subprocess.run(machine.words(*shifted(-3600), *cluster.agent_words("n1")[len(machine.words()):]),
                                    capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                                    env=cluster.environment, check=False)
            self.assertEqual(behind.returncode, 2)
            self.assertIn("is a clock wrong?", behind.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
