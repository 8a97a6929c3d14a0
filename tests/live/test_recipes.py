"""How people start distributed programs from a batch script: the recipes, with stub programs."""
import os
import shutil
import textwrap
import unittest

from cluster import Cluster

TWO = """\
cluster: test
nodes:
  - {name: n1, cpus: 4, memory: 4G, gpus: {model: a100, count: 2, memory: 80GB}}
  - {name: n2, cpus: 4, memory: 4G, gpus: {model: a100, count: 2, memory: 80GB}}
settings: {kill_grace: 2s, requeue_delay: 1s}
"""

# Prints who it is and how it was called, as the real launcher's workers would find it.
STUB = """\
#!/bin/sh
echo "${0##*/} rank=$SLURM_PROCID node=$SLURMD_NODENAME gpus=$CUDA_VISIBLE_DEVICES args=$*"
"""


class Recipes(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(TWO)
        self.cluster.start()
        self.addCleanup(self.cluster.close)
        self.bin = self.cluster.work / "stubs"
        self.bin.mkdir()

    def stub(self, name, text=STUB):
        path = self.bin / name
        path.write_text(text)
        os.chmod(path, 0o755)

    def play(self, text, *words, patience=60):
        script = self.cluster.work / "recipe.sh"
        script.write_text(textwrap.dedent(text))
        path = {"PATH": f"{self.bin}:{self.cluster.environment['PATH']}"}
        job = self.cluster.sbatch("-o", "out", *words, "recipe.sh", env=path)
        result = self.cluster.result(job, patience)
        self.assertEqual(result, "COMPLETED|0:0", self.cluster.output("out"))
        return self.cluster.output("out").splitlines()

    def test_accelerate(self):
        self.stub("accelerate")
        lines = self.play("""\
            #!/bin/bash
            #SBATCH --nodes=2 --ntasks-per-node=1 --gres=gpu:2 --cpus-per-task=2 --mem=100M
            export GPUS_PER_NODE=2
            head_node_ip=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
            export LAUNCHER="accelerate launch --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) \\
                --num_machines $SLURM_NNODES --main_process_ip $head_node_ip --main_process_port 29500"
            srun --jobid $SLURM_JOBID bash -c "$LAUNCHER --machine_rank \\$SLURM_PROCID train.py"
            """)
        self.assertEqual(sorted(lines), [
            f"accelerate rank={rank} node=n{rank + 1} gpus=0,1 args=launch --num_processes 4 --num_machines 2 "
            f"--main_process_ip n1 --main_process_port 29500 --machine_rank {rank} train.py" for rank in (0, 1)])

    def test_torchrun(self):
        self.stub("torchrun")
        lines = self.play("""\
            #!/bin/bash
            #SBATCH --nodes=2
            #SBATCH --ntasks-per-node=1
            #SBATCH --gpus-per-task=2
            #SBATCH --cpus-per-task=2
            #SBATCH --mem=100M
            nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
            head_node=${nodes[0]}
            head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)
            srun torchrun --nnodes $SLURM_NNODES --nproc_per_node $SLURM_GPUS_ON_NODE --rdzv_id $SLURM_JOB_ID \\
                --rdzv_backend c10d --rdzv_endpoint $head_node_ip:29500 train.py
            """)
        self.assertEqual(len(lines), 2, lines)
        for line in lines:
            self.assertRegex(line, r"gpus=0,1 args=--nnodes 2 --nproc_per_node 2 --rdzv_id \d+ --rdzv_backend c10d "
                                   r"--rdzv_endpoint 127\.0\.0\.1:29500 train.py$")
        self.assertEqual({line.split()[2] for line in lines}, {"node=n1", "node=n2"})

    def test_ray_in_background_steps(self):
        self.stub("ray", STUB + 'case "$*" in *--block*) while [ ! -e done ]; do sleep 0.1; done;; esac\n')
        lines = self.play("""\
            #!/bin/bash
            #SBATCH --nodes=2
            #SBATCH --ntasks-per-node=1
            #SBATCH --cpus-per-task=2
            #SBATCH --mem=100M
            nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
            nodes_array=($nodes)
            head_node=${nodes_array[0]}
            head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)
            srun --nodes=1 --ntasks=1 -w "$head_node" ray start --head --node-ip-address="$head_node_ip" --port=6379 \\
                --num-cpus "${SLURM_CPUS_PER_TASK}" --block &
            sleep 1
            worker_num=$((SLURM_JOB_NUM_NODES - 1))
            for ((i = 1; i <= worker_num; i++)); do
              srun --nodes=1 --ntasks=1 -w "${nodes_array[$i]}" ray start --address "$head_node_ip:6379" \\
                  --num-cpus "${SLURM_CPUS_PER_TASK}" --block &
            done
            sleep 1
            srun --overlap -N1 -n1 -w "$head_node" ray status
            touch done
            wait
            """)
        self.assertEqual(sorted(line.split(" ", 1)[1] for line in lines), [
            "rank=0 node=n1 gpus= args=start --head --node-ip-address=127.0.0.1 --port=6379 --num-cpus 2 --block",
            "rank=0 node=n1 gpus= args=status",
            "rank=0 node=n2 gpus= args=start --address 127.0.0.1:6379 --num-cpus 2 --block"])

    def test_lightning_requeues_at_its_signal(self):
        self.stub("python3-lightning", """\
            #!/bin/bash
            # What Lightning's SLURMEnvironment reads, and what its signal handler does.
            echo "$SLURM_PROCID/$SLURM_NTASKS local=$SLURM_LOCALID node=$SLURM_NODEID name=$SLURM_JOB_NAME" \\
                 "list=$SLURM_NODELIST per_node=$SLURM_NTASKS_PER_NODE restart=${SLURM_RESTART_COUNT:-0}"
            [ -n "$SLURM_RESTART_COUNT" ] && exit 0
            trap '[ $SLURM_PROCID = 0 ] && scontrol requeue $SLURM_JOB_ID; exit 0' USR1
            sleep 90 & wait
            """.replace("            ", ""))
        script = self.cluster.work / "lightning.sh"
        script.write_text(textwrap.dedent("""\
            #!/bin/bash
            #SBATCH --nodes=2
            #SBATCH --ntasks-per-node=2
            #SBATCH --mem=100M
            #SBATCH --job-name=fit
            #SBATCH --open-mode=append
            #SBATCH --time=1
            #SBATCH --signal=SIGUSR1@55
            srun python3-lightning
            """))
        path = {"PATH": f"{self.bin}:{self.cluster.environment['PATH']}"}
        job = self.cluster.sbatch("-o", "out", "lightning.sh", env=path)
        self.cluster.until(lambda: "restart=1" in self.cluster.output("out"), "it runs again", 40)
        self.assertEqual(self.cluster.result(job), "COMPLETED|0:0", self.cluster.output("out"))
        lines = self.cluster.output("out").splitlines()
        for restart in (0, 1):
            mine = sorted(line for line in lines if line.endswith(f"restart={restart}"))
            self.assertEqual(mine, [f"{r}/4 local={r % 2} node={r // 2} name=fit list=n[1-2] per_node=2 "
                                    f"restart={restart}" for r in range(4)])

    @unittest.skipUnless(shutil.which("mpirun"), "needs Debian's openmpi-bin")
    def test_mpirun_of_openmpi(self):
        lines = self.play("""\
            #!/bin/bash
            #SBATCH --nodes=2
            #SBATCH --ntasks-per-node=2
            #SBATCH --cpus-per-task=1
            #SBATCH --mem=200M
            export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
            mpirun sh -c 'echo $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $SLURMD_NODENAME'
            """, patience=90)
        self.assertEqual(sorted(line for line in lines if " of " in line),
                         ["0 of 4 on n1", "1 of 4 on n1", "2 of 4 on n2", "3 of 4 on n2"])


if __name__ == "__main__":
    unittest.main()
