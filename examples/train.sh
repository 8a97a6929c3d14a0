#!/bin/bash
# High-memory training: two GPUs of one node, each of at least 40 GB, of a recent architecture.
#SBATCH --job-name=train
#SBATCH --nodes=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=8G
#SBATCH --gres=gpu:2
#SBATCH --extra='gpu_memory>=40GB && compute_capability>=8.0'
#SBATCH --time=10
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.out

echo "on $SLURMD_NODENAME with GPUs $SLURM_JOB_GPUS (seen as $CUDA_VISIBLE_DEVICES)"
exec python3 train.py --checkpoint "checkpoint-$SLURM_JOB_ID.json" "$@"
