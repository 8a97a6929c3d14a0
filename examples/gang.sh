#!/bin/bash
# A gang: one task on each of three nodes, which are to be whole. All start together, or none.
#SBATCH --job-name=gang
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=1G
#SBATCH --time=5
#SBATCH --output=%x-%j.out

echo "together on $SLURM_JOB_NODELIST ($SLURM_JOB_NUM_NODES nodes)"
sleep "${1:-2}"
