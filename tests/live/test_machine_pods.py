"""Pods on other machines: logs, commands, files and ports go from kubectl to droverd, and from there through the
door of the node's agent."""
import contextlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import unittest

from cluster import BIN, SLOW
from kube import KubeDoor, free_port, kubectls
from netns import NetCluster, with_machines

IMAGE = BIN.parent / "generated/busybox.tar"
CONTAINERD = """version = 2
root = '{at}/containerd'
state = '/run/containerd-test'
[grpc]
address = '/run/containerd-test/sock'
[plugins.'io.containerd.grpc.v1.cri']
sandbox_image = 'local.drover/pause:1'
disable_apparmor = true
restrict_oom_score_adj = true
stream_server_address = '127.0.0.1'
[plugins.'io.containerd.grpc.v1.cri'.containerd]
snapshotter = 'overlayfs'
"""
# With a node's identity (argument 1), asks the door of another (argument 2) for a pod's log.
KNOCK = """
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.load_cert_chain(sys.argv[1])
wrapped = context.wrap_socket(socket.create_connection((sys.argv[2], 7412), timeout=20))
field = lambda number, payload: bytes([number << 3 | 2, len(payload)]) + payload
opening = field(1, b"pod") + field(2, b"\\x08\\x01\\x10\\x01" + field(3, b"main"))
wrapped.sendall(len(opening).to_bytes(3, "little") + b"\\0" + opening)
print(wrapped.recv(65536)[4:].decode(errors="replace"))
"""
# Two lines, and then one for each connection.
SERVE = """
import socket, sys
print("one\\ntwo", flush=True)
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    said = connection.makefile().readline()
    print("heard", said.strip(), flush=True)
    connection.sendall(f"{socket.gethostname()} got {said}".encode())
    connection.close()
"""


class KubeMachines(KubeDoor, NetCluster):
    pass


def pod(name, command, node, **container):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"nodeName": node, "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "main", "image": "host", "command": command,
                                     "resources": {"requests": {"memory": "50M"}}, **container}]}}


@with_machines
@unittest.skipUnless(kubectls(), "needs kubectl (kubernetes-client)")
class PodsOverMachines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = KubeMachines(["n1", "n2"], words=["--kubernetes", f"127.0.0.1:{free_port()}"])
        cls.addClassCleanup(cls.cluster.close)
        cls.addClassCleanup(lambda: [child.kill() for child in cls.containerds])
        cls.containerds = []
        cls.cluster.start()

    def start(self, body):
        name = body["metadata"]["name"]
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
        self.addCleanup(lambda: self.cluster.kubectl("delete", "pod", name, "--now", check=False))
        self.cluster.kubectl("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Running", "--timeout=60s")

    def serve(self, name, node, port):
        self.start(pod(name, ["python3", "-u", "-c", SERVE, str(port)], node))
        self.cluster.until(lambda: "listening" in self.cluster.kubectl("logs", name).stdout, "it listens")

    def forward(self, name, port):
        """A client's socket to that port of the pod."""
        mine = free_port()
        child = subprocess.Popen([self.cluster.program, "port-forward", name, f"{mine}:{port}"], text=True,
                                 env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.assertIn("Forwarding", child.stdout.readline())
        connection = socket.create_connection(("127.0.0.1", mine), timeout=20 * SLOW)
        self.addCleanup(connection.close)
        return connection

    def test_logs_and_ports(self):
        for node in ("n1", "n2"):
            port = free_port()
            self.serve(f"served-{node}", node, port)
            self.assertEqual(self.cluster.kubectl("logs", f"served-{node}", "--tail=1").stdout, "listening\n")
            for word in ("hello", "again"):
                connection = self.forward(f"served-{node}", port)
                connection.sendall(f"{word}\n".encode())
                self.assertEqual(connection.makefile().readline(), f"served-{node} got {word}\n")
            self.assertEqual(self.cluster.kubectl("logs", f"served-{node}").stdout.split("\n")[:5],
                             ["one", "two", "listening", "heard hello", "heard again"])

    def test_a_log_is_followed_to_its_end_and_a_reader_who_leaves_leaves_nothing(self):
        self.start(pod("count", ["bash", "-c", "for i in $(seq 1 100000); do echo line $i; done; sleep 3; echo last"],
                       "n2"))
        out = self.cluster.kubectl("logs", "-f", "count").stdout.splitlines()
        self.assertEqual((len(out), out[0], out[99999], out[-1]), (100001, "line 1", "line 100000", "last"))
        self.start(pod("quiet", ["bash", "-c", "echo up; sleep 600"], "n2"))
        threads = lambda: len(os.listdir(f"/proc/{self.cluster.children['n2'].pid}/task"))
        before = threads()
        children = [subprocess.Popen([self.cluster.program, "logs", "-f", "quiet"], env=self.cluster.environment,
                                     stdout=subprocess.PIPE) for _ in range(5)]
        for child in children:
            self.assertEqual(child.stdout.readline(), b"up\n")
        self.assertGreaterEqual(threads(), before + 5)
        for child in children:
            child.kill()
            child.wait()
            child.stdout.close()
        # A thread that is done is taken away when the next one comes.
        self.cluster.until(lambda: self.cluster.kubectl("logs", "quiet").stdout and threads() <= before + 2,
                           "their threads are gone")

    def test_an_agent_that_is_away_is_a_503_and_back_it_serves_again(self):
        self.start(pod("stays", ["bash", "-c", "echo up; sleep 600"], "n2"))
        path = "/api/v1/namespaces/default/pods/stays/log"
        self.cluster.kill("n2")
        status, answer = self.cluster.api("GET", path)
        self.assertEqual((status, answer["reason"]), (503, "ServiceUnavailable"), answer)
        self.assertIn("the pod's node can't be reached: node n2 at", answer["message"])
        self.cluster.start_agent("n2")
        self.cluster.until(lambda: self.cluster.api("GET", path) == (200, "up\n"), "its log is there")

    def test_no_other_node_opens_a_stream_of_a_pod(self):
        self.start(pod("mine", ["bash", "-c", "echo secret; sleep 600"], "n2"))
        answer = self.cluster.on("n1", "python3", "-c", KNOCK, self.cluster.base / "m-n1/identity",
                                 self.cluster.network.machines["n2"].address).stdout
        self.assertIn("only the controller opens streams of pods", answer)
        self.assertNotIn("secret", answer)

    @unittest.skipUnless(IMAGE.exists() and shutil.which("containerd") and os.path.exists("/usr/sbin/runc"),
                         "needs containerd, runc and busybox-static")
    def test_commands_files_and_terminals(self):
        self.start_containerd("n2")
        self.cluster.kubectl("create", "serviceaccount", "robot")
        self.cluster.kubectl("annotate", "serviceaccount", "robot", "drover.dev/role=view")
        box = pod("box", ["sh", "-c", "echo up; cat"], "n2", image="local.drover/busybox:1", stdin=True,
                  imagePullPolicy="Never")
        box["spec"]["serviceAccountName"] = "robot"
        self.start(box)
        run = lambda *words, **options: self.cluster.kubectl("exec", *words, check=False, **options)
        done = run("-i", "box", "--", "sh", "-c", "cat; echo err >&2; exit 7", stdin="hello\n")
        self.assertEqual((done.returncode, done.stdout), (7, "hello\n"), done.stderr)
        self.assertIn("err\n", done.stderr)
        # What a program in it needs to ask the door.
        folder = "/var/run/secrets/kubernetes.io/serviceaccount"
        said = run("box", "--", "sh", "-c", f"cd {folder}; cat namespace; echo; echo $KUBERNETES_SERVICE_PORT; cat token "
                   "ca.crt").stdout.split("\n", 2)
        self.assertEqual(said[:2], ["default", self.cluster.port])
        token, authority = said[2].split("-----BEGIN", 1)
        self.assertEqual("-----BEGIN" + authority, self.cluster.authority)
        context = ssl.create_default_context(cadata=self.cluster.authority)
        with contextlib.closing(http.client.HTTPSConnection(self.cluster.host, int(self.cluster.port),
                                                            context=context)) as connection:
            status, pods = self.cluster.api("GET", "/api/v1/namespaces/default/pods", None,
                                            {"Authorization": f"Bearer {token}"}, connection)
        self.assertEqual((status, [one["metadata"]["name"] for one in pods["items"]]), (200, ["box"]))
        big = self.cluster.work / "big"
        big.write_bytes(os.urandom(5_000_000))
        self.cluster.kubectl("cp", str(big), "box:/tmp/big")
        self.cluster.kubectl("cp", "box:/tmp/big", str(self.cluster.work / "back"))
        self.assertEqual((self.cluster.work / "back").read_bytes(), big.read_bytes())
        child = subprocess.Popen([self.cluster.program, "attach", "-i", "box"], text=True, stdin=subprocess.PIPE,
                                 env=self.cluster.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        child.stdin.write("typed\n")
        child.stdin.flush()
        self.assertEqual(child.stdout.readline(), "typed\n")
        child.kill()
        child.communicate()

    def start_containerd(self, name):
        at = self.cluster.base / f"m-{name}"
        write = lambda path, text: self.cluster.on(name, "sh", "-c", f"mkdir -p {path.parent}; cat > {path}", stdin=text)
        write(at / "containerd.toml", CONTAINERD.format(at=at))
        log = open(self.cluster.base / "containerd.log", "ab")
        self.containerds.append(subprocess.Popen(
            self.cluster.network.machines[name].words("containerd", "-c", at / "containerd.toml"),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True))
        log.close()
        sock = "/run/containerd-test/sock"
        self.cluster.until(lambda: self.cluster.on(name, "ctr", "-a", sock, "version", check=False).returncode == 0,
                           "containerd answers")
        for image in (BIN / "drover-pause.tar", IMAGE):
            self.cluster.on(name, "ctr", "-a", sock, "-n", "k8s.io", "images", "import", image)
        self.cluster.agent_words_of[name] = ["--containerd", sock]
        self.cluster.kill(name)
        self.cluster.start_agent(name)
        self.cluster.until(lambda: self.cluster.idle_nodes() == 2, "the node is back")


if __name__ == "__main__":
    unittest.main()
