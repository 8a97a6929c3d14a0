"""Both doors at once, at random, while droverd is killed: no GPU is held twice, both show the same work, and a
watcher misses nothing. DROVER_OPS says how many operations (200), DROVER_SEED which, DROVER_MINUTES when to
stop all the same."""
import os
import random
import time
import unittest

from cluster import as_root
from kube import KubeCluster, Watch

YAML = """\
cluster: test
nodes:
  - {name: n1, cpus: 64, memory: 8G, gpus: {model: a100, count: 16, memory: 80GB}}
  - {name: n2, cpus: 64, memory: 8G, gpus: {model: t4, count: 8, memory: 16GB}}
settings: {kill_grace: 2s, node_timeout: 10s, min_job_age: 10s}
"""

# Holds a lock for each GPU that it was given (by its number on the machine, which a declared GPU's UUID ends
# with), as long as it lives; who finds one taken says so. The kernel lets
# go of a lock with its process, so a kill leaves nothing behind.
HOLD = """
me="job $SLURM_JOB_ID pod $POD"
fd=20
gpus="$SLURM_JOB_GPUS"
[ -n "$gpus" ] || gpus=$NVIDIA_VISIBLE_DEVICES
for gpu in $(echo $gpus | tr , ' '); do
  lock={locks}/$SLURMD_NODENAME$NODE-${{gpu##*-}}
  eval "exec $fd>>$lock"
  if flock -n $fd; then echo "$me $(date +%s.%N)" > $lock
  else echo "$lock: $me finds $(cat $lock) at $(date +%s.%N)" >> {locks}/violations
  fi
  fd=$((fd + 1))
done
exec sleep {seconds}
"""


class Operations:
    """One random operation at a time; each is answered before the next."""

    def __init__(self, cluster, chance, locks):
        self.cluster, self.chance, self.locks = cluster, chance, locks
        self.jobs, self.pods, self.count = [], [], 0
        self.connection = None  # to droverd, kept until that is killed
        self.kinds = [self.submit] * 5 + [self.create] * 5 + [self.cancel] * 2 + [self.delete] * 5 + \
                     [self.delete_job] + [self.cordon]

    def one(self):
        self.count += 1
        self.chance.choice(self.kinds)()

    def api(self, *words):
        self.connection = self.connection or self.cluster.connection()
        return self.cluster.api(*words, connection=self.connection)

    def forget_connection(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def script(self):
        return HOLD.format(locks=self.locks, seconds=self.chance.choice([0.05, 0.2, 0.5, 2]))

    def submit(self):
        self.jobs.append(self.cluster.wrap(self.script(), f"--gres=gpu:{self.chance.randint(1, 3)}", "-c1",
                                           "--mem=10M", "-o", "/dev/null"))

    def create(self):
        name = f"p{self.count}"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
               "spec": {"restartPolicy": "Never", "terminationGracePeriodSeconds": 2, "containers": [{
                   "name": "main", "image": "host", "command": ["bash", "-c", self.script()],
                   "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                           {"name": "POD", "value": name}],
                   "resources": {"limits": {"nvidia.com/gpu": self.chance.randint(1, 3), "memory": "10Mi"}}}]}}
        status, answer = self.api("POST", "/api/v1/namespaces/default/pods", pod)
        assert status == 201, answer
        self.pods.append(name)

    def cancel(self):
        if self.jobs:
            self.cluster.run("scancel", self.chance.choice(self.jobs), check=False)

    def delete(self):
        if self.pods:
            name = self.pods.pop(self.chance.randrange(len(self.pods)))
            status, answer = self.api("DELETE", f"/api/v1/namespaces/default/pods/{name}")
            assert status in (200, 404), answer

    def delete_job(self):
        if self.jobs:
            status, answer = self.api(
                "DELETE", f"/api/v1/namespaces/slurm-jobs/pods/job-{self.chance.choice(self.jobs)}")
            assert status in (200, 404, 409, 422), answer

    def cordon(self):
        node = self.chance.choice(["n1", "n2"])
        status, answer = self.api("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}},
                                          {"Content-Type": "application/merge-patch+json"})
        assert status == 200, answer
        self.cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")


@as_root
class BothDoors(unittest.TestCase):
    def test_random_work_from_both_doors_with_restarts(self):
        seed = int(os.environ.get("DROVER_SEED", random.SystemRandom().randrange(10**6)))
        count = int(os.environ.get("DROVER_OPS", "200"))
        print(f"DROVER_SEED={seed} DROVER_OPS={count}", flush=True)
        chance = random.Random(seed)
        with KubeCluster(YAML) as cluster:
            locks = cluster.base / "locks"
            locks.mkdir()
            listing = cluster.get("/api/v1/pods")
            watch = Watch(cluster, "/api/v1/pods", listing["metadata"]["resourceVersion"])
            operations = Operations(cluster, chance, locks)
            apart = max(60, count // 60)  # operations between two kills
            end = time.monotonic() + 60 * float(os.environ.get("DROVER_MINUTES", "1000"))
            for i in range(1, count + 1):
                operations.one()
                if i % apart == 0:
                    cluster.kill("droverd")
                    cluster.start_controller()
                    operations.forget_connection()
                    print(f"{i} operations, {len(watch.events)} events, {watch.breaks} breaks {watch.errors}", flush=True)
                    if time.monotonic() > end:
                        break
            self._settle(cluster, operations)
            self.assertFalse((locks / "violations").exists(), "a GPU twice: " + self._violations(locks))
            self._compare(cluster, watch)

    def _violations(self, locks):
        return (locks / "violations").read_text() if (locks / "violations").exists() else ""

    def _settle(self, cluster, operations):
        """Everything ends by itself, in both doors."""
        cluster.until(lambda: cluster.run("squeue", "-h", check=False).stdout == "", "the queue is empty", 120)
        over = lambda: all(p["status"]["phase"] in ("Succeeded", "Failed") for p in cluster.get("/api/v1/pods")["items"])
        cluster.until(over, "all pods are over")
        for name in operations.pods:
            cluster.api("DELETE", f"/api/v1/namespaces/default/pods/{name}")
        cluster.until(lambda: not cluster.get("/api/v1/namespaces/default/pods")["items"], "the pods are gone")
        for node in cluster.get("/api/v1/nodes")["items"]:
            used = cluster.run("scontrol", "show", "node", node["metadata"]["name"]).stdout
            self.assertIn("CPUAlloc=0", used)

    def _compare(self, cluster, watch):
        """What the watcher was told comes to what there is."""
        wanted = {p["metadata"]["name"] for p in cluster.get("/api/v1/pods")["items"]}

        def known():
            there = set()
            for kind, name, _ in list(watch.events):
                (there.discard if kind == "DELETED" else there.add)(name)
            return there
        cluster.until(lambda: known() == wanted or watch.errors, "the watcher knows what there is")
        events = watch.stop()
        self.assertEqual(watch.errors, [])
        versions = [version for _, _, version in events]
        self.assertEqual(versions, sorted(set(versions)))


if __name__ == "__main__":
    unittest.main()
