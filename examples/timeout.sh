#!/bin/bash
# Runs longer than its time limit of one minute.
#SBATCH --job-name=timeout
#SBATCH --cpus-per-task=1
#SBATCH --mem=256M
#SBATCH --time=1
#SBATCH --output=%x-%j.out

echo "this will take too long"
sleep 600
