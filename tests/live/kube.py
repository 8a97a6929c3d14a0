"""A cluster with its Kubernetes door open, real kubectls, and a plain client for what kubectl doesn't show.

    with KubeCluster() as cluster:
        cluster.kubectl("get", "nodes")
        status, body = cluster.api("GET", "/api/v1/nodes")
"""
import base64
import contextlib
import glob
import http.client
import json
import os
import random
import re
import socket
import ssl
import tempfile
import threading

from cluster import BIN, SLOW, YAML, Cluster


def kubectls():
    """Every kubectl on the PATH or beside one that is, each real program once."""
    found = {}
    for folder in os.environ["PATH"].split(":"):
        path = os.path.join(folder, "kubectl")
        if os.access(path, os.X_OK):
            real = os.path.realpath(path)
            found[real] = path
            for other in sorted(glob.glob(real + ".[0-9]*")):
                found[os.path.realpath(other)] = other
    extra = os.environ.get("DROVER_KUBECTL", "")
    for path in extra.split(":") if extra else []:
        found[os.path.realpath(path)] = path
    return list(found.values())


def free_port():
    """Below those that the kernel gives to connections, so that none has it when droverd comes back."""
    for port in random.sample(range(15000, 30000), 100):
        with contextlib.closing(socket.socket()) as probe:
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise AssertionError("no free port")


class KubeDoor:
    """Beside a Cluster, whose droverd opens the door."""
    def find_kubectl(self):
        self.config = self.base / "kubeconfig"
        self.environment.update(KUBECONFIG=str(self.config), HOME=str(self.base))
        self.program = (kubectls() or ["kubectl"])[-1]

    def start_controller(self, wait=True):
        if not hasattr(self, "config"):
            self.find_kubectl()
        child = super().start_controller(wait)
        if wait and not self.config.exists():
            self.config.write_text(self.run("drover", "kubeconfig").stdout)
            self._read_config()
        return child

    def _read_config(self):
        text = self.config.read_text()
        field = lambda name: re.search(name + r": (\S+)", text).group(1)
        self.host, self.port = re.match(r"https://(.*):(\d+)", field("server")).groups()
        self.authority = base64.b64decode(field("certificate-authority-data")).decode()
        self.tls = ssl.create_default_context(cadata=self.authority)
        with tempfile.NamedTemporaryFile(dir=self.base) as pem:
            pem.write(base64.b64decode(field("client-certificate-data")) + base64.b64decode(field("client-key-data")))
            pem.flush()
            self.tls.load_cert_chain(pem.name)

    def kubectl(self, *words, check=True, program=None, **options):
        return self.run(program or self.program, *words, check=check, **options)

    def connection(self, timeout=20):
        return http.client.HTTPSConnection(self.host, int(self.port), context=self.tls, timeout=timeout * SLOW)

    def api(self, method, path, body=None, headers=None, connection=None):
        """Status code and the JSON (or text) that came."""
        own = connection or self.connection()
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        own.request(method, path, body=body, headers=headers)
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        if answer.headers.get("Content-Type", "").startswith("application/json"):
            return answer.status, json.loads(text)
        return answer.status, text.decode(errors="replace")

    def get(self, path):
        status, body = self.api("GET", path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body}")
        return body


class KubeCluster(KubeDoor, Cluster):
    def __init__(self, yaml=YAML, **options):
        super().__init__(f"kubernetes: 127.0.0.1:{free_port()}\n" + yaml, **options)
        self.find_kubectl()


class Watch(threading.Thread):
    """Follows a collection, and comes back with the last version it saw after every break; never lists again."""

    def __init__(self, cluster, path, version):
        super().__init__(daemon=True)
        self.cluster, self.path, self.version = cluster, path, version
        self.events, self.errors, self.breaks = [], [], 0
        self.over = threading.Event()
        self.start()

    def run(self):
        while not self.over.is_set():
            try:
                self._follow()
            except (OSError, http.client.HTTPException, ValueError):
                self.breaks += 1
                self.over.wait(0.1)

    def _follow(self):
        with contextlib.closing(self.cluster.connection(timeout=5)) as connection:
            self._read(connection)

    def _read(self, connection):
        join = "&" if "?" in self.path else "?"
        connection.request("GET", f"{self.path}{join}watch=1&resourceVersion={self.version}&timeoutSeconds=60")
        answer = connection.getresponse()
        while not self.over.is_set():
            try:
                line = answer.readline()
            except TimeoutError:
                break
            if not line:
                raise OSError("the stream ended")
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.errors.append(event["object"])
                self.over.set()
                return
            self.version = event["object"]["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self.events.append((event["type"], event["object"]["metadata"]["name"], int(self.version)))

    def stop(self):
        self.over.set()
        self.join(20)
        return self.events
