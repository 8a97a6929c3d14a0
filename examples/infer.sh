#!/bin/bash
# A small model: one T4 is enough.
#SBATCH --job-name=infer
#SBATCH --gres=gpu:t4:1
#SBATCH --cpus-per-task=1
#SBATCH --mem=1G
#SBATCH --time=5
#SBATCH --output=%x-%j.out

echo "on $SLURMD_NODENAME with GPU $SLURM_JOB_GPUS (seen as $CUDA_VISIBLE_DEVICES)"
sleep "${1:-2}"
