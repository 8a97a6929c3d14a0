"""The Python client of Kubernetes (Debian: python3-kubernetes) against the door: what Airflow, kubespawner and
the rest of its users rely on."""
import threading
import time
import unittest

from kube import KubeCluster

try:
    import kubernetes
except ImportError:
    kubernetes = None


@unittest.skipUnless(kubernetes, "no module kubernetes (Debian: python3-kubernetes)")
class PythonClient(unittest.TestCase):
    def setUp(self):
        self.cluster = KubeCluster(nodes=[])
        self.cluster.__enter__()
        self.addCleanup(self.cluster.__exit__, None, None, None)
        kubernetes.config.load_kube_config(str(self.cluster.config))
        self.core = kubernetes.client.CoreV1Api()

    def make(self, name, **data):
        body = kubernetes.client.V1ConfigMap(metadata=kubernetes.client.V1ObjectMeta(name=name), data=data)
        return self.core.create_namespaced_config_map("default", body)

    def test_it_creates_reads_patches_and_deletes(self):
        made = self.make("settings", a="1")
        self.assertTrue(made.metadata.uid)
        self.core.patch_namespaced_config_map("settings", "default", {"data": {"b": "2"}})
        self.core.patch_namespaced_config_map("settings", "default",
                                              [{"op": "remove", "path": "/data/a"}])
        found = self.core.read_namespaced_config_map("settings", "default")
        self.assertEqual(found.data, {"b": "2"})
        found.data["c"] = "3"
        self.core.replace_namespaced_config_map("settings", "default", found)
        with self.assertRaises(kubernetes.client.ApiException) as stale:
            self.core.replace_namespaced_config_map("settings", "default", found)
        self.assertEqual(stale.exception.status, 409)
        self.core.delete_namespaced_config_map("settings", "default", propagation_policy="Background")
        with self.assertRaises(kubernetes.client.ApiException) as gone:
            self.core.read_namespaced_config_map("settings", "default")
        self.assertEqual(gone.exception.status, 404)

    def test_it_lists_in_pages(self):
        for i in range(7):
            self.make(f"c{i}", n=str(i))
        names, token = [], None
        while True:
            page = self.core.list_namespaced_config_map("default", limit=3, _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, [f"c{i}" for i in range(7)])

    def test_its_watch_goes_on_when_droverd_comes_back(self):
        version = self.core.list_namespaced_config_map("default").metadata.resource_version
        seen, failures = [], []
        stop = threading.Event()

        def follow():
            at = version
            while not stop.is_set():
                try:
                    for event in kubernetes.watch.Watch().stream(self.core.list_namespaced_config_map, "default",
                                                                 resource_version=at, timeout_seconds=3):
                        at = event["object"].metadata.resource_version
                        seen.append((event["type"], event["object"].metadata.name))
                except kubernetes.client.ApiException as refused:
                    failures.append(refused.status)
                except Exception:  # the connection is refused while droverd starts
                    time.sleep(0.1)

        thread = threading.Thread(target=follow, daemon=True)
        thread.start()
        for i in range(3):
            self.make(f"c{i}")
            self.core.patch_namespaced_config_map(f"c{i}", "default", {"data": {"x": "y"}})
            self.cluster.kill("droverd")
            self.cluster.start_controller()
        self.core.delete_namespaced_config_map("c0", "default")
        each = [(kind, f"c{i}") for i in range(3) for kind in ("ADDED", "MODIFIED")] + [("DELETED", "c0")]
        self.cluster.until(lambda: len(seen) >= len(each), "all changes are seen", patience=60)
        self.assertEqual(seen, each)
        stop.set()
        thread.join(10)
        self.assertEqual(failures, [])

    def test_a_version_that_nobody_remembers_is_a_410(self):
        with self.assertRaises(kubernetes.client.ApiException) as gone:
            for _ in kubernetes.watch.Watch().stream(self.core.list_namespaced_event, "default", resource_version="1",
                                                     timeout_seconds=3):
                pass
        self.assertEqual(gone.exception.status, 410)


if __name__ == "__main__":
    unittest.main()
