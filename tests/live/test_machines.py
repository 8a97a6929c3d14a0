"""Several machines: nodes that join over the network, and what must not let them."""
import re
import socket
import ssl
import struct
import tempfile
import time
import unittest
from pathlib import Path

from chaos import Chaos
from netns import PORT, NetCluster, with_machines

NOBODY = 65534


@with_machines
class Joining(unittest.TestCase):
    def test_two_machines_join_and_run_jobs(self):
        with NetCluster(["n1", "n2"]) as cluster:
            both = cluster.sbatch("-N2", "--mem=50M", "-o", "both", "--wrap", "hostname; echo $SLURM_JOB_NODELIST")
            self.assertEqual(cluster.result(both), "COMPLETED|0:0")
            self.assertEqual(cluster.output("both"), "n1\nn[1-2]\n")
            for name in ("n1", "n2"):
                job = cluster.wrap(f"hostname; test ! -e {cluster.state}/store && echo hidden", "-w", name,
                                   "--mem=50M", "-o", name)
                self.assertEqual(cluster.result(job), "COMPLETED|0:0")
                self.assertEqual(cluster.output(name), f"{name}\nhidden\n")
            listed = cluster.run("drover", "node", "list").stdout
            self.assertEqual(len(re.findall(r"^n[12] .* valid$", listed, re.M)), 2, listed)

    def test_jobs_and_membership_survive_an_agent_and_a_controller(self):
        with NetCluster(["n1"]) as cluster:
            job = cluster.wrap("echo once >> marks; sleep 6; echo done", "--mem=50M", "-o", "out")
            cluster.until(lambda: cluster.output("marks") == "once\n", "the job runs")
            cluster.kill("n1")
            cluster.kill("droverd")
            cluster.start_controller()
            cluster.start_agent("n1")  # without a token: it has joined
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("marks"), "once\n")

    def test_bad_tokens_and_names_are_refused_with_one_line(self):
        with NetCluster(["n1", "n2"]) as cluster:
            cluster.kill("n2")
            join = ["--join", cluster.through, "--token"]
            cluster.on("n2", "rm", cluster.base / "m-n2/identity")
            good = cluster.token("n3")
            for token, says in ((f"{'0' * 32}.{good.split('.')[1]}", "unknown, or was used already"),
                                (f"{good.split('.')[0]}.{'0' * 64}", "is not the one that the token is from"),
                                (good, "is for node n3, not n2"),
                                (cluster.token(), "node n2 has joined already"),
                                ("nonsense", "not a token")):
                code, line = cluster.try_agent("n2", *join, token)
                self.assertEqual(code, 2, line)
                self.assertIn(says, line)
            stale = cluster.token("n2", "--ttl", "1s")
            time.sleep(1.5)
            self.assertIn("the token expired at", cluster.try_agent("n2", *join, stale)[1])
            self.assertIn("has not joined", cluster.try_agent("n2")[1])
            code, line = cluster.try_agent("n1", "--node", "n2")
            self.assertEqual(code, 2)

    def test_a_revoked_node_is_out_at_once_and_may_come_back(self):
        with NetCluster(["n1"]) as cluster:
            cluster.run("drover", "node", "revoke", "n1")
            cluster.until(lambda: "session of n1 closed" in cluster.log("droverd"), "its session ends")
            cluster.kill("n1")
            code, line = cluster.try_agent("n1")
            self.assertEqual(code, 2, line)
            self.assertIn("revoked", line)
            cluster._spawn("n1", cluster.agent_words("n1", "--join", cluster.through, "--token", cluster.token("n1")))
            cluster.until(lambda: cluster.log("droverd").count("node n1 is up") == 2, "it is back")
            self.assertIn("revoked", cluster.run("drover", "node", "list").stdout)

    def test_certificates_are_renewed_and_sessions_end_with_theirs(self):
        with NetCluster(["n1"], words=["--certificate-life", "20s"]) as cluster:
            job = cluster.wrap("echo once >> marks; sleep 45", "--mem=50M")
            valid = lambda: cluster.run("drover", "node", "list").stdout.count(" valid")
            cluster.until(lambda: valid() >= 2, "it is renewed")
            self.assertNotIn("session of n1 closed", cluster.log("droverd"))
            ups = lambda: cluster.log("droverd", 1000).count("node n1 is up")
            cluster.until(lambda: ups() >= 2, "its session is a new one, under the new certificate", 60)
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            self.assertEqual(cluster.output("marks"), "once\n")
            before = ups()
            cluster.kill("n1")
            time.sleep(1)
            cluster.start_agent("n1")
            cluster.until(lambda: ups() > before, "the renewed one is taken")

    def test_only_administrators_make_tokens(self):
        with NetCluster(["n1"]) as cluster:
            done = cluster.run("drover", "node", "token", "--state", cluster.state, user=65534, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("only administrators", done.stderr)


def field(number, payload):
    """One length-delimited field of protobuf."""
    return bytes([number << 3 | 2, len(payload)]) + payload


@with_machines
class Trespassing(unittest.TestCase):
    """Somebody who has a node's key, or none, and speaks with the controller himself."""
    def connect(self, cluster, thief=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if thief is not None:
            pid = cluster.network.machines[thief].holder.pid
            text = Path(f"/proc/{pid}/root{cluster.base}/m-{thief}/identity").read_text()
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                context.load_cert_chain(file.name)
        plain = socket.create_connection((cluster.network.address, PORT), timeout=10)
        connection = context.wrap_socket(plain)
        self.addCleanup(connection.close)
        return connection

    def ask(self, connection, method, target, body=b"", headers=""):
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
                           f"Content-Type: application/json\r\n{headers}\r\n".encode() + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = connection.recv(65536)
            if not piece:
                break
            answer += piece
        return int(answer.split()[1])

    def test_addresses_are_for_whom_they_are_for(self):
        with NetCluster(["n1"]) as cluster:
            for method, target in (("GET", "/v1/status"), ("POST", "/v1/vouch"), ("GET", "/v1/agent"),
                                   ("POST", "/v1/renew"), ("GET", "/v1/members"), ("POST", "/v1/commands")):
                self.assertEqual(self.ask(self.connect(cluster), method, target, b"{}"), 403, target)
            node = lambda *words: self.ask(self.connect(cluster, "n1"), *words)
            self.assertEqual(node("GET", "/v1/ping"), 200)
            self.assertEqual(node("GET", "/v1/status"), 403)
            self.assertEqual(node("POST", "/v1/commands", b"{}"), 403)
            self.assertEqual(node("POST", "/v1/vouch", b'{"uid":0,"gid":0}'), 403)
            self.assertEqual(node("POST", "/v1/vouch", b'{"uid":65534,"gid":65534}'), 403)
            self.assertIn(node("POST", "/v1/members/token", b"{}"), (403, 404))

    def test_a_vouched_connection_is_the_users_and_no_more_the_nodes(self):
        with NetCluster(["n1"], submit=["n1"]) as cluster:
            connection = self.connect(cluster, "n1")
            self.assertEqual(self.ask(connection, "POST", "/v1/vouch", b'{"uid":65534,"gid":65534}'), 200)
            for method, target in (("POST", "/v1/vouch"), ("POST", "/v1/renew"), ("GET", "/v1/agent")):
                self.assertNotEqual(self.ask(connection, method, target, b'{"uid":65533,"gid":1}'), 200, target)

    def test_a_session_speaks_for_the_node_of_its_certificate(self):
        with NetCluster(["n1", "n2"]) as cluster:
            connection = self.connect(cluster, "n1")
            upgrade = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")
            self.assertEqual(self.ask(connection, "GET", "/v1/agent", headers=upgrade), 101)
            hello = field(1, b"\x08\x01" + field(5, field(1, b"n2")))
            connection.sendall(struct.pack("!BB", 0x82, 0x80 | len(hello)) + b"\0\0\0\0" + hello)
            cluster.until(lambda: "calls itself node n2" in cluster.log("droverd"), "it is refused")
            self.assertNotIn("session of n2 closed", cluster.log("droverd"))


@with_machines
class BadNetwork(unittest.TestCase):
    """Whatever the network does, a job is started once, and its end is known."""
    def cluster(self):
        cluster = NetCluster(["n1"])
        self.addCleanup(cluster.close)
        proxy = Chaos((cluster.network.address, 0), (cluster.network.address, PORT))
        self.addCleanup(proxy.close)
        cluster.through = proxy.address
        cluster.start()
        return cluster, proxy

    def jobs(self, cluster, count=4):
        return [cluster.wrap(f"echo {i} >> marks; sleep 2", "-c1", "--mem=50M") for i in range(count)]

    def all_ran_once(self, cluster, jobs):
        for job in jobs:
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
        self.assertEqual(sorted(cluster.output("marks").split()), [str(i) for i in range(len(jobs))])

    def test_a_slow_network(self):
        cluster, proxy = self.cluster()
        proxy.delay = 0.15
        self.all_ran_once(cluster, self.jobs(cluster))

    def test_a_cut_in_the_middle_of_everything(self):
        cluster, proxy = self.cluster()
        jobs = self.jobs(cluster)
        for pause in (0.3, 0.7, 3):
            time.sleep(pause)
            proxy.cut()
            time.sleep(pause)
            proxy.mend()
        self.all_ran_once(cluster, jobs)

    def test_a_network_that_is_gone_for_longer_than_the_controller_waits(self):
        cluster, proxy = self.cluster()
        jobs = self.jobs(cluster, 2)
        cluster.until(lambda: cluster.output("marks").count("\n") == 2, "they run")
        proxy.cut()
        cluster.until(lambda: "node n1 is silent" in cluster.log("droverd"), "the controller misses it", 40)
        proxy.mend()
        self.all_ran_once(cluster, jobs)

    def test_a_half_open_connection_is_noticed(self):
        cluster, proxy = self.cluster()
        jobs = self.jobs(cluster, 2)
        cluster.until(lambda: cluster.output("marks").count("\n") == 2, "they run")
        proxy.freeze()
        cluster.until(lambda: cluster.log("droverd").count("node n1 is up") == 2, "a new session", 90)
        self.all_ran_once(cluster, jobs)

    def test_a_second_connection_replaces_the_first(self):
        cluster, proxy = self.cluster()
        jobs = self.jobs(cluster)
        for _ in range(3):
            time.sleep(0.7)
            proxy.orphan()
        self.all_ran_once(cluster, jobs)


@with_machines
class Asking(unittest.TestCase):
    """Users' commands on machines that don't see the controller's socket."""
    def as_nobody(self, cluster, name, *words):
        folder = cluster.on(name, "sh", "-c", f"echo /run/drover/*-{name}").stdout.strip()
        return cluster.on(name, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                          "env", f"DROVER_AGENT={folder}", *words, check=False)

    def test_a_job_asks_and_submits_in_its_own_name(self):
        with NetCluster(["n1", "n2"]) as cluster:
            script = ("squeue -h -o '%A %u'; sbatch -w n2 --mem=50M -o inner --wrap 'id -u; hostname' || echo refused; "
                      f"scancel $OTHER; test -e {cluster.state}/droverd.sock || echo hidden")
            other = cluster.wrap("sleep 30", "-w", "n2", "--mem=50M")
            job = cluster.wrap(script, "-w", "n1", "--mem=50M", "-o", "out", user=NOBODY, env={"OTHER": other})
            self.assertEqual(cluster.ended(job) and cluster.output("out").count("hidden"), 1, cluster.output("out"))
            said = cluster.output("out")
            self.assertIn(f"{job} nobody\n", said)
            self.assertRegex(said, r"Submitted batch job \d+")
            inner = re.search(r"Submitted batch job (\d+)", said).group(1)
            self.assertEqual(cluster.result(inner), "COMPLETED|0:0")
            self.assertEqual(cluster.output("inner"), f"{NOBODY}\nn2\n")
            self.assertEqual(cluster.queue(other), "RUNNING", "somebody else's job was cancelled")

    def test_only_who_has_a_job_there_is_believed(self):
        with NetCluster(["n1", "n2"], submit=["n2"]) as cluster:
            stranger = self.as_nobody(cluster, "n1", "squeue", "-h")
            self.assertNotEqual(stranger.returncode, 0)
            self.assertIn("has no job on node n1", stranger.stderr)
            self.assertEqual(self.as_nobody(cluster, "n2", "squeue", "-h").returncode, 0)
            folder = cluster.on("n2", "sh", "-c", "echo /run/drover/*-n2").stdout.strip()
            root = cluster.on("n2", "env", f"DROVER_AGENT={folder}", "squeue", "-h", check=False)
            self.assertIn("root of a node is nobody", root.stderr)

    def test_a_command_waits_for_a_controller_that_is_started_again(self):
        with NetCluster(["n1"], submit=["n1"]) as cluster:
            cluster.kill("droverd")
            began = time.monotonic()
            cluster.start_controller(wait=False)
            done = self.as_nobody(cluster, "n1", "sbatch", "--mem=50M", "--wrap", "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLess(time.monotonic() - began, 60)
