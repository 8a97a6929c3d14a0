#!/bin/bash
# Takes more memory than it asked for.
#SBATCH --job-name=oom
#SBATCH --cpus-per-task=1
#SBATCH --mem=64M
#SBATCH --time=5
#SBATCH --output=%x-%j.out

exec python3 -c 'hoard = []
for _ in range(64): hoard.append(b"x" * (16 << 20))'
