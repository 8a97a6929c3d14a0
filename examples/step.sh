#!/bin/bash
# One link of a chain: appends its argument to a file, and ends with the exit code it is told.
#SBATCH --job-name=step
#SBATCH --cpus-per-task=1
#SBATCH --mem=256M
#SBATCH --time=5
#SBATCH --output=%x-%j.out

sleep 0.5
echo "$1" >> chain.txt
exit "${2:-0}"
