#!/bin/bash
# A parameter sweep: twenty tasks, at most four at a time.
#SBATCH --job-name=sweep
#SBATCH --array=1-20%4
#SBATCH --cpus-per-task=1
#SBATCH --mem=256M
#SBATCH --time=5
#SBATCH --output=%x-%A_%a.out

rate=$(awk "BEGIN { print $SLURM_ARRAY_TASK_ID / 1000 }")
echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT tries learning rate $rate"
sleep "${1:-1}"
