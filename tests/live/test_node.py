"""What a job meets on its node: its own devices, its own limits, and nothing left behind."""
import os
import subprocess
import time
import unittest
from pathlib import Path

from cluster import Cluster, alive, as_root

NOBODY = 65534


def everywhere(text):
    """Processes of the machine whose command line holds `text`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (entry / "cmdline").read_bytes() and alive(entry.name):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@as_root
class Devices(unittest.TestCase):
    def setUp(self):
        self.files = [f"/dev/drover-test-{os.getpid()}-{i}" for i in (0, 1)]
        for file, minor in zip(self.files, (229, 237)):
            os.mknod(file, 0o666 | 0o020000, os.makedev(10, minor))
            os.chmod(file, 0o666)
            self.addCleanup(os.unlink, file)
        self.yaml = ("cluster: test\nnodes:\n  - {name: n1, cpus: 8, memory: 4G, "
                     f"gpus: {{model: x, memory: 1GB, files: [{self.files[0]}, {self.files[1]}]}}}}\n")

    # Prints, for each of the two files, whether the kernel lets us open it. EPERM is the device
    # cgroup's word; a driver that isn't there is another one, and means that we got through.
    PROBE = ("import os,sys\n"
             "for f in sys.argv[1:]:\n"
             "    try: os.close(os.open(f, os.O_RDWR)); print('yes')\n"
             "    except (PermissionError, FileNotFoundError): print('no')\n"
             "    except OSError as e: print('yes')\n")

    def test_each_job_opens_its_own_device_alone(self):
        probe = f"unset CUDA_VISIBLE_DEVICES; python3 -c \"{self.PROBE}\" {' '.join(self.files)}; sleep 3"
        with Cluster(self.yaml) as cluster:
            jobs = [cluster.wrap(probe, "--gres=gpu:1", "-c1", "--mem=100M", "-o", f"o{i}") for i in (0, 1)]
            none = cluster.wrap(probe, "-c1", "--mem=100M", "-o", "o2")
            for job in [*jobs, none]:
                self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            seen = [cluster.output(f"o{i}").split() for i in range(3)]
            self.assertEqual(sorted(seen[:2]), [["no", "yes"], ["yes", "no"]])
            self.assertEqual(seen[2], ["no", "no"])

    def test_a_node_of_ones_own_for_the_others_device_does_not_help(self):
        with Cluster(self.yaml) as cluster:
            made = [str(cluster.work / f"made{minor}") for minor in (229, 237)]
            for file, minor in zip(made, (229, 237)):  # as somebody outside might make them for the job
                os.mknod(file, 0o666 | 0o020000, os.makedev(10, minor))
                os.chmod(file, 0o666)
            own = "".join(f"mknod own{minor} c 10 {minor} && echo made; " for minor in (229, 237))
            job = cluster.wrap(f"{own}python3 -c \"{self.PROBE}\" {' '.join(made)}", "--gres=gpu:1", "-c1",
                               "--mem=100M", "-o", "o")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            words = cluster.output("o").split()
            self.assertNotIn("made", words, "a job can make device nodes")
            self.assertEqual(sorted(w for w in words if w in ("yes", "no")), ["no", "yes"])

    def test_jobs_see_their_devices_numbered_from_zero(self):
        with Cluster() as cluster:
            show = "echo $CUDA_VISIBLE_DEVICES/$SLURM_JOB_GPUS/$SLURM_GPUS_ON_NODE; sleep 2"
            one = cluster.wrap(show, "--gres=gpu:a100:1", "-c1", "--mem=100M", "-o", "one")
            two = cluster.wrap(show, "--gres=gpu:a100:1", "-c1", "--mem=100M", "-o", "two")
            none = cluster.wrap("echo [$CUDA_VISIBLE_DEVICES]", "-c1", "--mem=100M", "-w", "n1", "-o", "none")
            for job in (one, two, none):
                cluster.ended(job)
            self.assertEqual(sorted([cluster.output("one"), cluster.output("two")]), ["0/0/1\n", "0/1/1\n"])
            self.assertIn(cluster.output("none").strip(), ("[]", "[NoDevFiles]"))


@as_root
class Confinement(unittest.TestCase):
    def test_the_users_job_runs_as_the_user_with_nothing_more(self):
        script = ("id -u; id -g; grep -E 'CapEff|NoNewPrivs' /proc/self/status; nproc; "
                  "cat /sys/fs/cgroup/memory/$(sed -n 's/.*:memory:\\///p' /proc/self/cgroup)/memory.limit_in_bytes "
                  "2>/dev/null || cat /sys/fs/cgroup/$(sed -n 's/^0:://p' /proc/self/cgroup)/memory.max")
        with Cluster() as cluster:
            job = cluster.wrap(script, "-c1", "--mem=64", "-o", "o", user=NOBODY)
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            words = cluster.output("o").split()
            self.assertEqual(words, ["65534", "65534", "CapEff:", "0" * 16, "NoNewPrivs:", "1", "1", "67108864"])
            self.assertEqual(cluster.sacct(job, "UID"), ["65534"])
            self.assertEqual(os.stat(cluster.work / "o").st_uid, NOBODY)

    def test_others_may_not_touch_a_users_job(self):
        with Cluster() as cluster:
            job = cluster.wrap("sleep 60")
            cluster.running(job)
            refused = cluster.run("scancel", job, user=NOBODY, check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("denied", refused.stderr.lower())
            self.assertEqual(cluster.queue(job), "RUNNING")
            cluster.run("scancel", job)
            self.assertEqual(cluster.ended(job), ["CANCELLED"])

    def test_too_much_memory_is_told_apart(self):
        with Cluster() as cluster:
            job = cluster.wrap("python3 -c 'x=[b\"x\"*(8<<20) for _ in range(64)]'", "--mem=64", "-c1")
            self.assertEqual(cluster.result(job), "OUT_OF_MEMORY|0:125")

    def test_a_fork_bomb_stays_inside(self):
        with Cluster() as cluster:
            bomb = cluster.wrap("f() { f | f & }; f; sleep 2", "-c1", "--mem=128M", "-t", "1", user=NOBODY)
            other = cluster.wrap("echo fine", "-w", "n1", "-c1", "--mem=64M")
            self.assertEqual(cluster.result(other), "COMPLETED|0:0")
            cluster.run("scancel", bomb)
            cluster.ended(bomb)
            cluster.until(lambda: cluster.idle_nodes() == 3, "the node is free again")


class Ends(unittest.TestCase):
    def test_a_daemon_of_the_job_does_not_survive_it(self):
        mark = f"31{os.getpid()}"
        with Cluster() as cluster:
            job = cluster.wrap(f"setsid sh -c 'trap \"\" TERM HUP INT; sleep {mark}; sleep {mark}' & sleep 0.5")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            cluster.until(lambda: not everywhere(f"sleep\0{mark}"), "no process is left", 10)
            left = [p for tree in ("/sys/fs/cgroup",) for p in Path(tree).rglob(f"*{cluster.state.parent.name}*")]
            self.assertEqual([p for p in left if f"job_{job}" in p.name or f"/{job}" in str(p)], [])

    def test_a_nodes_notes_are_on_no_disk_and_go_with_it(self):
        with Cluster() as cluster:
            folders = cluster.runtime_folders()
            places = [str(Path(folders[0]).parent), *folders]
            kinds = subprocess.run(["stat", "-f", "-c", "%T", *places], capture_output=True, text=True, check=True)
            if kinds.stdout.split()[0] != "tmpfs":
                self.skipTest("/run/drover is on a disk and held notes of other nodes")
            self.assertEqual(set(kinds.stdout.split()), {"tmpfs"})
            job = cluster.wrap("true")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
        self.assertEqual([f for f in folders if os.path.exists(f)], [])

    def test_a_cancelled_job_gets_term_then_kill(self):
        with Cluster() as cluster:
            polite = cluster.wrap("trap 'echo bye; exit 0' TERM; echo on; while :; do sleep 0.1; done", "-o", "polite")
            deaf = cluster.wrap("trap '' TERM; echo on; while :; do sleep 0.1; done", "-o", "deaf")
            for name in ("polite", "deaf"):
                cluster.until(lambda name=name: "on" in cluster.output(name), f"{name} is on")
            cluster.run("scancel", polite, deaf)
            for job in (polite, deaf):
                self.assertEqual(cluster.ended(job), ["CANCELLED"])
            self.assertIn("bye", cluster.output("polite"))
            self.assertRegex(cluster.sacct(polite, "State")[0], rf"^CANCELLED by {os.geteuid()}$")

    def test_the_exit_code_is_the_scripts(self):
        with Cluster() as cluster:
            jobs = {cluster.wrap(script): seen for script, seen in
                    (("exit 3", "FAILED|3:0"), ("kill -9 $$", "FAILED|0:9"), ("true", "COMPLETED|0:0"))}
            for job, seen in jobs.items():
                self.assertEqual(cluster.result(job), seen)
                state, code = seen.split("|")
                shown = cluster.show(job)
                self.assertEqual((shown["JobState"], shown["ExitCode"]), (state, code))
            self.assertIn("RaisedSignal:9(Killed)", [cluster.show(j)["Reason"] for j in jobs])

    def test_a_time_limit_ends_the_job(self):
        with Cluster() as cluster:
            began = time.monotonic()
            job = cluster.wrap("trap 'echo told' TERM; sleep 300 & wait; sleep 300", "-t", "1", "-o", "o")
            self.assertEqual(cluster.ended(job, 90), ["TIMEOUT"])
            self.assertTrue(58 < time.monotonic() - began < 80)
            self.assertIn("told", cluster.output("o"))
            self.assertEqual(cluster.sacct(job), ["TIMEOUT|0:0"])

    def test_signals_reach_whom_they_are_for(self):
        script = "trap 'echo shell' USR1; python3 -uc \"import signal,time\nsignal.signal(signal.SIGUSR1, " \
                 "lambda *_: print('child'))\nprint('on')\nfor _ in range(40): time.sleep(0.1)\" & wait; wait"
        with Cluster() as cluster:
            for words, seen in ((["--batch"], {"shell"}), (["--full"], {"shell", "child"})):
                name = "o" + words[0][2:]
                job = cluster.wrap(script, "-o", name)
                cluster.until(lambda name=name: "on" in cluster.output(name), "it is on")
                cluster.run("scancel", "--signal=USR1", *words, job)
                cluster.ended(job)
                self.assertEqual(set(cluster.output(name).split()) - {"on"}, seen, words)


class Nodes(unittest.TestCase):
    def test_drain_lets_the_job_go_on(self):
        with Cluster() as cluster:
            job = cluster.wrap("sleep 4", "-w", "n3")
            cluster.running(job)
            cluster.run("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=bad fan")

            def state():
                return cluster.run("sinfo", "-h", "-N", "-n", "n3", "-p", "main", "-o", "%t").stdout.strip()

            self.assertEqual(state(), "drng")
            waits = cluster.wrap("true", "-w", "n3")
            self.assertEqual(cluster.result(job), "COMPLETED|0:0")
            cluster.until(lambda: state() == "drain", "it is drained")
            self.assertEqual(cluster.queue(waits), "PENDING")
            self.assertIn("bad fan", cluster.run("sinfo", "-R").stdout)
            cluster.run("scontrol", "update", "NodeName=n3", "State=RESUME")
            self.assertEqual(cluster.result(waits), "COMPLETED|0:0")

    def test_a_node_without_contact_keeps_its_job(self):
        with Cluster() as cluster:
            job = cluster.wrap("sleep 16; exit 4", "-w", "n3")
            cluster.running(job)
            cluster.kill("n3")
            cluster.until(lambda: cluster.run("sinfo", "-h", "-N", "-n", "n3", "-p", "main", "-o", "%t").stdout.strip()
                          == "down*", "n3 is lost", 40)
            self.assertEqual(cluster.queue(job), "RUNNING")
            cluster.start_agent("n3")
            self.assertEqual(cluster.result(job), "FAILED|4:0")
            self.assertEqual(cluster.show(job)["Restarts"], "0")


if __name__ == "__main__":
    unittest.main()
