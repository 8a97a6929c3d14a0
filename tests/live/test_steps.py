"""Steps on real nodes of one machine: srun, salloc, and what becomes of them."""
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from cluster import BIN, SLOW, Cluster

TWO = """\
cluster: test
nodes:
  - {name: n1, cpus: 4, memory: 4G, gpus: {model: a100, count: 2, memory: 80GB}}
  - {name: n2, cpus: 4, memory: 4G, gpus: {model: a100, count: 2, memory: 80GB}}
settings: {kill_grace: 2s, requeue_delay: 1s}
"""


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(TWO)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def srun(self, *words, **options):
        return self.cluster.run("srun", *words, check=False, **options)

    def spawn(self, *words, **options):
        return subprocess.Popen([str(BIN / words[0]), *words[1:]], cwd=self.cluster.work, text=True,
                                env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def quiet(self):
        """Nothing runs and nothing is left."""
        self.cluster.until(lambda: not self.cluster.run("squeue", "-h").stdout, "the queue is empty", 10)

    def test_names_ranks_and_one_address(self):
        done = self.srun("-N2", "-n4", "-l", "sh", "-c",
                         'echo $SLURMD_NODENAME $SLURM_PROCID; '
                         'getent hosts $(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -1)')
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in sorted(done.stdout.splitlines())]
        named = [line[1:] for line in lines if line[1] in ("n1", "n2")]
        self.assertEqual(named, [["n1", "0"], ["n1", "1"], ["n2", "2"], ["n2", "3"]])
        addresses = [line[1:] for line in lines if line[1] not in ("n1", "n2")]
        self.assertEqual(addresses, [["127.0.0.1", "n1"]] * 4)

    def test_the_first_bad_exit_ends_the_step(self):
        began = time.monotonic()
        done = self.srun("-N2", "-n4", "-K1", "sh", "-c", "[ $SLURM_PROCID = 2 ] && exit 7; sleep 61")
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertLess(time.monotonic() - began, 3 * SLOW)
        self.quiet()
        left = [p for p in os.listdir("/proc") if p.isdigit() and self.command(p) == "sleep 61"]
        self.assertEqual(left, [])

    @staticmethod
    def command(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                return file.read().replace("\0", " ").strip()
        except OSError:
            return ""

    def test_input_and_output_are_live(self):
        child = self.spawn("srun", "-n1", "cat", stdin=subprocess.PIPE)
        child.stdin.write("a\n")
        child.stdin.flush()
        self.assertTrue(select.select([child.stdout], [], [], 2 * SLOW)[0], "a comes at once")
        self.assertEqual(child.stdout.readline(), "a\n")
        out, err = child.communicate("b\n", timeout=10 * SLOW)
        self.assertEqual((out, child.returncode), ("b\n", 0), err)

    def test_exit_codes_and_words(self):
        self.assertEqual(self.srun("-n1", "sh", "-c", "exit 7").returncode, 7)
        done = self.srun("-n1", "-w", "n1", "sh", "-c", "kill -9 $$")
        self.assertEqual(done.returncode, 137)
        self.assertRegex(done.stderr, r"^srun: error: n1: task 0: Killed\nsrun: Force Terminated StepId=\d+\.0\n$")
        self.assertEqual(self.srun("-n1", "-w", "n1", "false").stderr,
                         "srun: error: n1: task 0: Exited with exit code 1\n")
        refused = self.srun("--gres=gpu:h100:1", "hostname")
        self.assertEqual(refused.returncode, 1)
        self.assertTrue(refused.stderr.startswith("srun: error: Unable to allocate resources: Requested node "
                                                  "configuration is not available"), refused.stderr)

    def test_all_of_a_large_output_arrives(self):
        child = self.spawn("srun", "-n1", "head", "-c", "100000000", "/dev/zero")
        size = 0
        while piece := os.read(child.stdout.fileno(), 1 << 20):
            size += len(piece)
        child.wait(timeout=30 * SLOW)
        child.stdout.close(), child.stderr.close()
        self.assertEqual((size, child.returncode), (100_000_000, 0))

    def test_salloc_runs_a_command_in_an_allocation(self):
        done = self.cluster.run("salloc", "-N2", "srun", "hostname")
        self.assertEqual(sorted(done.stdout.split()), ["n1", "n2"])
        self.assertRegex(done.stderr, r"^salloc: Granted job allocation (\d+)\nsalloc: Nodes n\[1-2\] are ready for job\n"
                                      r"salloc: Relinquishing job allocation \1\n$")
        self.quiet()

    def test_a_step_alone_has_no_script_beside_it(self):
        child = self.spawn("srun", "-n1", "sleep", "30")
        self.cluster.until(lambda: self.cluster.run("squeue", "-h", "-t", "R").stdout, "it runs")
        shown = self.cluster.run("squeue", "-h", "-s", "-o", "%i %j").stdout
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=20 * SLOW)
        self.assertRegex(shown, r"^\d+\.0 sleep\n$")
        self.quiet()

    def test_a_shell_on_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.cluster.work)
            os.execvpe("srun", ["srun", "--pty", "bash", "--norc", "-i"], self.cluster.environment)
        seen = ""

        def wait_for(pattern):
            nonlocal seen
            end = time.monotonic() + 10 * SLOW
            while not re.search(pattern, seen):
                self.assertLess(time.monotonic(), end, seen)
                if select.select([terminal], [], [], 0.2)[0]:
                    seen += os.read(terminal, 4096).decode(errors="replace")

        wait_for(r"[$#] $")
        os.write(terminal, b"tty; echo rank=$SLURM_PROCID; exit 3\n")
        wait_for(r"/dev/pts/\d+")
        wait_for(r"rank=0")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)
        os.close(terminal)

    def test_a_second_step_waits_unless_it_overlaps(self):  # C91
        job = self.cluster.wrap("srun sleep 2 & sleep 0.5; srun --overlap -n1 echo overlaps; srun -n1 echo waited; wait",
                                "-n2", "-N1", "--mem=100M", "-o", "c91")
        self.assertEqual(self.cluster.result(job), "COMPLETED|0:0", self.cluster.output("c91"))
        text = self.cluster.output("c91")
        self.assertRegex(text, r"Job \d+ step creation temporarily disabled, retrying \(Requested nodes are busy\)")
        self.assertRegex(text, r"Step created for StepId=\d+\.2")
        self.assertLess(text.index("overlaps"), text.index("waited"))
        rows = self.cluster.run("sacct", "-n", "-P", "-j", job, "-o", "JobID,JobName,State,ExitCode").stdout.split()
        self.assertEqual(rows, [f"{job}|wrap|COMPLETED|0:0", f"{job}.batch|batch|COMPLETED|0:0",
                                f"{job}.0|sleep|COMPLETED|0:0", f"{job}.1|echo|COMPLETED|0:0",
                                f"{job}.2|echo|COMPLETED|0:0"])
        self.assertEqual(self.cluster.run("sacct", "-n", "-P", "-j", f"{job}.0", "-o", "JobID").stdout.split(),
                         [f"{job}.0"])

    def test_scontrol_shows_running_steps(self):
        job = self.cluster.wrap("srun -n2 --gpus-per-task=1 --time=5 sleep 60", "-N2", "-n2", "--gpus-per-node=1",
                                "--mem=100M")
        show = lambda ref: self.cluster.run("scontrol", "-o", "show", "step", ref, check=False).stdout.splitlines()
        self.cluster.until(lambda: len(show(job)) == 2, "the step runs")
        batch, step = show(job)
        self.assertRegex(batch, rf"^StepId={job}\.batch .* Name=batch ")
        self.assertRegex(step, rf"^StepId={job}\.0 UserId=\d+ StartTime=2\S+ TimeLimit=00:05:00 State=RUNNING "
                               r"Partition=\S+ NodeList=n\[1-2\] Nodes=2 CPUs=2 Tasks=2 Name=sleep ")
        self.assertRegex(step, r" TRES=cpu=2,\S*gres/gpu=2 ")
        self.assertEqual(show(f"{job}.0"), [step])
        self.assertEqual(show(f"{job}.batch"), [batch])
        self.assertEqual(show(f"{job}.7"), [])
        self.cluster.run("scancel", job)
        self.cluster.ended(job)

    def test_each_task_has_gpus_of_its_own(self):  # C53
        done = self.srun("-N2", "-n4", "--gpus-per-task=1", "sh", "-c",
                         "echo $SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES")
        self.assertEqual(sorted(done.stdout.split()), ["n1:0", "n1:1", "n2:0", "n2:1"], done.stderr)

    def test_signals_reach_steps_or_the_script(self):  # C62
        script = "trap 'echo script' USR1; srun sh -c 'trap \"echo step; exit 0\" USR1; sleep 60 & wait' & wait; wait"
        for target, wanted in (([], "step"), (["--batch"], "script")):
            job = self.cluster.wrap(script, "-n1", "--mem=100M", "-o", "c62")
            self.cluster.until(lambda: self.cluster.run("squeue", "-h", "-s", "-j", job, "-o", "%i").stdout.split()
                               == [f"{job}.batch", f"{job}.0"], "the step runs")
            time.sleep(0.5)
            self.cluster.run("scancel", *target, "--signal=USR1", job)
            self.cluster.until(lambda: wanted in self.cluster.output("c62"), wanted)
            self.assertEqual(self.cluster.output("c62").split(), [wanted])
            self.cluster.run("scancel", job, check=False)
            self.cluster.ended(job)

    def test_the_agent_and_the_controller_die_under_a_step(self):
        child = self.spawn("srun", "-N2", "-n2", "-l", "sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.5; done")
        time.sleep(1.2)
        for key in ("n1", "n2", "droverd"):
            self.cluster.kill(key)
        self.cluster.start_all()
        out, err = child.communicate(timeout=60 * SLOW)
        self.assertEqual(child.returncode, 0, err)
        for rank in ("0", "1"):
            self.assertEqual([line.split(": ")[1] for line in out.splitlines() if line.startswith(rank)],
                             [str(i) for i in range(1, 9)])
        self.quiet()

    def test_salloc_lets_go_when_it_is_asked_to_end(self):
        child = self.spawn("salloc", "-n1", "--mem=100M", "sleep", "50")
        self.cluster.until(lambda: self.cluster.run("squeue", "-h", "-t", "R").stdout, "it runs")
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=20 * SLOW)
        self.quiet()


if __name__ == "__main__":
    unittest.main()
