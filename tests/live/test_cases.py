"""Behaviour cases that went wrong for somebody elsewhere, each on real daemons. The numbers are those of the
list of cases that the project is built against."""
import re
import unittest

from cluster import Cluster

SORTED = """\
cluster: test
nodes:
  - {name: n1, cpus: 4, memory: 4G, gpus: {model: nvidia_a100-sxm4-80gb, count: 1, memory: 80GB}}
  - {name: n2, cpus: 4, memory: 4G, gpus: {model: a100, count: 2, memory: 40GB}}
settings: {kill_grace: 2s, requeue_delay: 1s, node_timeout: 5s}
"""


class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(SORTED)
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()

    def test_c59_a_requeued_job_shows_no_final_state_in_between(self):
        cluster = self.cluster
        job = cluster.wrap("test -n \"$SLURM_RESTART_COUNT\" || sleep 60", "--requeue", "-c1", "--mem=100M")
        cluster.running(job)
        cluster.run("scontrol", "requeue", job)
        seen = set()

        def over():
            seen.add(cluster.queue(job))
            rows = cluster.sacct(job, "State")
            seen.update(rows)
            return rows == ["COMPLETED"]
        cluster.until(over, "its second run has ended")
        self.assertLessEqual(seen, {"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "REQUEUED", "COMPLETED", ""})
        self.assertEqual(cluster.sacct(job, "State"), ["COMPLETED"])
        self.assertEqual(cluster.sacct(job, "State", "-D"), ["REQUEUED", "COMPLETED"])

    def test_c77_the_scheduler_sets_no_variables_of_launchers(self):
        done = self.cluster.run("srun", "-n4", "env")
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        self.assertIn("SLURM_PROCID", names)
        self.assertFalse(names & {"MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE", "LOCAL_RANK"})

    def test_c86_exit_codes_of_scripts_steps_and_kills(self):
        cluster = self.cluster
        for script, state, derived in (("exit 3", "FAILED|3:0", "0:0"), ("kill -9 $$", "FAILED|0:9", "0:0"),
                                       ("srun sh -c 'exit 5'; exit 0", "COMPLETED|0:0", "5:0")):
            job = cluster.wrap(script, "-c1", "--mem=100M")
            self.assertEqual(cluster.result(job), state, script)
            self.assertEqual(cluster.sacct(job, "DerivedExitCode"), [derived], script)
            self.assertEqual(cluster.show(job)["ExitCode"], state.split("|")[1])
            shown = cluster.run("scontrol", "-d", "show", "job", job).stdout
            self.assertIn(f"DerivedExitCode={derived}", shown)

    def test_c104_gpu_types_match_whole_and_in_any_case(self):
        cluster = self.cluster
        for name, node in (("a100", "n2"), ("A100", "n2"), ("nvidia_a100-sxm4-80gb", "n1")):
            job = cluster.wrap("true", f"--gres=gpu:{name}:1", "-c1", "--mem=100M")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0", name)
            self.assertEqual(cluster.sacct(job, "NodeList"), [node], name)
        for name in ("h100", "sxm4", "a10", "nvidia"):
            refused = cluster.run("sbatch", f"--gres=gpu:{name}:1", "--wrap", "true", check=False)
            self.assertEqual(refused.returncode, 1, name)
            self.assertIn("Requested node configuration is not available", refused.stderr)


class LostNode(unittest.TestCase):
    def test_c65_c95_a_lost_node_ends_the_job_and_is_named_in_the_accounts(self):
        with Cluster(SORTED) as cluster:
            stays = cluster.wrap("sleep 60", "-w", "n1", "--no-requeue", "-c1", "--mem=100M")
            again = cluster.wrap("test -n \"$SLURM_RESTART_COUNT\" || sleep 60", "-w", "n1", "--requeue", "-c1",
                                 "--mem=100M")
            for job in (stays, again):
                cluster.running(job)
            cluster.kill("n1")
            cluster.until(lambda: re.search("down", cluster.run("sinfo", "-h", "-n", "n1", "-o", "%t").stdout),
                          "n1 is down")
            self.assertEqual(cluster.queue(stays), "RUNNING", "a silent node is not a dead one")
            cluster.run("scontrol", "update", "NodeName=n1", "State=DEAD", "Reason=burnt")
            self.assertEqual(cluster.sacct(stays, "State,NodeList"), ["NODE_FAIL|n1"])
            self.assertEqual(cluster.queue(again), "PENDING")


if __name__ == "__main__":
    unittest.main()
