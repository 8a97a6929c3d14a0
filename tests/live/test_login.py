"""People on machines that don't belong to the cluster: logins, and what must not let them in."""
import os
import re
import signal
import subprocess
import time
import unittest

from cluster import SLOW, Cluster, command_line
from netns import NetCluster, with_machines

NOBODY = 65534


class Desk:
    """A machine without an agent, with the home of a user on it."""
    def __init__(self, cluster, name="desk"):
        self.cluster = cluster
        self.machine = cluster.network.add(name, cluster.state, cluster.base / f"m-{name}")
        self.home = str(cluster.base / f"m-{name}/home")
        self.as_root("install", "-d", "-o", str(NOBODY), self.home)

    def as_root(self, *words):
        subprocess.run(self.machine.words(*words), check=True, timeout=30)

    def words(self, *words, user=NOBODY):
        return self.machine.words("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words)

    @property
    def environment(self):
        return {"HOME": self.home, "PATH": self.cluster.environment["PATH"], "TZ": "UTC"}

    def run(self, *words, user=NOBODY, check=False, **options):
        """A command of that user, who knows of the cluster only what his home says."""
        if "input" not in options:
            options["stdin"] = subprocess.DEVNULL
        done = subprocess.run(self.words(*words, user=user), capture_output=True, text=True, timeout=60 * SLOW,
                              env=self.environment, cwd="/tmp", check=False, **options)
        if check and done.returncode != 0:
            raise AssertionError(f"{words}: {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def login(self, *words, user=NOBODY, to=None, token=None):
        token = token or self.cluster.user_token(user=user)
        return self.run("drover", "login", "--to", to or self.cluster.through, "--token", token, *words, user=user)


class LoginCluster(NetCluster):
    def user_token(self, *words, user=NOBODY, **options):
        done = self.run("drover", "user", "token", *words, user=user, **options)
        found = re.search(r"--token (\S+)", done.stdout)
        return found.group(1) if found else done.stderr


@with_machines
class Desks(unittest.TestCase):
    def test_the_slurm_commands_work_from_a_machine_without_an_agent(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            before = desk.run("squeue", "-h")
            self.assertNotEqual(before.returncode, 0)
            self.assertIn("drover login", before.stderr)
            done = desk.login()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, r"^You are nobody \(uid 65534\) to the cluster at \S+ until 20\d\d-\S+Z\.\n$")
            mode = desk.run("stat", "-c", "%a %U", f"{desk.home}/.config/drover/login").stdout
            self.assertEqual(mode, "600 nobody\n")

            script = "#!/bin/sh\n#SBATCH --mem=50M\nid -u; echo $SLURM_JOB_USER; hostname; sleep 60\n"
            out = str(cluster.work / "far")
            made = desk.run("sbatch", "-D", str(cluster.work), "-o", out, input=script)
            job = re.match(r"Submitted batch job (\d+)\n$", made.stdout)
            self.assertTrue(job, made.stderr)
            job = job.group(1)
            cluster.until(lambda: cluster.output("far").count("\n") == 3, "it runs")
            self.assertEqual(cluster.output("far"), f"{NOBODY}\nnobody\nn1\n")
            self.assertEqual(desk.run("squeue", "-h", "--me", "-o", "%A %u %T").stdout, f"{job} nobody RUNNING\n")
            self.assertEqual(desk.run("sinfo", "-h", "-o", "%D").stdout, "1\n")
            self.assertIn(f"JobId={job} ", desk.run("scontrol", "show", "job", job).stdout)
            theirs = cluster.wrap("sleep 30", "--mem=50M", "-c1")
            self.assertIn("denied", desk.run("scancel", theirs).stderr.lower())
            self.assertEqual(desk.run("scancel", job).returncode, 0)
            cluster.ended(job)
            self.assertRegex(desk.run("sacct", "-nX", "-j", job, "-o", "user,state").stdout, "nobody +CANCELLED")
            self.assertEqual(desk.run("sinfo", "-V").returncode, 0)

            self.assertEqual(desk.run("drover", "logout").returncode, 0)
            self.assertIn("drover login", desk.run("squeue", "-h").stderr)

    def test_he_is_whom_his_certificate_names_and_not_who_he_is_there(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            token = cluster.user_token(user=NOBODY)
            other = 65533
            desk.as_root("install", "-d", "-o", str(other), f"{desk.home}/other")
            folder = f"{desk.home}/other/login"
            self.assertEqual(desk.login("--state", folder, token=token, user=other).returncode, 0)
            ask = lambda *words: desk.run("env", f"DROVER_STATE={folder}", *words, user=other)
            job = ask("sbatch", "--parsable", "--mem=50M", "-D", str(cluster.work), "-o", "who", "--wrap", "id -u")
            self.assertEqual(job.returncode, 0, job.stderr)
            self.assertEqual(cluster.result(job.stdout.strip()), "COMPLETED|0:0")
            self.assertEqual(cluster.output("who"), f"{NOBODY}\n")
            self.assertNotEqual(ask("sbatch", "--uid=0", "--wrap", "true").returncode, 0)
            # Somebody else on that machine has no use for the file.
            stolen = desk.run("env", f"DROVER_STATE={folder}", "squeue", "-h")
            self.assertNotEqual(stolen.returncode, 0)

    def test_a_command_waits_for_a_controller_that_is_started_again_and_names_one_that_is_gone(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            self.assertEqual(desk.login().returncode, 0)
            cluster.kill("droverd")
            began = time.monotonic()
            gone = desk.run("squeue", "-h")
            self.assertNotEqual(gone.returncode, 0)
            self.assertIn(cluster.through, gone.stderr)
            self.assertLess(time.monotonic() - began, 20 * SLOW)
            cluster.start_controller(wait=False)
            self.assertEqual(desk.run("squeue", "-h").returncode, 0)


COUNT = "i=0; while [ $i -lt 300 ]; do echo $i; i=$((i+1)); sleep 0.02; done; exit 7"
COUNTED = "".join(f"{i}\n" for i in range(300))


@with_machines
class StepsFromDesks(unittest.TestCase):
    """Steps whose client is on a machine without an agent."""
    @classmethod
    def setUpClass(cls):
        cls.cluster = LoginCluster(["n1", "n2"])
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.start()
        cls.desk = Desk(cls.cluster)
        cls.desk.login()

    def srun(self, *words, **options):
        return self.desk.run("srun", "--mem=50M", "-D", str(self.cluster.work), *words, **options)

    def spawn(self, *words):
        child = subprocess.Popen(self.desk.words("srun", "--mem=50M", "-D", str(self.cluster.work), *words),
                                 env=self.desk.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, cwd="/tmp")
        self.addCleanup(lambda: child.poll() is None and child.kill())
        return child

    def connections(self):
        found = []
        for pid in self.desk.machine.processes():
            line = command_line(pid)
            if line and line[0].endswith("/drover-connect"):
                found.append((pid, line[2]))
        return found

    def test_output_input_and_exit_codes(self):
        done = self.srun("-N2", "-n2", "-l", "sh", "-c", "id -u; hostname")
        self.assertEqual(sorted(done.stdout.splitlines()), [f"0: {NOBODY}", "0: n1", f"1: {NOBODY}", "1: n2"],
                         done.stderr)
        text = "".join(f"{i}\n" for i in range(100_000))
        done = self.srun("-w", "n2", "-n1", "sh", "-c", "cat; exit 3", input=text)
        self.assertEqual((done.returncode, done.stdout == text), (3, True), done.stderr)
        self.cluster.until(lambda: not self.connections(), "no connection is left behind", 10)

    def test_an_allocation(self):
        done = self.desk.run("salloc", "-N2", "--mem=50M", "-D", "/tmp", "srun", "-l", "hostname")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: n1", "1: n2"]), done.stderr)

    def test_a_killed_connection_is_taken_up_again(self):
        child = self.spawn("-w", "n2", "-n1", "sh", "-c", COUNT)
        for _ in range(3):
            self.cluster.until(lambda: any(what == "stream" for _, what in self.connections()), "it is connected")
            time.sleep(0.6)
            for pid, what in self.connections():
                if what == "stream":
                    os.kill(pid, signal.SIGKILL)
        out, err = child.communicate(timeout=60 * SLOW)
        self.assertEqual((child.returncode, out), (7, COUNTED), err)

    def test_a_killed_controller_is_missed_by_nobody(self):
        child = self.spawn("-w", "n2", "-n1", "sh", "-c", COUNT)
        self.cluster.until(lambda: any(what == "stream" for _, what in self.connections()), "it is connected")
        time.sleep(0.5)
        self.cluster.kill("droverd")
        self.cluster.start_controller()
        out, err = child.communicate(timeout=60 * SLOW)
        self.assertEqual((child.returncode, out), (7, COUNTED), err)


@with_machines
class NodesBesideTheController(unittest.TestCase):
    """A node that `drover up` runs: it never joined, and other machines reach its steps all the same."""
    def test_steps_go_both_ways(self):
        cluster = LoginCluster(["n1"])
        self.addCleanup(cluster.close)
        cluster.file.write_text(cluster.file.read_text().replace("  - {name: n1}", "  - {name: n1}\n  - {name: n2}"))
        cluster.start()
        Cluster.start_agent(cluster, "n2")
        cluster.until(lambda: cluster.idle_nodes() == 2, "both are up")
        script = "srun -l hostname; getent hosts n2"
        job = cluster.wrap(script, "-w", "n1,n2", "--mem=50M", "-o", "both", user=NOBODY)
        self.assertEqual(cluster.result(job), "COMPLETED|0:0", cluster.output("both"))
        lines = cluster.output("both").splitlines()
        self.assertEqual(sorted(lines[:2]), ["0: n1", "1: n2"])
        self.assertIn(cluster.network.address, lines[2])
        desk = Desk(cluster)
        desk.login()
        done = desk.run("srun", "-N2", "--mem=50M", "-D", "/tmp", "-l", "hostname")
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0: n1", "1: n2"]), done.stderr)
        self.assertRegex(cluster.run("drover", "node", "list").stdout, r"(?m)^n2 .* valid$")


@with_machines
class Strangers(unittest.TestCase):
    def one_line(self, done, *says):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        for word in says:
            self.assertIn(word, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_bad_tokens_are_refused_with_one_line(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            good = cluster.user_token()
            secret, print_ = good.split(".")
            self.one_line(desk.login(token="nonsense"), "--token", "not a token")
            self.one_line(desk.login(token=f"{'0' * 32}.{print_}"), "unknown, or was used already")
            self.one_line(desk.login(token=f"{secret}.{'0' * 64}"), "is not the one that the token is from")
            self.one_line(desk.login(token=cluster.token()), "is a node's")
            code, line = cluster.try_agent("n1", "--join", cluster.through, "--token", cluster.user_token())
            self.assertEqual(desk.login(token=good).returncode, 0)
            self.one_line(desk.login(token=good), "unknown, or was used already")
            stale = cluster.user_token("--ttl", "1s")
            time.sleep(1.5)
            self.one_line(desk.login(token=stale), "the token expired at")
            self.one_line(desk.login(to="10.213.0.1:1", token=good), "10.213.0.1:1")
            self.one_line(desk.login(to="nonsense", token=good), "--to")

    def test_only_root_makes_tokens_for_others(self):
        with LoginCluster(["n1"]) as cluster:
            self.assertIn("for yourself", cluster.user_token("root", check=False))
            self.assertIn("no user nowhere-man", cluster.user_token("nowhere-man", user=0, check=False))
            desk = Desk(cluster)
            for_nobody = cluster.user_token("nobody", user=0)
            self.assertIn("You are nobody", desk.login(token=for_nobody).stdout)
            listed = cluster.run("drover", "user", "list", user=NOBODY).stdout
            self.assertRegex(listed, r"(?m)^nobody .* valid$")
            self.assertNotIn("n1", cluster.run("drover", "user", "list").stdout)
            self.assertNotIn("nobody", cluster.run("drover", "node", "list").stdout)

    def test_a_revoked_person_is_out_at_once_and_may_come_back(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            desk.login()
            self.assertEqual(desk.run("squeue", "-h").returncode, 0)
            waiting = cluster.user_token()
            self.assertIn("administrators revoke", cluster.run("drover", "user", "revoke", "root", user=NOBODY,
                                                               check=False).stderr)
            cluster.run("drover", "user", "revoke", "nobody")
            self.one_line(desk.run("squeue", "-h"), "revoked")
            self.one_line(desk.login(token=waiting), "unknown, or was used already")
            self.assertEqual(desk.login().returncode, 0)
            self.assertEqual(desk.run("squeue", "-h").returncode, 0)

    def test_a_revoked_persons_streams_end_too(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            desk.login()
            child = subprocess.Popen(desk.words("srun", "--mem=50M", "-D", "/tmp", "sh", "-c", "echo begun; sleep 300"),
                                     env=desk.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, cwd="/tmp")
            self.addCleanup(lambda: child.poll() is None and child.kill())
            self.assertEqual(child.stdout.readline(), "begun\n")
            cluster.run("drover", "user", "revoke", "nobody")
            _, err = child.communicate(timeout=90 * SLOW)
            self.assertNotEqual(child.returncode, 0)
            self.assertIn("revoked", err)

    def test_a_login_of_another_cluster_is_no_good_here(self):
        with LoginCluster(["n1"]) as cluster:
            desk = Desk(cluster)
            desk.login()
            cluster.kill("droverd")
            state = cluster.state
            for name in os.listdir(state):
                if name in ("store", "identity"):
                    os.rename(state / name, cluster.base / f"old-{name}")
            cluster.start_controller()
            self.one_line(desk.run("squeue", "-h"), "not of this cluster")

    def test_an_expired_login_says_so_and_what_to_do(self):
        with LoginCluster(["n1"], words=["--user-certificate-life", "3s"]) as cluster:
            desk = Desk(cluster)
            self.assertEqual(desk.login().returncode, 0)
            time.sleep(4)
            self.one_line(desk.run("squeue", "-h"), "expired at", "drover user token")


if __name__ == "__main__":
    unittest.main()
