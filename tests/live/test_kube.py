"""The Kubernetes door: the real kubectls, watches that outlive droverd, refusals in an API server's words."""
import base64
import contextlib
import http.client
import json
import os
import random
import signal
import ssl
import unittest

from cluster import as_root
from kube import KubeCluster, Watch, kubectls

NOBODY = 65534


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@unittest.skipUnless(kubectls(), "no kubectl on the PATH (Debian: kubernetes-client)")
class Kubectl(unittest.TestCase):
    """What every kubectl that is found can do."""

    def test_every_kubectl_reads_and_writes_objects(self):
        with KubeCluster(nodes=[]) as cluster:
            for program in kubectls():
                with self.subTest(program=program):
                    self._objects(cluster, program)

    def _objects(self, cluster, program):
        def kubectl(*words, **options):
            return cluster.kubectl(*words, program=program, **options).stdout

        self.assertIn("configmaps", kubectl("api-resources"))
        kubectl("create", "namespace", "lab")
        kubectl("create", "configmap", "settings", "--from-literal=a=1", "-n", "lab")
        self.assertEqual(kubectl("get", "cm", "settings", "-n", "lab", "-o", "jsonpath={.data.a}"), "1")
        kubectl("label", "cm", "settings", "tier=gold", "-n", "lab")
        kubectl("annotate", "cm", "settings", "note=x", "-n", "lab")
        self.assertRegex(kubectl("get", "cm", "-n", "lab", "-L", "tier"), r"(?m)^settings\s+1\s+\S+\s+gold$")
        kubectl("patch", "cm", "settings", "-n", "lab", "-p", '{"data":{"b":"2"}}')
        kubectl("patch", "cm", "settings", "-n", "lab", "--type=json", "-p", '[{"op":"remove","path":"/data/a"}]')
        kubectl("patch", "cm", "settings", "-n", "lab", "--type=merge", "-p", '{"data":{"c":"3"}}')
        found = json.loads(kubectl("get", "cm", "settings", "-n", "lab", "-o", "json"))
        self.assertEqual(found["data"], {"b": "2", "c": "3"})
        self.assertEqual(found["metadata"]["annotations"]["note"], "x")
        kubectl("create", "secret", "generic", "key", "--from-literal=p=q", "-n", "lab")
        self.assertIn("Opaque", kubectl("get", "secret", "-n", "lab"))
        self.assertEqual(kubectl("get", "cm", "-n", "lab", "-l", "tier in (gold,silver),!none", "-o", "name").strip(),
                         "configmap/settings")
        kubectl("delete", "namespace", "lab")
        self.assertNotEqual(cluster.kubectl("get", "cm", "settings", "-n", "lab", check=False).returncode, 0)

    def test_every_kubectl_cordons_and_marks_nodes_and_slurm_sees_it(self):
        with KubeCluster() as cluster:
            for program in kubectls():
                with self.subTest(program=program):
                    self._nodes(cluster, program)

    def _nodes(self, cluster, program):
        def kubectl(*words):
            return cluster.kubectl(*words, program=program).stdout

        kubectl("cordon", "n1")
        self.assertIn("SchedulingDisabled", kubectl("get", "node", "n1"))
        self.assertIn("drain", cluster.run("sinfo", "-h", "-n", "n1", "-o", "%T").stdout)
        cluster.run("scontrol", "update", "NodeName=n1", "State=RESUME")
        self.assertNotIn("SchedulingDisabled", kubectl("get", "node", "n1"))
        kubectl("taint", "node", "n1", "work=none:NoSchedule")
        kubectl("label", "node", "n1", "rack=r7")
        self.assertEqual(kubectl("get", "nodes", "-l", "rack=r7", "-o", "name").strip(), "node/n1")
        kubectl("taint", "node", "n1", "work-")
        kubectl("label", "node", "n1", "rack-")
        self.assertIn("gpu-memory", kubectl("get", "nodes", "-L", "gpu-memory").lower())
        self.assertRegex(kubectl("get", "nodes", "-L", "gpu-memory"), r"(?m)^n1 .* 80$")
        self.assertIn("nvidia.com/gpu", kubectl("describe", "node", "n1"))


class OneLedger(unittest.TestCase):
    """Both doors show the same work."""

    POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"},
           "spec": {"containers": [{"name": "main", "image": "host", "command": ["true"],
                                    "resources": {"limits": {"nvidia.com/gpu": "9"}}}]}}

    def test_a_pod_waits_in_the_queue_with_every_reason_and_goes_when_deleted(self):
        with KubeCluster() as cluster:
            status, made = cluster.api("POST", "/api/v1/namespaces/default/pods", self.POD)
            self.assertEqual(status, 201, made)
            self.assertRegex(cluster.run("squeue", "-h", "-o", "%j %T").stdout, r"train PENDING")
            pod = cluster.until(lambda: self._condition(cluster), "the pod says why it waits")
            self.assertEqual((pod["reason"], pod["status"]), ("Unschedulable", "False"))
            self.assertRegex(pod["message"], r"^0/3 nodes are available: .*Insufficient nvidia.com/gpu.*")
            events = cluster.get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=train")
            self.assertIn("FailedScheduling", [e["reason"] for e in events["items"]])
            cluster.api("DELETE", "/api/v1/namespaces/default/pods/train")
            cluster.until(lambda: cluster.api("GET", "/api/v1/namespaces/default/pods/train")[0] == 404, "it is gone")
            self.assertEqual(cluster.run("squeue", "-h").stdout, "")

    def _condition(self, cluster):
        pod = cluster.get("/api/v1/namespaces/default/pods/train")
        found = [c for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
        return found[0] if found and found[0].get("message") else None

    def test_slurms_jobs_are_pods_and_deleting_one_is_scancel(self):
        with KubeCluster() as cluster:
            job = cluster.wrap("sleep 100", "--mem=10M")
            cluster.running(job)
            path = f"/api/v1/namespaces/slurm-jobs/pods/job-{job}"
            cluster.until(lambda: cluster.api("GET", path)[0] == 200, "the job is a pod")
            pod = cluster.until(lambda: (lambda p: p["status"]["phase"] == "Running" and p)(cluster.get(path)), "it runs")
            self.assertEqual((pod["status"]["phase"], pod["spec"]["nodeName"]), ("Running", cluster.queue(job, "%N")))
            status, refused = cluster.api("POST", "/api/v1/namespaces/slurm-jobs/pods", self.POD)
            self.assertEqual((status, refused["reason"]), (403, "Forbidden"))
            self.assertEqual(cluster.api("DELETE", f"/api/v1/namespaces/slurm-jobs/pods/job-{job}")[0], 200)
            self.assertEqual(cluster.ended(job), ["CANCELLED"])


class Parts(unittest.TestCase):
    """CPU requests in thousandths, beside Slurm's whole CPUs."""

    PODS = "/api/v1/namespaces/default/pods"

    def _make(self, cluster, name, cpu):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
               "spec": {"terminationGracePeriodSeconds": 0, "nodeSelector": {"kubernetes.io/hostname": "n3"},
                        "containers": [{"name": "main", "image": "host", "command": ["sleep", "1000"],
                                        "resources": {"requests": {"cpu": cpu}}}]}}
        status, made = cluster.api("POST", self.PODS, pod)
        self.assertEqual(status, 201, made)

    def _placed(self, cluster, *names):
        for name in names:
            cluster.until(lambda: cluster.get(f"{self.PODS}/{name}")["spec"].get("nodeName") == "n3", f"{name} has n3")

    def test_pods_share_cpus_to_the_last_thousandth(self):
        with KubeCluster() as cluster:  # n3 has 4 CPUs
            parts = [f"part-{i}" for i in range(6)]
            for name in parts:
                self._make(cluster, name, "300m")
            self._placed(cluster, *parts)
            job = cluster.wrap("sleep 100", "-w", "n3", "-c", "2", "--mem=10M")
            cluster.running(job)
            self._make(cluster, "more", "300m")
            words = "Insufficient cpu (want 300m, at most 200m free)"
            cluster.until(lambda: words in json.dumps(cluster.get(f"{self.PODS}/more")), "it says what is missing")
            # One that waits is not overtaken by what would stay for longer than it has to wait.
            cluster.kubectl("delete", "pod", "more")
            self._make(cluster, "last", "200m")
            self._placed(cluster, "last")
            self._make(cluster, "more", "300m")
            # Six times 300m, the last 200m, and the 2 CPUs of the job, which is a pod in another namespace.
            self.assertRegex(cluster.kubectl("describe", "node", "n3").stdout, r"(?m)^\s+cpu\s+4 \(100%\)")
            cluster.run("scancel", job)
            self._placed(cluster, "more")


class OtherPods(unittest.TestCase):
    """Pods that say where others may and may not be. (n1, n2 and n3 are nodes of one machine.)"""

    PODS = "/api/v1/namespaces/default/pods"

    def _make(self, cluster, name, app, **spec):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}},
               "spec": {"terminationGracePeriodSeconds": 0, **spec,
                        "containers": [{"name": "main", "image": "host", "command": ["sleep", "1000"]}]}}
        status, made = cluster.api("POST", self.PODS, pod)
        self.assertEqual(status, 201, made)

    def _node(self, cluster, name):
        found = []

        def placed():
            found[:] = [cluster.get(f"{self.PODS}/{name}")["spec"].get("nodeName")]
            return found[0]

        cluster.until(placed, f"{name} has its node")
        return found[0]

    def _waits(self, cluster, name, pattern):
        """For the words of the condition; kubectl describe shows them as an event."""
        def said():
            pod = cluster.get(f"{self.PODS}/{name}")
            self.assertNotIn("nodeName", pod["spec"])
            return [c for c in pod["status"].get("conditions", [])
                    if c["type"] == "PodScheduled" and pattern in c.get("message", "")]
        cluster.until(said, f"{name} says {pattern}")

    def test_pods_that_must_be_apart_lie_on_different_nodes_and_the_last_one_waits(self):
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]}}
        with KubeCluster() as cluster:
            cluster.kubectl("cordon", "n3")
            for name in ("web-1", "web-2"):
                self._make(cluster, name, "web", affinity=apart)
            self.assertEqual({self._node(cluster, "web-1"), self._node(cluster, "web-2")}, {"n1", "n2"})
            self._make(cluster, "web-3", "web", affinity=apart)
            self._waits(cluster, "web-3", "2 node(s) didn't match pod anti-affinity rules "
                        "(app=web within its kubernetes.io/hostname: 1 pod)")
            self._make(cluster, "plain", "web")
            self._waits(cluster, "plain", "2 node(s) didn't satisfy existing pods anti-affinity rules")
            self.assertEqual(cluster.run("squeue", "-h", "-n", "web-3", "-o", "%r").stdout.strip(), "OtherPods")
            cluster.until(lambda: "didn't match pod anti-affinity rules" in
                          cluster.kubectl("describe", "pod", "web-3").stdout, "describe says it")
            cluster.kubectl("label", "pod", "plain", "app=other", "--overwrite")
            self._node(cluster, "plain")
            freed = self._node(cluster, "web-1")
            cluster.kubectl("delete", "pod", "web-1")
            self.assertEqual(self._node(cluster, "web-3"), freed)

    def test_pods_spread_over_zones_and_follow_those_they_must_be_near(self):
        spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                   "labelSelector": {"matchLabels": {"app": "db"}}}]
        near = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}]}}
        with KubeCluster() as cluster:
            self._make(cluster, "client", "client", affinity=near)
            self._waits(cluster, "client", "3 node(s) didn't match Pod's node affinity/selector (zone)")
            for node, zone in (("n1", "a"), ("n2", "a"), ("n3", "b")):
                cluster.kubectl("label", "node", node, f"zone={zone}")
            # The words of one that waits already are written anew only when its reason changes.
            cluster.kubectl("delete", "pod", "client")
            self._make(cluster, "client", "client", affinity=near)
            self._waits(cluster, "client", "3 node(s) didn't match pod affinity rules (app=db within its zone: no pod)")
            for name in ("db-1", "db-2"):
                self._make(cluster, name, "db", topologySpreadConstraints=spread)
            places = [self._node(cluster, name) for name in ("db-1", "db-2")]
            self.assertEqual(sorted("b" if node == "n3" else "a" for node in places), ["a", "b"])
            self._node(cluster, "client")
            cluster.kubectl("cordon", "n3")
            self._make(cluster, "db-3", "db", topologySpreadConstraints=spread)
            self.assertIn(self._node(cluster, "db-3"), ("n1", "n2"))
            self._make(cluster, "db-4", "db", topologySpreadConstraints=spread)
            self._waits(cluster, "db-4", "2 node(s) didn't match pod topology spread constraints "
                        "(zone: skew would be 2, at most 1)")
            cluster.kubectl("uncordon", "n3")
            self.assertEqual(self._node(cluster, "db-4"), "n3")


class Watching(unittest.TestCase):
    PATH = "/api/v1/namespaces/default/configmaps"

    def test_twenty_watchers_miss_nothing_when_droverd_is_killed(self):
        with KubeCluster(nodes=[]) as cluster:
            version = cluster.get(self.PATH)["metadata"]["resourceVersion"]
            watches = [Watch(cluster, self.PATH, version) for _ in range(20)]
            chance = random.Random(7)
            written = []
            for round_number in range(4):
                with contextlib.closing(cluster.connection()) as connection:
                    for _ in range(40):
                        written.append(self._change(cluster, chance, connection))
                if round_number < 3:
                    cluster.kill("droverd")
                    cluster.start_controller()
            for watch in watches:
                cluster.until(lambda w=watch: w.events and w.events[-1][:2] == written[-1] or w.errors, "the last is seen")
            for watch in watches:
                self._check(watch.stop(), written)
                self.assertEqual(watch.errors, [])
                self.assertGreaterEqual(watch.breaks, 3)

    def _check(self, seen, written):
        """In order, each once, also of what was written just before droverd died."""
        versions = [version for _, _, version in seen]
        self.assertEqual(versions, sorted(set(versions)))
        self.assertEqual([event[:2] for event in seen], written)

    def test_each_change_of_one_object_is_told_after_restarts(self):
        with KubeCluster(nodes=[]) as cluster:
            first = cluster.get(self.PATH)["metadata"]["resourceVersion"]
            cluster.api("POST", self.PATH, config_map("one", n="0"))
            patch = lambda n: cluster.api("PATCH", f"{self.PATH}/one", {"data": {"n": str(n)}},
                                          {"Content-Type": "application/merge-patch+json"})
            for n in range(1, 21):
                self.assertEqual(patch(n)[0], 200)
            cluster.kill("droverd")
            cluster.start_controller()
            for n in range(21, 31):
                self.assertEqual(patch(n)[0], 200)
            cluster.api("DELETE", f"{self.PATH}/one")
            cluster.kill("droverd", signal.SIGTERM)
            cluster.start_controller()
            self.assertEqual(cluster.api("POST", self.PATH, config_map("one", n="again"))[0], 201)
            seen = self._from(cluster, first, 33)
            self.assertEqual([event["object"]["data"]["n"] for event in seen],
                             [*map(str, range(31)), "30", "again"])
            self.assertEqual([event["type"] for event in seen], ["ADDED"] + ["MODIFIED"] * 30 + ["DELETED", "ADDED"])
            versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in seen]
            self.assertEqual(versions, sorted(set(versions)))
            # From the middle, exactly what follows.
            self.assertEqual(self._from(cluster, versions[7], 25), seen[8:])
            # What was told before isn't an event of now.
            self.assertEqual(cluster.get("/api/v1/events")["items"], [])

    def _from(self, cluster, version, count):
        with contextlib.closing(cluster.connection()) as connection:
            connection.request("GET", f"{self.PATH}?watch=1&resourceVersion={version}&timeoutSeconds=20")
            answer = connection.getresponse()
            return [json.loads(answer.readline()) for _ in range(count)]

    def _change(self, cluster, chance, connection):
        """One change that was answered, as a watcher must see it."""
        def api(*words):
            return cluster.api(*words, connection=connection)
        name = f"c{chance.randrange(8)}"
        one = f"{self.PATH}/{name}"
        status, found = api("GET", one)
        if status == 404:
            status, made = api("POST", self.PATH, config_map(name, n=str(chance.random())))
            self.assertEqual(status, 201, made)
            return ("ADDED", name)
        if chance.randrange(3) == 0:
            self.assertEqual(api("DELETE", one)[0], 200)
            return ("DELETED", name)
        found["data"]["n"] = str(chance.random())
        status, changed = api("PUT", one, found)
        self.assertEqual(status, 200, changed)
        return ("MODIFIED", name)

    def test_a_watch_by_labels_tells_of_what_comes_and_leaves(self):
        with KubeCluster(nodes=[]) as cluster:
            version = cluster.get(self.PATH)["metadata"]["resourceVersion"]
            watch = Watch(cluster, self.PATH + "?labelSelector=a%3Db", version)
            cluster.api("POST", self.PATH, config_map("x"))
            label = lambda value: cluster.api("PATCH", f"{self.PATH}/x", {"metadata": {"labels": {"a": value}}},
                                              {"Content-Type": "application/merge-patch+json"})
            label("b")
            label("c")
            label("b")
            cluster.api("DELETE", f"{self.PATH}/x")
            cluster.until(lambda: len(watch.events) == 4, "four events")
            self.assertEqual([kind for kind, _, _ in watch.stop()], ["ADDED", "DELETED", "ADDED", "DELETED"])

    def test_slurms_jobs_are_told_of_to_who_looks(self):
        path = "/api/v1/namespaces/slurm-jobs/pods"
        with KubeCluster() as cluster:
            before = cluster.get("/api/v1/namespaces")["metadata"]["resourceVersion"]
            first = cluster.wrap("true", "--mem=50M")
            cluster.ended(first)
            phases = {p["metadata"]["name"]: p["status"]["phase"] for p in cluster.get(path)["items"]}
            self.assertEqual(phases, {f"job-{first}": "Succeeded"})
            watch = Watch(cluster, path, before)
            cluster.until(lambda: watch.events, "what nobody had looked at")
            second = cluster.wrap("true", "--mem=50M")
            names = lambda: [name for _, name, _ in watch.events]
            cluster.until(lambda: names().count(f"job-{second}") >= 3, "it waits, runs and ends before a watcher's eyes")
            cluster.kill("droverd")
            cluster.start_controller()
            third = cluster.wrap("true", "--mem=50M")
            cluster.until(lambda: f"job-{third}" in names(), "the watch goes on")
            seen = watch.stop()
            self.assertEqual([version for _, _, version in seen], sorted({version for _, _, version in seen}))
            self.assertEqual([kind for kind, _, _ in seen].count("ADDED"), 3)

    def test_a_version_from_long_ago_is_gone_and_one_to_come_too_large(self):
        with KubeCluster(nodes=[]) as cluster:
            status, answer = cluster.api("GET", self.PATH + "?resourceVersion=99999999")
            self.assertEqual((status, answer["details"]["causes"][0]["reason"]), (504, "ResourceVersionTooLarge"))


class Refusals(unittest.TestCase):
    """Status, reason and words, and nothing is stored."""

    PODS = "/api/v1/namespaces/default/pods"
    MAPS = "/api/v1/namespaces/default/configmaps"

    def test_mistakes_get_the_status_that_kubernetes_gives(self):
        rows = [
            ("GET", self.PODS + "/nosuch", None, {}, 404, "NotFound", 'pods "nosuch" not found'),
            ("GET", "/api/v1/nosuch", None, {}, 404, "NotFound", "could not find the requested resource"),
            ("POST", self.PODS, '{"kind":"Pod"', {}, 400, "BadRequest", "unexpected end of JSON input"),
            ("POST", self.PODS, "a: b", {"Content-Type": "text/plain"}, 415, "UnsupportedMediaType", "unknown format"),
            ("GET", self.PODS, None, {"Accept": "text/csv"}, 406, "NotAcceptable", ""),
            ("POST", self.PODS + "/x", "{}", {}, 405, "MethodNotAllowed", "does not allow this method"),
            ("GET", self.PODS + "?labelSelector=a%3D%3D%3Db", None, {}, 400, "BadRequest", "unable to parse requirement"),
            ("GET", self.PODS + "?fieldSelector=spec.nosuch%3D1", None, {}, 400, "BadRequest",
             "field label not supported: spec.nosuch"),
            ("GET", self.MAPS + "?limit=1&continue=abc", None, {}, 400, "BadRequest", "continue"),
            ("POST", "/api/v1/namespaces/none/configmaps", json.dumps(config_map("x")), {}, 404, "NotFound",
             'namespaces "none" not found'),
            ("POST", self.MAPS, json.dumps({**config_map("x"), "metadata": {"name": "x", "namespace": "other"}}), {},
             400, "BadRequest", "does not match the namespace"),
            ("POST", self.MAPS + "?fieldValidation=Strict", json.dumps({**config_map("x"), "dota": {}}), {}, 400,
             "BadRequest", 'unknown field \"dota\"'),
            ("POST", self.MAPS, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","name":"y"}}',
             {"X-Strict": "1"}, 201, "", ""),
            ("POST", self.MAPS, json.dumps(config_map("Bad_Name")), {}, 422, "Invalid", "RFC 1123 subdomain"),
            ("GET", "/api/v1/namespaces/default/../kube-system/secrets", None, {}, 400, "BadRequest", ""),
            ("POST", self.MAPS, "{" * 100000, {}, 400, "BadRequest", ""),
            ("POST", self.MAPS, b"k8s\0\xff\xff\xff\xff", {"Content-Type": "application/vnd.kubernetes.protobuf"}, 400,
             "BadRequest", "protobuf"),
            ("POST", self.MAPS, "x" * (4 << 20), {}, 413, "", ""),
        ]
        with KubeCluster(nodes=[]) as cluster:
            for method, path, body, headers, code, reason, words in rows:
                with self.subTest(method=method, path=path[:80], body=str(body)[:60]):
                    headers = {"Content-Type": "application/json", **headers} if body is not None else headers
                    status, answer = cluster.api(method, path, body, headers)
                    self.assertEqual(status, code, answer)
                    if code >= 400 and reason:
                        self.assertEqual((answer["reason"], answer["kind"]), (reason, "Status"))
                        self.assertIn(words, answer["message"])

    def test_a_stale_version_changes_nothing(self):
        with KubeCluster(nodes=[]) as cluster:
            _, made = cluster.api("POST", self.MAPS, config_map("x", a="1"))
            self.assertEqual(cluster.api("POST", self.MAPS, config_map("x"))[1]["reason"], "AlreadyExists")
            made["data"]["a"] = "2"
            self.assertEqual(cluster.api("PUT", f"{self.MAPS}/x", made)[0], 200)
            made["data"]["a"] = "3"
            status, answer = cluster.api("PUT", f"{self.MAPS}/x", made)
            self.assertEqual((status, answer["reason"]), (409, "Conflict"))
            self.assertEqual(cluster.get(f"{self.MAPS}/x")["data"], {"a": "2"})

    def test_a_dry_run_stores_nothing(self):
        with KubeCluster(nodes=[]) as cluster:
            status, shown = cluster.api("POST", self.MAPS + "?dryRun=All", config_map("x", a="1"))
            self.assertEqual((status, shown["data"]), (201, {"a": "1"}))
            self.assertEqual(cluster.api("GET", f"{self.MAPS}/x")[0], 404)

    @as_root
    def test_others_see_only_what_is_theirs(self):
        with KubeCluster(nodes=[]) as cluster:
            own = cluster.run("drover", "kubeconfig", user=NOBODY).stdout
            config = cluster.base / "nobody"
            config.write_text(own)
            os.chown(config, NOBODY, NOBODY)

            def nobody(*words):
                return cluster.kubectl("--kubeconfig", config, *words, check=False)

            cluster.kubectl("create", "secret", "generic", "key", "--from-literal=p=q")
            self.assertIn("forbidden", nobody("get", "secrets", "-n", "default").stderr)
            self.assertIn("forbidden", nobody("create", "configmap", "x", "-n", "default").stderr)
            self.assertIn("forbidden", nobody("get", "pods", "-A").stderr)
            self.assertIn("forbidden", nobody("create", "namespace", "mine").stderr)
            self.assertEqual(nobody("get", "namespaces").returncode, 0)
            self.assertEqual(nobody("create", "configmap", "x").returncode, 0)
            self.assertEqual(nobody("get", "configmap", "x", "-o", "name").stdout.strip(), "configmap/x")
            self.assertEqual(nobody("auth", "can-i", "create", "pods").stdout.strip(), "yes")
            self.assertRegex(nobody("auth", "can-i", "create", "pods", "-n", "default").stdout, "^no")


class Accounts(unittest.TestCase):
    """Programs with tokens."""

    SPACE = "/api/v1/namespaces/default"

    def ask(self, cluster, token, method, path, body=None, scheme="Bearer"):
        """As somebody who has nothing but a token."""
        context = ssl.create_default_context(cadata=cluster.authority)
        with contextlib.closing(http.client.HTTPSConnection(cluster.host, int(cluster.port), context=context,
                                                            timeout=20)) as connection:
            return cluster.api(method, path, body, {"Authorization": f"{scheme} {token}"}, connection)

    def token(self, cluster, account="robot", **spec):
        status, made = cluster.api("POST", f"{self.SPACE}/serviceaccounts/{account}/token",
                                   {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": spec})
        self.assertEqual(status, 201, made)
        return made["status"]["token"]

    def make(self, cluster, role=None):
        notes = {"annotations": {"drover.dev/role": role}} if role else {}
        status, made = cluster.api("POST", f"{self.SPACE}/serviceaccounts", {"metadata": {"name": "robot", **notes}})
        self.assertEqual(status, 201, made)

    def test_a_token_may_what_its_accounts_role_says(self):
        with KubeCluster(nodes=[]) as cluster:
            self.make(cluster)
            token = self.token(cluster)
            ask = lambda *words: self.ask(cluster, token, *words)
            review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
            status, who = ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
            self.assertEqual((status, who["status"]["userInfo"]["username"]),
                             (201, "system:serviceaccount:default:robot"))
            status, refused = ask("GET", f"{self.SPACE}/pods")
            self.assertEqual(status, 403)
            self.assertIn('User "system:serviceaccount:default:robot" cannot list resource "pods"', refused["message"])
            self.assertEqual(ask("GET", "/api/v1/nodes")[0], 403)
            role = lambda word: cluster.api("PATCH", f"{self.SPACE}/serviceaccounts/robot",
                                            {"metadata": {"annotations": {"drover.dev/role": word}}},
                                            {"Content-Type": "application/merge-patch+json"})
            role("view")
            self.assertEqual([ask("GET", path)[0] for path in
                              (f"{self.SPACE}/pods", "/api/v1/nodes", f"{self.SPACE}/secrets", "/api/v1/pods",
                               "/api/v1/namespaces/kube-system/pods", "/api/v1/namespaces/slurm-jobs/pods")],
                             [200, 200, 403, 403, 403, 403])
            self.assertEqual(ask("POST", f"{self.SPACE}/configmaps", config_map("x"))[0], 403)
            role("edit")
            self.assertEqual(ask("POST", f"{self.SPACE}/configmaps", config_map("x"))[0], 201)
            if "  token" in cluster.kubectl("create", "--help").stdout:  # since 1.24
                printed = cluster.kubectl("create", "token", "robot", "--duration=20m").stdout.strip()
                self.assertEqual(self.ask(cluster, printed, "GET", f"{self.SPACE}/configmaps/x")[0], 200)
                options = ("--token", printed, "--kubeconfig", "/dev/null", "--server",
                           f"https://{cluster.host}:{cluster.port}", "--insecure-skip-tls-verify")
                self.assertEqual(cluster.kubectl("auth", "can-i", "create", "pods", *options).stdout, "yes\n")
                self.assertIn("no", cluster.kubectl("auth", "can-i", "create", "nodes", *options, check=False).stdout)
            status, pod = ask("POST", f"{self.SPACE}/pods", {**OneLedger.POD, "metadata": {"name": "its"}})
            self.assertEqual((status, pod["spec"]["securityContext"]["runAsUser"]), (201, NOBODY), pod)
            self.assertEqual(cluster.run("squeue", "-h", "-o", "%u").stdout, "nobody\n")
            self.assertEqual(ask("DELETE", f"{self.SPACE}/pods/its")[0], 200)
            self.assertEqual(ask("POST", "/api/v1/namespaces", {"metadata": {"name": "more"}})[0], 403)
            cluster.kubectl("create", "namespace", "theirs")
            self.assertEqual(ask("GET", "/api/v1/namespaces/theirs/pods")[0], 403)
            cluster.kubectl("annotate", "namespace", "theirs",
                            "drover.dev/members=ann,system:serviceaccount:default:robot")
            self.assertEqual(ask("GET", "/api/v1/namespaces/theirs/pods")[0], 200)
            cluster.kill("droverd")
            cluster.start_controller()
            self.assertEqual(ask("GET", f"{self.SPACE}/pods")[0], 200)
            cluster.until(lambda: cluster.api("GET", "/api/v1/namespaces/theirs/serviceaccounts/default")[0] == 200,
                          "every namespace has its account")

    def test_what_is_no_good_token_is_a_401(self):
        with KubeCluster(nodes=[]) as cluster:
            self.make(cluster, "edit")
            token = self.token(cluster)
            pods = f"{self.SPACE}/pods"
            self.assertEqual(self.ask(cluster, token, "GET", pods)[0], 200)
            head, body, signature = token.split(".")
            padded = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
            padded["sub"] = "system:serviceaccount:default:default"
            other = base64.urlsafe_b64encode(json.dumps(padded).encode()).decode().rstrip("=")
            for bad in ("", "rubbish", f"{head}.{other}.{signature}", f"{head}.{body}.", token[:-2]):
                self.assertEqual(self.ask(cluster, bad, "GET", pods)[0], 401, bad)
            self.assertEqual(self.ask(cluster, token, "GET", pods, scheme="Basic")[0], 401)
            elsewhere = self.token(cluster, audiences=["vault"])
            self.assertEqual(self.ask(cluster, elsewhere, "GET", pods)[0], 401)
            review = lambda token, *audiences: cluster.api(
                "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                {"kind": "TokenReview", "spec": {"token": token, "audiences": list(audiences)}})[1]["status"]
            self.assertEqual(review(elsewhere, "vault")["user"]["username"], "system:serviceaccount:default:robot")
            self.assertEqual(review(elsewhere)["error"], "the token is for another audience")
            status, refused = cluster.api("POST", f"{self.SPACE}/serviceaccounts/robot/token",
                                          {"kind": "TokenRequest", "spec": {"expirationSeconds": 5}})
            self.assertEqual((status, refused["details"]["causes"][0]["field"]), (422, "spec.expirationSeconds"))
            pod = {"metadata": {"name": "p"},
                   "spec": {"serviceAccountName": "robot", "containers": [{"name": "c", "image": "busybox"}]}}
            status, pod = cluster.api("POST", pods, pod)
            self.assertEqual(status, 201, pod)
            path = "/var/run/secrets/kubernetes.io/serviceaccount"
            self.assertEqual([mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]], [path])
            bound = self.token(cluster, boundObjectRef={"kind": "Pod", "apiVersion": "v1", "name": "p"})
            self.assertEqual(self.ask(cluster, bound, "GET", pods)[0], 200)
            cluster.api("DELETE", f"{pods}/p")
            cluster.until(lambda: self.ask(cluster, bound, "GET", pods)[0] == 401, "its token ends with the pod")
            # An account of the same name is another one.
            cluster.api("DELETE", f"{self.SPACE}/serviceaccounts/robot")
            self.assertEqual(self.ask(cluster, token, "GET", pods)[0], 401)
            self.make(cluster, "edit")
            self.assertEqual(self.ask(cluster, token, "GET", pods)[0], 401)

    @as_root
    def test_certificates_of_a_person_are_revoked(self):
        with KubeCluster(nodes=[]) as cluster:
            text = cluster.run("drover", "kubeconfig", user=NOBODY).stdout
            (cluster.base / "his").write_text(text)
            get = lambda: cluster.run(cluster.program, "get", "nodes", check=False,
                                      env={"KUBECONFIG": str(cluster.base / "his")})
            self.assertEqual(get().returncode, 0)
            cluster.run("drover", "user", "revoke", "nobody")
            self.assertNotEqual(get().returncode, 0)
            self.assertEqual(cluster.kubectl("get", "nodes").returncode, 0)
            (cluster.base / "his").write_text(cluster.run("drover", "kubeconfig", user=NOBODY).stdout)
            self.assertEqual(get().returncode, 0)

    def test_bodies_in_yaml(self):
        with KubeCluster(nodes=[]) as cluster:
            post = lambda text: cluster.api("POST", f"{self.SPACE}/configmaps", text,
                                            {"Content-Type": "application/yaml"})
            status, made = post("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata:\n  a: |\n    two\n    lines\n")
            self.assertEqual((status, made["data"]), (201, {"a": "two\nlines\n"}), made)
            status, refused = post("kind: ConfigMap\nmetadata: &m {name: z}\nmore: *m\n")
            self.assertEqual(status, 400)
            self.assertIn("anchors and aliases are not served", refused["message"])


class Owners(unittest.TestCase):
    MAPS = "/api/v1/namespaces/default/configmaps"

    def test_what_nobody_owns_any_more_goes_too(self):
        with KubeCluster(nodes=[]) as cluster:
            _, owner = cluster.api("POST", self.MAPS, config_map("owner"))
            child = config_map("child")
            child["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner",
                                                     "uid": owner["metadata"]["uid"]}]
            cluster.api("POST", self.MAPS, child)
            cluster.api("DELETE", f"{self.MAPS}/owner", {"propagationPolicy": "Orphan"})
            cluster.until(lambda: cluster.api("GET", f"{self.MAPS}/owner")[0] == 404, "the owner is gone")
            self.assertNotIn("ownerReferences", cluster.get(f"{self.MAPS}/child")["metadata"])
            _, owner = cluster.api("POST", self.MAPS, config_map("owner"))
            child["metadata"]["name"] = "second"
            child["metadata"]["ownerReferences"][0]["uid"] = owner["metadata"]["uid"]
            cluster.api("POST", self.MAPS, child)
            cluster.api("DELETE", f"{self.MAPS}/owner", {"propagationPolicy": "Background"})
            cluster.until(lambda: cluster.api("GET", f"{self.MAPS}/second")[0] == 404, "the dependent is gone")
            self.assertEqual(cluster.api("GET", f"{self.MAPS}/child")[0], 200)

    def test_a_finalizer_keeps_an_object_until_it_is_taken_off(self):
        with KubeCluster(nodes=[]) as cluster:
            held = config_map("held")
            held["metadata"]["finalizers"] = ["example.com/keep"]
            cluster.api("POST", self.MAPS, held)
            cluster.api("DELETE", f"{self.MAPS}/held")
            self.assertIn("deletionTimestamp", cluster.get(f"{self.MAPS}/held")["metadata"])
            cluster.api("PATCH", f"{self.MAPS}/held", {"metadata": {"finalizers": None}},
                        {"Content-Type": "application/merge-patch+json"})
            self.assertEqual(cluster.api("GET", f"{self.MAPS}/held")[0], 404)


if __name__ == "__main__":
    unittest.main()
