#!/bin/bash
# Data-parallel training: four ranks on two nodes, which average their gradients over the network.
# When a rank dies, srun ends the others (-K) and the job goes back into the queue; the next run
# goes on from the checkpoint. Nothing here is particular to one scheduler's make.
#SBATCH --job-name=parallel
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=10
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
export MASTER_ADDR MASTER_PORT

srun -K1 python3 parallel.py --checkpoint "parallel-$SLURM_JOB_ID.json" "$@"
code=$?
if [ $code -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
  echo "a rank failed (srun: $code): back into the queue"
  scontrol requeue "$SLURM_JOB_ID"
  sleep 60  # until the end comes
fi
exit $code
