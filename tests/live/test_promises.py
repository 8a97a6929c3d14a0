"""What drover promises about jobs and their ids, whatever crashes."""
import os
import re
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

from cluster import SLOW, Cluster, as_root

ONE_NODE = """\
cluster: test
nodes:
  - {name: n1, cpus: 8, memory: 4G, gpus: none}
settings: {kill_grace: 2s, requeue_delay: 1s, node_timeout: 10s}
"""


class Durability(unittest.TestCase):
    def traced(self):
        """A cluster whose droverd runs under strace."""
        trace = Path(f"/tmp/dt-trace-{os.getpid()}")
        self.addCleanup(trace.unlink, missing_ok=True)
        tracer = ["strace", "-f", "-y", "-s", "200", "-o", str(trace), "-e",
                  "trace=fdatasync,fsync,write,writev,pwrite64,sendto,sendmsg"]
        return trace, Cluster(ONE_NODE, tracer=tracer)

    def test_the_sync_comes_before_the_id_leaves(self):
        trace, cluster = self.traced()
        with cluster:
            before = trace.stat().st_size
            job = cluster.wrap("true")
            cluster.until(lambda: re.search(rf'"job":"?{job}\b|\\"job\\":\D*{job}\b', trace.read_text()[before:])
                          or f"{job}" in trace.read_text()[before:], "the answer is in the trace")
            lines = trace.read_text()[before:].splitlines()
        answer = next(i for i, line in enumerate(lines)
                      if re.search(r"(sendto|sendmsg|write|writev)\(", line) and "HTTP/1.1 200" in line)
        syncs = [i for i, line in enumerate(lines) if re.search(r"f(data)?sync\(\d+<[^>]*log\.db", line)]
        self.assertTrue(syncs and syncs[0] < answer, "\n".join(lines[:answer + 1]))

    def test_two_hundred_parallel_submits_share_their_syncs(self):
        trace, cluster = self.traced()
        with cluster:
            cluster.run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=quiet")
            count = len(re.findall(r"f(?:data)?sync\(", trace.read_text()))
            said = cluster.run("sh", "-c", "for i in $(seq 200); do sbatch --wrap true & done; wait",
                               timeout=120).stdout
            ids = set(re.findall(r"Submitted batch job (\d+)", said))
            syncs = len(re.findall(r"f(?:data)?sync\(", trace.read_text())) - count
            self.assertEqual(len(ids), 200)
            self.assertEqual(len(cluster.run("squeue", "-h").stdout.splitlines()), 200)
            files = re.findall(r"f(?:data)?sync\(\d+<([^>]*)", trace.read_text())[count:]
            self.assertLess(syncs, 150, {name: files.count(name) for name in set(files)})
            cluster.run("scancel", "--me")

    def test_one_flipped_bit_is_found_and_named(self):
        with Cluster(ONE_NODE) as cluster:
            for _ in range(30):
                cluster.wrap("true", "-H")
            cluster.kill("droverd")
            newest = max((p for p in cluster.state.rglob("log.db*") if p.stat().st_size > 8192),
                         key=lambda p: p.stat().st_mtime)
            data = bytearray(newest.read_bytes())
            middle = len(data) // 2
            while not data[middle]:
                middle += 1
            data[middle] ^= 4
            newest.write_bytes(data)
            child = cluster.start_controller(wait=False)
            try:
                code = child.wait(timeout=20 * SLOW)
            except subprocess.TimeoutExpired:  # then nothing may be missing
                self.assertEqual(len(cluster.run("squeue", "-h").stdout.splitlines()), 30)
                self.fail("droverd leads on a damaged store")
            words = cluster.log("droverd", 3)
            self.assertNotEqual(code, 0)
            self.assertIn("log.db", words)
            self.assertRegex(words, r"position|record|offset|frame|page")
            data[middle] ^= 4
            newest.write_bytes(data)
            cluster.start_controller()
            self.assertEqual(len(cluster.run("squeue", "-h").stdout.splitlines()), 30)

    def test_a_second_droverd_on_one_store_is_refused(self):
        with Cluster(ONE_NODE) as cluster:
            first = cluster.children["droverd"]
            second = cluster._spawn("second", [*cluster.tracer, *first.args])
            self.assertNotEqual(second.wait(timeout=20 * SLOW), 0)
            self.assertRegex(cluster.log("second"), str(first.pid))
            self.assertEqual(cluster.run("squeue", "-h").returncode, 0)

    def test_sigterm_is_clean_and_loses_nothing(self):
        with Cluster(ONE_NODE) as cluster:
            held = [cluster.wrap("true", "-H") for _ in range(3)]
            child = cluster.children["droverd"]
            cluster.kill("droverd", signal.SIGTERM)
            self.assertEqual(child.returncode, 0)
            cluster.start_controller()
            self.assertEqual(sorted(cluster.run("squeue", "-h", "-o", "%i").stdout.split()), sorted(held))

    def test_a_paused_controller_makes_one_job_of_one_submit(self):
        with Cluster(ONE_NODE) as cluster:
            pid = cluster.children["droverd"].pid
            os.kill(pid, signal.SIGSTOP)
            threading.Timer(12, os.kill, (pid, signal.SIGCONT)).start()
            began = time.monotonic()
            job = cluster.wrap("true")
            self.assertGreater(time.monotonic() - began, 11)
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(len(cluster.run("sacct", "-X", "-n", "-o", "jobid").stdout.split()), 1)

    @as_root
    def test_a_full_disk_refuses_wishes_and_keeps_results(self):
        small = Path(f"/tmp/dt-small-{os.getpid()}")
        small.mkdir()
        self.addCleanup(small.rmdir)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m,mode=755", "none", str(small)], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)], check=True)
        with Cluster(ONE_NODE, state=small) as cluster:
            job = cluster.wrap("sleep 5; exit 5")
            cluster.running(job)
            filler = small / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while file.write(b"x" * (1 << 20)):
                        pass
                except OSError:
                    pass
            refused = cluster.until(lambda: (lambda r: r if r.returncode else None)(
                cluster.run("sbatch", "--wrap", "true", check=False)), "submits are refused")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("no space", refused.stderr.lower())
            self.assertEqual(cluster.result(job), "FAILED|5:0")
            filler.unlink()
            again = cluster.until(lambda: (lambda r: r.stdout if r.returncode == 0 else None)(
                cluster.run("sbatch", "--wrap", "true", check=False)), "service resumes without a restart")
            self.assertEqual(cluster.result(again.split()[-1]), "COMPLETED|0:0")
            self.assertIsNone(cluster.children["droverd"].poll())


class Crashes(unittest.TestCase):
    def test_all_daemons_killed_under_a_job_that_ends_meanwhile(self):
        with Cluster() as cluster:
            job = cluster.wrap("sleep 6; exit 42")
            cluster.running(job)
            cluster.kill_all()
            time.sleep(7.5)
            cluster.start_all()
            cluster.ended(job)
            self.assertEqual(cluster.sacct(job, "State,ExitCode,ElapsedRaw"), ["FAILED|42:0|6"])

    def test_all_daemons_killed_under_a_job_that_goes_on(self):
        with Cluster() as cluster:
            job = cluster.wrap("echo $$ > alive; sleep 6; echo done >> alive")
            cluster.running(job)
            pid = cluster.until(lambda: cluster.output("alive").strip(), "it has begun")
            cluster.kill_all()
            cluster.start_all()
            self.assertTrue(Path(f"/proc/{pid}").exists())
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("alive").split(), [pid, "done"])

    def test_each_daemon_killed_alone_touches_no_job(self):
        with Cluster() as cluster:
            job = cluster.wrap("sleep 5; exit 3", "-w", "n1")
            cluster.running(job)
            cluster.kill("n1")
            cluster.start_agent("n1")
            for pid in cluster.keepers():
                os.kill(pid, signal.SIGKILL)
            other = cluster.wrap("exit 1", "-w", "n1")
            cluster.kill("droverd")
            cluster.start_controller()
            self.assertEqual(cluster.result(other), "FAILED|1:0")
            self.assertEqual(cluster.result(job), "FAILED|3:0")

    def test_kill_loop_under_submits(self):
        rounds = int(os.environ.get("DROVER_KILLS", "8"))
        with Cluster(ONE_NODE) as cluster:
            printed, stop = [], threading.Event()
            ran = cluster.work / "ran"
            ran.mkdir()

            def submit():
                while not stop.is_set():
                    answer = cluster.run("sbatch", "--parsable", "-c1", "--mem=16M", "--wrap",
                                         f"echo x >> {ran}/$SLURM_JOB_ID", check=False, timeout=120)
                    if answer.returncode == 0:
                        printed.append(answer.stdout.strip())

            threads = [threading.Thread(target=submit) for _ in range(3)]
            for thread in threads:
                thread.start()
            try:
                for i in range(rounds):
                    time.sleep(0.2 + 0.05 * (i % 7))
                    cluster.kill("droverd")
                    cluster.start_controller()
            finally:
                stop.set()
                for thread in threads:
                    thread.join()
            self.assertEqual(len(printed), len(set(printed)), "an id was printed twice")
            cluster.until(lambda: not cluster.run("squeue", "-h").stdout.strip(), "the queue is empty", 120)
            rows = cluster.run("sacct", "-X", "-n", "-P", "-o", "JobID,State").stdout.split()
            self.assertEqual(len(rows), len(set(rows)))
            self.assertLessEqual(set(printed), {row.split("|")[0] for row in rows}, "a printed id is not there")
            self.assertEqual({row.split("|")[1] for row in rows}, {"COMPLETED"})
            twice = [p.name for p in ran.iterdir() if p.read_text() != "x\n"]
            self.assertEqual(twice, [], "jobs that ran twice")
            self.assertEqual(len(list(ran.iterdir())), len(rows))


if __name__ == "__main__":
    unittest.main()
