"""Who starts when: order, gangs, arrays, dependencies, requeue, and what is refused at once."""
import time
import unittest

from cluster import Cluster

THREE = """\
cluster: test
nodes:
  - {name: n1, cpus: 4, memory: 4G, gpus: none}
  - {name: n2, cpus: 4, memory: 4G, gpus: none}
  - {name: n3, cpus: 4, memory: 4G, gpus: none}
settings: {kill_grace: 2s, requeue_delay: 1s}
"""


class Order(unittest.TestCase):
    def test_four_exclusive_jobs_on_three_nodes(self):
        with Cluster(THREE) as cluster:
            jobs = [cluster.wrap("sleep 300", "--exclusive", "-N", str(n), "-t", str(t))
                    for n, t in ((1, 3), (3, 1), (1, 2), (1, 10))]
            cluster.until(lambda: cluster.queue(jobs[2]) == "RUNNING", "the third is filled in")
            wanted = ["R None", "PD Resources", "R None", "PD Priority"]

            def seen():
                return [cluster.queue(job, "%t %r") for job in jobs]

            cluster.until(lambda: seen() == wanted, f"{wanted}")
            time.sleep(1)
            self.assertEqual(seen(), wanted)
            states = cluster.run("sinfo", "-h", "-N", "-p", "main", "-o", "%t").stdout.split()
            self.assertEqual(sum(s in ("idle", "plnd") for s in states), 1, "one node is free")

    def test_a_gang_starts_whole_or_not_at_all(self):
        with Cluster(THREE) as cluster:
            holder = cluster.wrap("sleep 60", "-w", "n2", "-c3", "--mem=100M")
            cluster.running(holder)
            gang = cluster.wrap("echo $SLURM_JOB_NODELIST", "-N", "3", "--ntasks-per-node=1", "-c2", "--mem=100M",
                                "-o", "g")
            small = cluster.wrap("true", "-c1", "--mem=100M", "-t", "1")
            self.assertEqual(cluster.result(small), "COMPLETED|0:0")
            self.assertEqual(cluster.queue(gang, "%t|%r|%N"), "PD|Resources|")
            cluster.run("scancel", holder)
            self.assertEqual(cluster.result(gang), "COMPLETED|0:0")
            self.assertEqual(cluster.output("g"), "n[1-3]\n")


class Arrays(unittest.TestCase):
    def test_the_throttle_holds_and_can_be_changed(self):
        with Cluster(THREE) as cluster:
            job = cluster.wrap("sleep 1.5", "--array=0-7%2", "-c1", "--mem=10M")

            def running():
                return cluster.run("squeue", "-h", "-r", "-j", job, "-t", "R", "-o", "%i").stdout.split()

            cluster.until(lambda: len(running()) == 2, "two run")
            self.assertEqual({r for r in cluster.run("squeue", "-h", "-j", job, "-t", "PD", "-o", "%r").stdout.split()},
                             {"JobArrayTaskLimit"})
            for _ in range(10):
                self.assertLessEqual(len(running()), 2)
                time.sleep(0.1)
            self.assertEqual(set(cluster.ended(job)), {"COMPLETED"})
            self.assertEqual(len(cluster.sacct(job, "JobID")), 8)

    def test_only_the_named_task_is_cancelled_or_requeued(self):
        with Cluster(THREE) as cluster:
            job = cluster.wrap("sleep ${SLURM_RESTART_COUNT:+0}${SLURM_RESTART_COUNT:-30}", "--array=1-3", "-c1",
                               "--mem=10M")
            for task in (1, 2, 3):
                cluster.running(f"{job}_{task}")
            cluster.run("scancel", f"{job}_1")
            cluster.run("scontrol", "requeue", f"{job}_2")
            self.assertEqual(cluster.ended(f"{job}_1"), ["CANCELLED"])
            self.assertEqual(cluster.ended(f"{job}_2"), ["COMPLETED"])
            self.assertEqual(cluster.queue(f"{job}_3"), "RUNNING")
            cluster.run("scancel", job)
            cluster.ended(job)


class Dependencies(unittest.TestCase):
    def test_every_kind(self):
        with Cluster(THREE) as cluster:
            good, bad = cluster.wrap("sleep 1", "-c1"), cluster.wrap("sleep 1; exit 1", "-c1")
            runs = [cluster.wrap("true", "-c1", f"--dependency={d}") for d in
                    (f"afterok:{good}", f"afternotok:{bad}", f"afterany:{good}:{bad}", f"after:{good}",
                     f"afterok:{bad}?afterok:{good}", "afterany:999999")]
            never = cluster.wrap("true", "-c1", f"--dependency=afterok:{bad}")
            killed = cluster.wrap("true", "-c1", f"--dependency=afterok:{bad}", "--kill-on-invalid-dep=yes")
            for job in runs:
                self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            cluster.until(lambda: cluster.queue(never, "%t %r") == "PD DependencyNeverSatisfied", "it is told")
            self.assertEqual(cluster.ended(killed), ["CANCELLED"])
            late = cluster.wrap("true", "-c1", f"--dependency=afterok:{good}")
            self.assertEqual(cluster.result(late), "COMPLETED|0:0")

    def test_an_unknown_parent_or_a_mixed_list_is_refused(self):
        with Cluster(THREE) as cluster:
            for words in ("afterok:999999", "afternotok:999999", "afterok:1,afterok:2?afterok:3", "sometime:1"):
                refused = cluster.run("sbatch", f"--dependency={words}", "--wrap", "true", check=False)
                self.assertNotEqual(refused.returncode, 0, words)
                self.assertIn("dependency", refused.stderr.lower())
            self.assertEqual(cluster.run("squeue", "-h", "-t", "all").stdout, "")

    def test_singletons_run_one_at_a_time_in_order(self):
        with Cluster(THREE) as cluster:
            jobs = [cluster.wrap(f"echo {i} >> order; sleep 0.5; echo {i} >> order", "-c1", "-J", "one",
                                 "--dependency=singleton") for i in range(3)]
            for job in jobs:
                self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("order").split(), ["0", "0", "1", "1", "2", "2"])


class Requeue(unittest.TestCase):
    def test_a_requeued_job_keeps_its_id_and_counts(self):
        with Cluster(THREE) as cluster:
            job = cluster.wrap("echo [$SLURM_RESTART_COUNT] >> o2; test -n \"$SLURM_RESTART_COUNT\" || sleep 60",
                               "--requeue")
            cluster.until(lambda: cluster.output("o2"), "the first run began")
            cluster.run("scontrol", "requeue", job)
            cluster.until(lambda: cluster.queue(job) == "PENDING" or "[1]" in cluster.output("o2"), "it waits again")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("o2").split(), ["[]", "[1]"])
            self.assertEqual(cluster.show(job)["Restarts"], "1")
            self.assertEqual(len(cluster.sacct(job)), 1)
            self.assertEqual(len(cluster.sacct(job, "State", "-D")), 2)


class Refusals(unittest.TestCase):
    def test_what_no_node_has_is_refused_with_what_would_fit(self):
        with Cluster() as cluster:
            for words, hint in ((["--gres=gpu:a100:3"], "nearest request that fits: 2 x a100"),
                                (["--gres=gpu:h100:1"], ""), (["-N", "9"], ""),
                                (["-c", "99"], ""), (["--mem=999G"], ""), (["--array=5-1"], ""),
                                (["--gres=gpu:x:y:z"], "")):
                refused = cluster.run("sbatch", *words, "--wrap", "true", check=False)
                self.assertEqual(refused.returncode, 1, f"{words}: {refused.stdout}{refused.stderr}")
                self.assertIn("sbatch: error: ", refused.stderr)
                self.assertIn(hint, refused.stderr)
            self.assertEqual(cluster.run("squeue", "-h", "-t", "all").stdout, "")

    def test_mistakes_are_255_and_submit_nothing(self):
        with Cluster() as cluster:
            for words in (["--no-such-option"], ["-t", "1:2:3:4"], ["--mem=2.5G"], ["--mem=32GiB"], ["-N", "x"]):
                refused = cluster.run("sbatch", *words, "--wrap", "true", check=False)
                self.assertEqual(refused.returncode, 255, f"{words}: {refused.stdout}{refused.stderr}")
            for script, words in (("#!/bin/sh\n#SBATCH --gres=gpu:1 extra\ntrue\n", "Invalid directive"),
                                  ("true\n", "This does not look like a batch script"),
                                  ("#!/bin/sh\r\ntrue\r\n", "DOS line breaks")):
                (cluster.work / "s.sh").write_bytes(script.encode())
                refused = cluster.run("sbatch", "s.sh", check=False)
                self.assertNotEqual(refused.returncode, 0, script)
                self.assertIn(words, refused.stderr)
            self.assertEqual(cluster.run("squeue", "-h", "-t", "all").stdout, "")

    def test_a_hostile_name_is_only_a_name(self):
        name = "$(touch pwn);../../x\x1b[31m"
        with Cluster() as cluster:
            job = cluster.wrap("true", "-J", name, "-o", "log-%x.txt")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertFalse(list(cluster.base.rglob("pwn")))
            self.assertNotIn("\x1b", cluster.run("squeue", "-t", "all", "-o", "%j").stdout)
            self.assertTrue(all(p.parent == cluster.work for p in cluster.base.rglob("log-*")))


class Submission(unittest.TestCase):
    def test_precedence_is_script_environment_command_line(self):
        with Cluster() as cluster:
            (cluster.work / "s.sh").write_text("#!/bin/sh\n#SBATCH -t 10\ntrue\n")
            for env, words, limit in (({}, [], "00:10:00"), ({"SBATCH_TIMELIMIT": "20"}, [], "00:20:00"),
                                      ({"SBATCH_TIMELIMIT": "20"}, ["-t", "30"], "00:30:00")):
                job = cluster.sbatch("-H", *words, "s.sh", env=env)
                self.assertEqual(cluster.show(job)["TimeLimit"], limit)
            cluster.run("scancel", "--me")

    def test_stdin_arguments_export_and_chdir(self):
        with Cluster() as cluster:
            job = cluster.sbatch("-o", "o1", stdin="#!/bin/sh\necho from stdin\n")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("o1"), "from stdin\n")
            (cluster.work / "s.sh").write_text("#!/bin/sh\necho $1 $A $B; pwd\n")
            job = cluster.sbatch("--export=ALL,A=1", "-D", "/", "-o", str(cluster.work / "o2"),
                                 str(cluster.work / "s.sh"), "arg", env={"B": "2"})
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("o2"), "arg 1 2\n/\n")

    def test_log_names(self):
        with Cluster() as cluster:
            job = cluster.wrap("echo x", "--array=3", "-J", "nm", "-o", "%x-%A_%a-%5A-%u-%N-%%.log", "-w", "n3")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            user = cluster.run("id", "-un").stdout.strip()
            self.assertEqual(cluster.output(f"nm-{job}_3-{int(job):05}-{user}-n3-%.log"), "x\n")
            missing = cluster.wrap("echo x", "-o", "no/such/folder/x.log")
            self.assertEqual(cluster.ended(missing), ["FAILED"])

    def test_wait_and_parsable_and_test_only(self):
        with Cluster() as cluster:
            done = cluster.run("sbatch", "--parsable", "--wait", "--wrap", "sleep 1; exit 9", check=False)
            self.assertEqual(done.returncode, 9)
            self.assertEqual(cluster.sacct(done.stdout.strip()), ["FAILED|9:0"])
            only = cluster.run("sbatch", "--test-only", "-c2", "--wrap", "true")
            self.assertRegex(only.stderr, r"^sbatch: Job \d+ to start at \d{4}-\d\d-\d\dT\S+ a using \d+ processors on "
                                          r"nodes \S+ in partition main\n$")  # " a" is Slurm's own
            self.assertEqual(len(cluster.run("sacct", "-X", "-n").stdout.splitlines()), 1)

    def test_exclusive_and_memory_of_whole_nodes(self):
        with Cluster(THREE) as cluster:
            job = cluster.wrap("echo $SLURM_CPUS_ON_NODE $SLURM_MEM_PER_NODE", "--exclusive", "--mem=1G", "-o", "o")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("o").split(), ["4", "1024"])
            everything = cluster.wrap("true", "--mem=0")
            cluster.ended(everything)
            self.assertIn("mem=4G", cluster.sacct(everything, "AllocTRES")[0])

    def test_gpus_with_conditions_and_amounts_per_gpu(self):
        with Cluster() as cluster:
            job = cluster.wrap("echo $SLURMD_NODENAME", "--gres=gpu:1", "-o", "o", "-c1", "--mem=10M",
                               "--extra=gpu_memory>=40GB && compute_capability>=8.0")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("o"), "n1\n")
            per = cluster.wrap("true", "--gpus=2", "--cpus-per-gpu=2", "--mem-per-gpu=1G")
            cluster.ended(per)
            tres = cluster.sacct(per, "AllocTRES")[0]
            for part in ("cpu=4", "mem=2G", "gres/gpu=2"):
                self.assertIn(part, tres)


if __name__ == "__main__":
    unittest.main()
