"""Steps over several machines: what srun sees and says when its tasks are on another one."""
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time
import unittest

from chaos import Chaos
from cluster import BIN, SLOW
from netns import NetCluster, with_machines

NOBODY = 65534


def field(number, payload):
    """One length-delimited field of protobuf."""
    return bytes([number << 3 | 2, len(payload)]) + payload


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


# Says one StepAttach (argument 2, hexadecimal) to the socket at argument 1, and prints what comes back.
KNOCK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect(sys.argv[1])
s.sendall(bytes.fromhex(sys.argv[2]))
answer = s.recv(65536)
print(answer[4:].decode(errors="replace"))
"""

# Each rank tells its number to rank 0, by the name that the job's list of nodes begins with.
RANKS = """
import os, socket, time
rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
at = (os.environ["MASTER_ADDR"], 29533)
if rank == 0:
    server = socket.create_server(("", at[1]), backlog=size)
    heard = [0]
    for _ in range(size - 1):
        connection, peer = server.accept()
        heard.append(int(connection.makefile().readline()))
        connection.sendall(b"go\\n")
    print("all", sorted(heard), socket.gethostname())
else:
    for _ in range(200):
        try:
            connection = socket.create_connection(at, timeout=10)
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
    connection.sendall(b"%d\\n" % rank)
    assert connection.makefile().readline() == "go\\n"
    print("rank", rank, socket.gethostname())
"""

# 300 numbered lines in some six seconds.
COUNT = "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); sleep 0.02; done; exit 7"
COUNTED = "".join(f"{i}\n" for i in range(300))


class OnMachines(unittest.TestCase):
    """Two machines, n1 for any user's commands."""
    @classmethod
    def setUpClass(cls):
        cls.cluster = NetCluster(["n1", "n2"], submit=["n1"])
        cls.addClassCleanup(cls.cluster.close)

    def words(self, name, *words):
        """As a user on that machine: its root is nobody to the controller."""
        folder = self.folder(name)
        return self.cluster.network.machines[name].words(
            "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", "--chdir",
            self.cluster.work, f"DROVER_AGENT={folder}", *words)

    def folder(self, name):
        return self.cluster.on(name, "sh", "-c", f"echo /run/drover/*-{name}").stdout.strip()

    def srun(self, *words, **options):
        return self.cluster.run(*self.words("n1", "srun", "--mem=50M", *words), check=False, **options)

    def spawn(self, *words, **options):
        child = subprocess.Popen(self.words("n1", *words), env=self.cluster.environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def finish(self, child, patience=60):
        out, err = child.communicate(timeout=patience * SLOW)
        return child.returncode, out, err

    def quiet(self):
        self.cluster.until(lambda: not self.cluster.run("squeue", "-h").stdout, "the queue is empty", 20)


@with_machines
class StepsOverMachines(OnMachines):
    """A step's input, output and signals between machines that share nothing but the network."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.start()

    def test_ranks_are_in_order_and_of_one_job(self):
        done = self.srun("-N2", "-n4", "-l", "sh", "-c",
                         "echo $(hostname) $SLURM_PROCID/$SLURM_NTASKS $SLURM_NODEID $SLURM_JOB_ID $SLURM_JOB_NODELIST")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in sorted(done.stdout.splitlines())]
        self.assertEqual([line[:4] for line in lines],
                         [["0:", "n1", "0/4", "0"], ["1:", "n1", "1/4", "0"], ["2:", "n2", "2/4", "1"],
                          ["3:", "n2", "3/4", "1"]])
        self.assertEqual({tuple(line[5:]) for line in lines}, {("n[1-2]",)})
        self.assertEqual(len({line[4] for line in lines}), 1)
        self.quiet()

    def test_inside_a_job(self):
        job = self.cluster.wrap("srun -l hostname; srun -N1 -r1 hostname", "-N2", "--mem=50M", "-o", "inside",
                                user=NOBODY)
        self.assertEqual(self.cluster.result(job), "COMPLETED|0:0", self.cluster.output("inside"))
        self.assertEqual(sorted(self.cluster.output("inside").split("\n")[:2]), ["0: n1", "1: n2"])
        self.assertEqual(self.cluster.output("inside").split("\n")[2], "n2")

    def test_input_reaches_the_other_machine_whole(self):
        text = "".join(f"{i}\n" for i in range(200_000))
        done = self.srun("-w", "n2", "-n1", "cat", stdin=text)
        self.assertEqual((done.returncode, done.stdout == text), (0, True), done.stderr)
        counted = self.srun("-N2", "-n2", "-l", "-i1", "wc", "-l", stdin="a\nb\n").stdout
        self.assertEqual(sorted(counted.splitlines()), ["0: 0", "1: 2"])

    def test_a_slow_reader_gets_all_of_a_large_output(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "head", "-c", "60000000", "/dev/zero")
        time.sleep(2)  # all buffers between are full, and the program waits
        code, out, err = self.finish(child)
        self.assertEqual((code, len(out)), (0, 60_000_000), err)

    def test_signals_and_exit_codes_come_through(self):
        self.assertEqual(self.srun("-w", "n2", "sh", "-c", "exit 7").returncode, 7)
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "sh", "-c",
                           "trap 'echo got it; exit 3' USR1; echo up; while :; do sleep 0.1; done")
        self.assertEqual(child.stdout.readline(), "up\n")
        child.send_signal(signal.SIGUSR1)
        code, out, err = self.finish(child)
        self.assertEqual((code, out), (3, "got it\n"), err)
        child = self.spawn("srun", "--mem=50M", "-N2", "sh", "-c", "echo up; exec sleep 100")
        self.assertEqual(child.stdout.readline() + child.stdout.readline(), "up\nup\n")
        child.send_signal(signal.SIGINT)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        code, out, err = self.finish(child, 20)
        self.assertIn("sending Ctrl-C to StepId=", err)
        self.assertNotEqual(code, 0)
        self.quiet()

    def test_scancel_of_the_step(self):
        child = self.spawn("srun", "--mem=50M", "-N2", "sh", "-c", "echo up; exec sleep 100")
        self.assertEqual(child.stdout.readline() + child.stdout.readline(), "up\nup\n")
        step = self.cluster.run("squeue", "-h", "-s", "-o", "%i").stdout.strip()
        self.cluster.run("scancel", step)
        code, _, err = self.finish(child, 20)
        self.assertIn("CANCELLED", err)
        self.assertNotEqual(code, 0)
        self.quiet()

    def attach(self, step, node, ticket="", address=""):
        job, number = step.split(".")
        view = (b"\x08" + varint(int(job)) + b"\x10\x01\x18" + varint(int(number)) + field(4, node.encode()) +
                (field(5, ticket.encode()) if ticket else b"") + b"\x30\x01" +
                (field(8, address.encode()) if address else b""))
        return (len(view).to_bytes(3, "little") + b"\0" + view).hex()

    def test_strangers_and_wrong_tickets_are_refused(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "sh", "-c", "echo up; exec sleep 100")
        self.assertEqual(child.stdout.readline(), "up\n")
        step = self.cluster.run("squeue", "-h", "-s", "-o", "%i").stdout.strip()
        address = f"{self.cluster.network.machines['n2'].address}:7412"
        knock = lambda name, uid, *wish: self.cluster.on(
            name, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "python3", "-c", KNOCK,
            f"{self.folder(name)}/stream", self.attach(step, *wish)).stdout
        # From the other machine nobody counts, not the step's user and not root: only the ticket.
        for uid in (NOBODY, 0, 1234):
            self.assertIn("only this step's ticket", knock("n1", uid, "n2", "0" * 32, address))
            self.assertIn("only the step's own srun", knock("n1", uid, "n2", "", address))
        # A way to somebody else, or to nobody, is no way.
        own = f"{self.cluster.network.machines['n1'].address}:7412"
        self.assertIn("the peer is node n1, not node n2", knock("n1", 1234, "n2", "0" * 32, own))
        self.assertIn("refused", knock("n1", 1234, "n2", "0" * 32, "127.0.0.1:9"))
        # On the step's own machine its user is known, others aren't.
        self.assertIn("another user's", knock("n2", 1234, "n2"))
        self.assertIn("another user's", knock("n2", 1234, "n2", "0" * 32))
        self.assertNotIn("user", knock("n2", NOBODY, "n2"))
        # The controller's word counts: its machine's kernel has named the caller.
        watch = lambda **who: subprocess.run(["timeout", "2", str(BIN / "sattach"), step], env=self.cluster.environment,
                                             capture_output=True, text=True, check=False, **who)
        self.assertIn("another user's", watch(user=1234).stderr)
        self.assertEqual(watch(user=NOBODY).stderr, "")
        child.send_signal(signal.SIGTERM)
        self.finish(child)
        self.quiet()

    def test_agents_die_and_not_a_line_is_lost_or_doubled(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c", COUNT)
        for name in ("n1", "n2", "n1"):
            time.sleep(1.2)
            self.cluster.kill(name)
            time.sleep(0.3)
            self.cluster.start_agent(name)
        code, out, err = self.finish(child)
        self.assertEqual((code, out), (7, COUNTED), err)

    def test_a_flood_survives_its_agents(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c",
                           "seq 1 4000000; sleep 0.5; seq 1 1000000")
        time.sleep(0.4)
        for name in ("n2", "n1"):
            self.cluster.kill(name)
            self.cluster.start_agent(name)
        code, out, err = self.finish(child)
        expected = "".join(f"{i}\n" for n in (4_000_000, 1_000_000) for i in range(1, n + 1))
        self.assertEqual((code, len(out), out == expected), (0, len(expected), True), err)

    def test_the_network_is_gone_for_a_while(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c", COUNT)
        time.sleep(1)
        self.cluster.network.machines["n2"].plug(False)
        time.sleep(4)
        self.cluster.network.machines["n2"].plug(True)
        code, out, err = self.finish(child)
        self.assertEqual((code, out), (7, COUNTED), err)

    def test_from_the_controllers_own_machine(self):
        done = self.cluster.run("srun", "-N2", "--mem=50M", "-l", "hostname", check=False)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: n1", "1: n2"]), done.stderr)
        child = subprocess.Popen([str(BIN / "srun"), "--mem=50M", "-w", "n2", "sh", "-c", COUNT], text=True,
                                 env=self.cluster.environment, cwd=self.cluster.work, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        time.sleep(1)
        self.cluster.kill("droverd")
        time.sleep(0.5)
        self.cluster.start_controller()
        code, out, err = self.finish(child)
        self.assertEqual((code, out), (7, COUNTED), err)

    def test_a_terminal_on_the_other_machine(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvpe("nsenter", self.words("n1", "srun", "--mem=50M", "-w", "n2", "--pty", "bash", "--norc", "-i"),
                       self.cluster.environment)
        seen = ""

        def wait_for(pattern):
            nonlocal seen
            end = time.monotonic() + 20 * SLOW
            while not re.search(pattern, seen):
                self.assertLess(time.monotonic(), end, seen)
                if select.select([terminal], [], [], 0.2)[0]:
                    seen += os.read(terminal, 4096).decode(errors="replace")

        wait_for(r"[$#] $")
        os.write(terminal, b"tty; echo at=$(hostname) rank=$SLURM_PROCID; exit 3\n")
        wait_for(r"/dev/pts/\d+")
        wait_for(r"at=n2 rank=0")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)
        os.close(terminal)

    def test_ranks_find_one_another_as_torchrun_does(self):
        script = self.cluster.work / "ranks.py"
        script.write_text(RANKS)
        job = self.cluster.wrap("export MASTER_ADDR=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1); "
                                f"srun -n4 python3 {script}", "-N2", "-n4", "--mem=100M", "-o", "ranks", user=NOBODY)
        self.assertEqual(self.cluster.result(job), "COMPLETED|0:0", self.cluster.output("ranks"))
        self.assertEqual(sorted(self.cluster.output("ranks").splitlines()),
                         ["all [0, 1, 2, 3] n1", "rank 1 n1", "rank 2 n2", "rank 3 n2"])


@with_machines
class StreamsOverABadNetwork(OnMachines):
    """With a proxy between the agents: the others are told that n2 is where the proxy is."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        at = cls.cluster.network.address
        cls.proxy = Chaos((at, 7412), (cls.cluster.network.machines["n2"].address, 7412))
        cls.addClassCleanup(cls.proxy.close)
        cls.cluster.agent_words_of["n2"] = ["--address", at]
        cls.cluster.start()

    def tearDown(self):
        self.proxy.delay = 0.0

    def test_cuts_in_the_middle_of_a_line(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "sh", "-c", COUNT)
        for pause in (0.8, 0.3, 1.5, 0.3):
            time.sleep(pause)
            self.proxy.cut()
            time.sleep(0.3)
            self.proxy.mend()
        code, out, err = self.finish(child)
        self.assertEqual((code, out), (7, COUNTED), err)

    def test_input_survives_cuts(self):
        child = self.spawn("srun", "--mem=50M", "-w", "n2", "-n1", "cat", stdin=subprocess.PIPE)
        text = "".join(f"{i}\n" for i in range(1_000_000))
        threading.Timer(0.6, lambda: (self.proxy.cut(), time.sleep(0.3), self.proxy.mend())).start()
        out, err = child.communicate(text, timeout=60 * SLOW)
        self.assertEqual((child.returncode, out == text), (0, True), err)

    def test_a_network_that_takes_its_time(self):
        self.proxy.delay = 0.1
        done = self.srun("-N2", "-n2", "-l", "hostname")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: n1", "1: n2"]), done.stderr)


@with_machines
class OnTheControllersMachineToo(OnMachines):
    """A node on the controller's own machine, which has joined by token like the others."""
    def test_steps_go_both_ways(self):
        cluster = self.cluster
        cluster.start()
        cluster.start_here("n3")
        cluster.until(lambda: cluster.idle_nodes() == 3, "the third is up")
        job = cluster.wrap("srun -l hostname; getent hosts n3", "-w", "n2,n3", "--mem=50M", "-o", "both", user=NOBODY)
        self.assertEqual(cluster.result(job), "COMPLETED|0:0", cluster.output("both"))
        lines = cluster.output("both").splitlines()
        self.assertEqual(sorted(lines[:2]), ["0: n2", "1: n3"])
        self.assertIn(cluster.network.address, lines[2])
        done = cluster.run("srun", "-N3", "--mem=50M", "-l", "hostname", check=False)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: n1", "1: n2", "2: n3"]), done.stderr)
