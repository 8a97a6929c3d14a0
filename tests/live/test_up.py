"""`drover up`, `drover status` and `drover down`."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from cluster import BIN, SLOW, YAML, alive, as_root, remove_runtime_folder, runtime_folder

DROVER = str(BIN / "drover")


class Up(unittest.TestCase):
    def setUp(self):
        self.base = Path(tempfile.mkdtemp(prefix="du-", dir="/tmp"))
        os.chmod(self.base, 0o755)
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.state = self.base / "s"
        self.file = self.base / "cluster.yaml"
        self.file.write_text(YAML)
        self.environment = {**os.environ, "DROVER_STATE": str(self.state), "PATH": f"{BIN}:{os.environ['PATH']}"}
        self.addCleanup(self.clear)

    def clear(self):
        self.run_it(DROVER, "down", "--state", str(self.state))
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)

    def run_it(self, *words, **options):
        return subprocess.run([str(w) for w in words], env=self.environment, stdin=subprocess.DEVNULL, cwd=self.base,
                              capture_output=True, text=True, timeout=90 * SLOW, **options)

    def up(self, *words):
        done = self.run_it(DROVER, "up", "--cluster", self.file, "--private", "--detach", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def runtime_folders(self):
        return [runtime_folder(self.state / "nodes" / n, n) for n in ("n1", "n2", "n3")]

    def processes(self):
        places = [str(self.state), *self.runtime_folders()]
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                line = os.fsdecode((entry / "cmdline").read_bytes())
                if any(p in line for p in places) and alive(entry.name):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def until(self, ready, what, patience=30):
        end = time.monotonic() + patience * SLOW
        while not (answer := ready()):
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.05)
        return answer

    def job(self, script, *words):
        done = self.run_it("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def state_of(self, job):
        return self.run_it("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").stdout.strip()

    def daemon(self, program):
        for pid in self.processes():
            line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if Path(os.fsdecode(line[0])).name == program:
                return pid
        return None

    def test_a_detached_cluster_answers_shows_itself_and_goes_down_whole(self):
        said = self.up()
        for word in ("n1", "0/2 a100", "declared", "export DROVER_STATE", "drover down"):
            self.assertIn(word, said)
        self.assertNotIn("\x1b", said, "colours are for terminals")
        text = self.run_it(DROVER, "status").stdout
        self.assertIn("3 nodes, jobs: 0 running, 0 waiting", text)
        view = json.loads(self.run_it(DROVER, "status", "-o", "json").stdout)
        self.assertEqual([n["node"]["inventory"]["name"] for n in view["nodes"]], ["n1", "n2", "n3"])
        self.assertTrue(all(d["info"]["declared"] for d in view["nodes"][0]["node"]["devices"]))
        again = self.run_it(DROVER, "up", "--cluster", self.file, "--private")
        self.assertEqual(again.returncode, 1)
        self.assertIn("runs here already", again.stderr)
        running = self.job("sleep 300")
        self.until(lambda: self.state_of(running) == "RUNNING", "it runs")
        waiting = self.job("true", "--hold")
        down = self.run_it(DROVER, "down")
        self.assertEqual((down.returncode, down.stdout), (0, "the cluster is down\n"))
        self.until(lambda: not self.processes(), "every process is gone", 10)
        self.up()
        self.assertEqual(self.state_of(waiting), "PENDING")
        self.assertIn("CANCELLED", self.run_it("sacct", "-X", "-n", "-j", running, "-o", "State").stdout)
        free = self.job("true")
        self.until(lambda: self.state_of(free) == "COMPLETED", "partitions are open again")

    def test_a_state_folder_that_was_thrown_away_is_a_new_cluster(self):
        self.up()
        self.run_it(DROVER, "down", "--keep-jobs")  # leaves the nodes' own memory behind
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)
        for folder in self.runtime_folders():
            self.addCleanup(remove_runtime_folder, folder)
        shutil.rmtree(self.state)
        self.up()
        self.assertEqual(self.run_it("sinfo", "-h", "-o", "%D %t").stdout.split(), ["3", "idle"])

    def test_jobs_may_be_kept_over_a_stop(self):
        self.up()
        job = self.job("sleep 5; exit 6")
        self.until(lambda: self.state_of(job) == "RUNNING", "it runs")
        down = self.run_it(DROVER, "down", "--keep-jobs")
        self.assertEqual(down.returncode, 0, down.stderr)
        self.assertIsNone(self.daemon("droverd"))
        self.assertIsNone(self.daemon("drover-agent"))
        self.up()
        row = ["sacct", "-X", "-n", "-P", "-j", job, "-o", "State,ExitCode"]
        self.until(lambda: "FAILED|6:0" in self.run_it(*row).stdout, "it ended with its own exit code")

    def test_daemons_that_die_are_started_again(self):
        self.up()
        for program in ("droverd", "drover-agent"):
            first = self.daemon(program)
            os.kill(first, signal.SIGKILL)
            self.until(lambda: not alive(first) and self.daemon(program), f"{program} is back")
        done = self.until(lambda: self.run_it("sbatch", "--wait", "-o", "/dev/null", "--wrap", "exit 3"), "a job runs")
        self.assertEqual(done.returncode, 3)
        self.assertIn("was killed by SIGKILL", (self.state / "log/up.log").read_text())

    def test_ctrl_c_in_the_foreground_takes_all_down(self):
        child = subprocess.Popen([DROVER, "up", "--cluster", str(self.file), "--private"], env=self.environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        lines = []
        for line in child.stdout:
            lines.append(line)
            if "drover down" in line:
                break
        child.send_signal(signal.SIGINT)
        rest = child.stdout.read()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=60 * SLOW), 0)
        self.assertIn("the cluster is down", rest)
        self.until(lambda: not self.processes(), "every process is gone", 10)

    def test_daemons_do_not_outlive_a_killed_supervisor(self):
        self.up()
        os.kill(int((self.state / "up.lock").read_text()), signal.SIGKILL)
        self.until(lambda: not self.daemon("droverd") and not self.daemon("drover-agent"), "they ended by themselves")
        self.up()

    def test_mistakes_are_told_in_one_line(self):
        self.file.write_text("nodes:\n  - {name: n1, gpu: 8}\n")
        done = self.run_it(DROVER, "up", "--cluster", self.file)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"drover: {self.file}:2: unknown key 'gpu'; did you mean 'gpus'?\n")
        done = self.run_it(DROVER, "up", "--cluster", "/no/such/file")
        self.assertEqual((done.returncode, done.stderr), (1, "drover: /no/such/file: No such file or directory\n"))
        self.assertEqual(self.run_it(DROVER, "upp").returncode, 2)
        self.assertEqual(self.run_it(DROVER, "down").returncode, 0)
        self.assertEqual(self.run_it(DROVER, "status").returncode, 1)
        self.assertRegex(self.run_it(DROVER, "version").stdout, r"^drover \d+\.\d+\.\d+\n$")

    @as_root
    def test_without_root_it_runs_the_starters_jobs_and_says_what_is_off(self):
        os.chmod(self.base, 0o777)
        run = {"user": 65534, "group": 65534, "extra_groups": []}
        self.environment["HOME"] = str(self.base)
        done = self.run_it(DROVER, "up", "--cluster", self.file, "--private", "--detach", **run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("What is off here", done.stdout)
        mine = self.run_it("sbatch", "--wait", "-o", "/dev/null", "--wrap", "exit 4", **run)
        self.assertEqual(mine.returncode, 4, mine.stderr)
        long = self.run_it("sbatch", "--parsable", "-o", "/dev/null", "--wrap", "sleep 300", **run).stdout.strip()
        self.until(lambda: self.state_of(long) == "RUNNING", "it runs")
        down = self.run_it(DROVER, "down", **run)
        self.assertEqual((down.returncode, down.stdout), (0, "the cluster is down\n"), down.stderr)


if __name__ == "__main__":
    unittest.main()
